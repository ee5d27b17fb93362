"""Writing a file whole or not at all."""

from __future__ import annotations

import os


def write_atomically(path: str, data: bytes, mode: int) -> None:
    """Through a new file beside it, so that nobody reads half. Whatever lies in the new one's place, a link
    to elsewhere too, is taken away and never written through. The folder must be there."""
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
    """The permissions that a file has, or shall have."""
    return os.stat(path).st_mode & 0o777 if os.path.exists(path) else default
