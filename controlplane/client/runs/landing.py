"""Land changes in the repository: each file whole, only over the file that the change was made from.

Every folder on the way is opened without following links, so that nothing which the command or anybody else
put there leads outside. Landing again what has landed changes nothing, so a run that was cut off lands again.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
from collections import namedtuple

from controlplane.client.digest import sha256_hex
from controlplane.client.runs.changes import CHUNK, hash_descriptor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from controlplane.client.runs.changes import Change

OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
CUT_OFF = "it was cut off while it was copied"

# `landed` and `refused` of one landing; `refused` maps a path to the reason.
Landing = namedtuple("Landing", "landed refused")  # noqa: PYI024  importing typing takes 5 ms


class StaleFileError(Exception):
    """The file is not the one that the change was made from."""


@contextlib.contextmanager
def lock_folder(path: str) -> Iterator[None]:
    """Hold the lock file: landings of one repository wait for each other."""
    with open(path, "ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def land_changes(repository: str, changes: Sequence[Change]) -> Landing:
    """Land the changes, deletions last. A change that cannot land never keeps another from landing."""
    landed, denied = [], {}
    root = os.open(repository, OPEN_FOLDER)
    try:
        for change in sorted(changes, key=landing_order):
            try:
                _land(root, change)
            except StaleFileError:
                denied[change.path] = "STALE_FILE: it was changed in the meantime"
            except OSError as error:
                denied[change.path] = f"{error.strerror or error}"
            else:
                landed.append(change.path)
    finally:
        os.close(root)
    return Landing(landed, denied)


def landing_order(change: Change) -> tuple[int, str]:
    """Sort git's objects before the refs that name them, and its index last; deletions after all files."""
    if change.path.startswith(".git/"):
        ranks = {"objects": 0, "refs": 1, "logs": 1, "packed-refs": 1, "HEAD": 2, "index": 4}
        return ranks.get(change.path.split("/")[1], 3), change.path
    return (5 if change.kind == "deleted" else 0), change.path


def _land(root: int, change: Change) -> None:
    *folders, name = change.path.split("/")
    parent = _open_parent(root, folders, create=change.kind != "deleted")
    try:
        current = _read_state(parent, name)
        expected = (change.after, change.mode if change.kind != "link" else 0)
        if current == expected or (change.kind == "deleted" and current == (None, 0)):
            return
        if current[0] != change.before:
            raise StaleFileError(change.path)
        if change.kind == "deleted":
            os.unlink(name, dir_fd=parent)
            _remove_empty_folders(root, folders)
        else:
            _replace(parent, name, change)
    finally:
        os.close(parent)


def _open_parent(root: int, folders: Sequence[str], *, create: bool) -> int:
    """Return a descriptor of the folder. Raise StaleFileError where a deletion has no folder any more."""
    current = os.dup(root)
    for directory in folders:
        if directory in {"", ".", ".."}:
            os.close(current)
            raise OSError(errno.EINVAL, "not a path of the repository")
        try:
            if create:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(directory, dir_fd=current)
            deeper = os.open(directory, OPEN_FOLDER, dir_fd=current)
        finally:
            os.close(current)
        current = deeper
    return current


def _read_state(parent: int, name: str) -> tuple[str | None, int]:
    """Return (hash, permissions) of the path now; (None, 0) where there is none."""
    try:
        status = os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return None, 0
    if stat.S_ISLNK(status.st_mode):
        return "sha256:" + sha256_hex(os.fsencode(os.readlink(name, dir_fd=parent))), 0
    if not stat.S_ISREG(status.st_mode):
        raise StaleFileError(name)
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    return hash_descriptor(descriptor), status.st_mode & 0o777


def _replace(parent: int, name: str, change: Change) -> None:
    """Write the new file next to the old one and rename it over."""
    if change.kind == "mode":
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
        try:
            os.fchmod(descriptor, change.mode)
        finally:
            os.close(descriptor)
        return
    # The same name again, so that a landing that was killed leaves nothing behind once it is taken up.
    draft = f".{name[:100]}.icp-{(change.after or '')[-16:]}"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(draft, dir_fd=parent)
    try:
        if change.kind == "link":
            os.symlink(change.target, draft, dir_fd=parent)
        else:
            _copy(change.source, parent, draft, change.mode)
        os.rename(draft, name, src_dir_fd=parent, dst_dir_fd=parent)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(draft, dir_fd=parent)
        raise


def _copy(source: str, parent: int, name: str, mode: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    reader = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        writer = os.open(name, flags, 0o600, dir_fd=parent)
        try:
            _copy_data(reader, writer)
            os.fchmod(writer, mode & 0o777)
            os.fsync(writer)
        finally:
            os.close(writer)
    finally:
        os.close(reader)


def _copy_data(reader: int, writer: int) -> None:
    """Copy what is between the holes of a file: a large one may be holes for the most part.

    Raise OSError for a file that becomes shorter meanwhile.
    """
    size, start = os.fstat(reader).st_size, 0
    os.ftruncate(writer, size)
    while start < size:
        try:
            start = os.lseek(reader, start, os.SEEK_DATA)
        except OSError:  # only a hole is left, or nothing at all
            break
        end = os.lseek(reader, start, os.SEEK_HOLE)
        os.lseek(writer, start, os.SEEK_SET)
        while start < end:
            sent = os.sendfile(writer, reader, start, min(CHUNK, end - start))
            if sent == 0:
                raise OSError(errno.EIO, CUT_OFF)
            start += sent
    if os.fstat(reader).st_size != size:
        raise OSError(errno.EIO, CUT_OFF)


def _remove_empty_folders(root: int, folders: Sequence[str]) -> None:
    """Remove the folders that a deletion left empty, as git does."""
    for depth in range(len(folders), 0, -1):
        try:
            parent = _open_parent(root, folders[: depth - 1], create=False)
        except OSError:
            return
        try:
            os.rmdir(folders[depth - 1], dir_fd=parent)
        except OSError:
            return
        finally:
            os.close(parent)
