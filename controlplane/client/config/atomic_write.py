"""Write files atomically."""

from __future__ import annotations

import os


def write_atomically(path: str, data: bytes, mode: int) -> None:
    """Write a temporary file next to `path` and rename it, so that nobody reads half of it.

    Anything at the temporary path is removed first: writing through a symlink there could change another
    file. The directory must exist.
    """
    temporary = f"{path}.icp-new"
    if os.path.lexists(temporary):
        os.remove(temporary)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.chmod(temporary, mode)
    os.replace(temporary, path)


def read_mode(path: str, default: int) -> int:
    """Return an existing file's permissions, else `default`."""
    return os.stat(path).st_mode & 0o777 if os.path.exists(path) else default
