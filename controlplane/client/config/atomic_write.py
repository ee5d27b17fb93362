"""Writing a file whole or not at all."""

from __future__ import annotations

import os


def write_whole(path: str, data: bytes, mode: int) -> None:
    """Through a new file beside it, so that nobody reads half. Whatever lies in the new one's place, a link
    to elsewhere too, is taken away and never written through. The folder must be there."""
    fresh = f"{path}.icp-new"
    if os.path.lexists(fresh):
        os.remove(fresh)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.chmod(fresh, mode)
    os.replace(fresh, path)


def mode_of(path: str, otherwise: int) -> int:
    """The permissions that a file has, or shall have."""
    return os.stat(path).st_mode & 0o777 if os.path.exists(path) else otherwise
