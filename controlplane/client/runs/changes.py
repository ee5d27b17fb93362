"""List what a contained command changed, from the upper layer of its overlay.

The upper layer holds hostile names, links and special files: everything is read with lstat and O_NOFOLLOW,
below a folder that nobody else may enter, after the last process of the command has ended.
"""

from __future__ import annotations

import os
import stat
from collections import namedtuple

from controlplane.client.digest import sha256_hex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

OPAQUE, ORIGIN, WHITEOUT = "user.overlay.opaque", "user.overlay.origin", "user.overlay.whiteout"
CHUNK = 1 << 20  # bytes
PERMISSIONS = 0o777  # a set-user-id bit never lands

# A change of one path, relative to the view. `kind`: created, modified, deleted, mode, link or special.
# `before` and `after` are "sha256:…", or None where there is no file; `target` is the text of a link.
# `source` is the file in the upper layer. `stale`: the file below was changed while the command ran.
Change = namedtuple("Change", "path kind before after size mode target source stale")  # noqa: PYI024


def list_changes(lower: str, upper: str, since_ns: int) -> list[Change]:
    """Return all changes between the two folders. `since_ns` is the ctime of a file made before."""
    return sorted(_walk(lower, upper, "", since_ns, lower_exists=True))


def _walk(lower: str, upper: str, directory: str, since_ns: int, *, lower_exists: bool) -> Iterator[Change]:
    names = set()
    with os.scandir(os.path.join(upper, directory)) as entries:
        for entry in list(entries):
            names.add(entry.name)
            path = os.path.join(directory, entry.name)
            status = entry.stat(follow_symlinks=False)
            if is_whiteout(entry.path, status):
                yield from _deletions(lower, path, since_ns)
            elif stat.S_ISDIR(status.st_mode):
                below = lower_exists and _is_folder(os.path.join(lower, path))
                if lower_exists and not below:
                    yield from _deletions(lower, path, since_ns)  # a file or link became a folder
                yield from _walk(lower, upper, path, since_ns, lower_exists=below)
            else:
                change = _compare(lower, path, entry.path, status, since_ns)
                if change is not None:
                    yield change
                if _is_folder(os.path.join(lower, path)):
                    yield from _deletions(lower, path, since_ns)  # a folder became a file
    if lower_exists and directory and _read_attribute(os.path.join(upper, directory), OPAQUE) == b"y":
        # The folder was removed and made again: what lies below and was not made again is gone.
        for name in sorted(set(os.listdir(os.path.join(lower, directory))) - names):
            yield from _deletions(lower, os.path.join(directory, name), since_ns)


def is_whiteout(path: str, status: os.stat_result) -> bool:
    """Tell the mark of a deletion: a character device 0/0, or an empty file with an attribute."""
    if stat.S_ISCHR(status.st_mode):
        return status.st_rdev == 0
    is_empty_file = stat.S_ISREG(status.st_mode) and status.st_size == 0
    return is_empty_file and _read_attribute(path, WHITEOUT) is not None


def _deletions(lower: str, path: str, since_ns: int) -> Iterator[Change]:
    """Yield the deletion of a path, or of each file of a folder."""
    below = os.path.join(lower, path)
    try:
        status = os.lstat(below)
    except OSError:
        return  # made and deleted by the command, or gone meanwhile: nothing to do either way
    if stat.S_ISDIR(status.st_mode):
        for name in sorted(os.listdir(below)):
            yield from _deletions(lower, os.path.join(path, name), since_ns)
    else:
        before = hash_path(below, status)
        yield Change(path, "deleted", before, None, 0, 0, None, None, status.st_ctime_ns > since_ns)


def _compare(lower: str, path: str, source: str, status: os.stat_result, since_ns: int) -> Change | None:
    """Return the change of a path that is not a folder in the upper layer; None for a mere copy."""
    below = os.path.join(lower, path)
    try:
        old: os.stat_result | None = os.lstat(below)
    except OSError:
        old = None
    if old is not None and stat.S_ISDIR(old.st_mode):
        old = None  # its files are listed as deletions
    before = hash_path(below, old) if old is not None else None
    # A file that was copied up has an origin: without a file below, somebody deleted it meanwhile.
    is_orphan = old is None and _read_attribute(source, ORIGIN) not in (None, b"")
    stale = is_orphan or (old is not None and old.st_ctime_ns > since_ns)
    size, mode, target = status.st_size, status.st_mode & PERMISSIONS, None
    if stat.S_ISLNK(status.st_mode):
        target, kind = os.readlink(source), "link"
        size, mode = 0, 0
    elif not stat.S_ISREG(status.st_mode):
        return Change(path, "special", before, None, 0, 0, None, None, stale)
    else:
        kind = "created" if old is None else "modified"
    after = hash_path(source, status)
    if old is not None and before == after and stat.S_IFMT(old.st_mode) == stat.S_IFMT(status.st_mode):
        if kind == "link" or old.st_mode & PERMISSIONS == mode:
            return None
        kind = "mode"
    return Change(path, kind, before, after, size, mode, target, source, stale)


def hash_path(path: str, status: os.stat_result) -> str | None:
    """Return the hash of a file's content or a link's text; None for a special file."""
    if stat.S_ISLNK(status.st_mode):
        return "sha256:" + sha256_hex(os.fsencode(os.readlink(path)))
    if not stat.S_ISREG(status.st_mode):
        return None
    return hash_descriptor(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC))


def hash_descriptor(descriptor: int) -> str:
    """Return the hash of an open file, and close it."""
    import hashlib

    digest = hashlib.sha256()
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return "sha256:" + digest.hexdigest()


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _read_attribute(path: str, name: str) -> bytes | None:
    try:
        return os.getxattr(path, name, follow_symlinks=False)
    except OSError:
        return None
