"""Read the `.intentignore` files in a workspace's local root, which count without a sync."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from controlplane.models import Workspace
from controlplane.policy.globs.intentignore import IgnoreRuleSet
from intents.errors import InvalidIntentignoreError, UnreadableIgnoreFileError
from intents.rules.intentignore import MAX_BYTES, decode_text
from traces.local_files import read_regular_file

LOCATIONS = (".intentignore", ".orchestration/.intentignore")
MAX_READINGS = 1_000

# Two writes within one tick of a file system's clock leave the same times, so a file that has just changed is
# read again on every call until its times are this old (FAT counts in steps of two seconds).
UNSETTLED_NS = 2_000_000_000

_Signature = tuple[int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class IgnoreFile:
    """One of the files. `error` says why it cannot be used; then the gate denies."""

    path: str
    text: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class _Reading:
    signatures: tuple[_Signature | None, ...]
    is_settled: bool
    files: tuple[IgnoreFile, ...]
    texts: tuple[str, ...]


_NOTHING = _Reading((), is_settled=True, files=(), texts=())
_readings: dict[str, _Reading] = {}  # by local root


def read_ignore_files(local_root: str) -> tuple[IgnoreFile, ...]:
    """Return the files that exist, from memory while their stat results are unchanged."""
    return _read(local_root).files


def list_ignore_texts(local_root: str) -> tuple[str, ...]:
    """Return the texts of the files that can be used. Two `stat` calls while nothing changes."""
    return _read(local_root).texts


def require_ignore_texts(local_root: str) -> tuple[str, ...]:
    """The same for the gate. Raise UnreadableIgnoreFileError: what such a file forbids is not known."""
    reading = _read(local_root)
    if len(reading.texts) != len(reading.files):
        broken = next(file for file in reading.files if file.error)
        raise UnreadableIgnoreFileError(broken.path, broken.error)
    return reading.texts


def find_excluded_intents(workspace: Workspace) -> frozenset[str]:
    """Return the ids that `intent:` lines keep from agents: of the stored text and of the files on disk."""
    texts = (workspace.intentignore, *list_ignore_texts(workspace.local_root))
    return IgnoreRuleSet.parse(texts).intents


def _read(local_root: str) -> _Reading:
    if not local_root:
        return _NOTHING
    # Stat before reading: a change in between leaves an older signature, and the next call reads again.
    signatures = tuple(_sign(f"{local_root}/{location}") for location in LOCATIONS)
    reading = _readings.get(local_root)
    if reading is not None and reading.is_settled and reading.signatures == signatures:
        return reading
    files = tuple(
        _read_file(local_root, location)
        for location, signature in zip(LOCATIONS, signatures, strict=True)
        if signature is not None
    )
    texts = tuple(file.text for file in files if not file.error)
    if len(_readings) >= MAX_READINGS:
        _readings.clear()
    _readings[local_root] = reading = _Reading(signatures, _is_settled(signatures), files, texts)
    return reading


def _sign(path: str) -> _Signature | None:
    """Return what changes when the file does; None where there is none. Zeros where that cannot be told."""
    try:
        status = os.stat(path)  # noqa: PTH116  the gate's path: half the time of Path.stat
    except (FileNotFoundError, NotADirectoryError):
        # A link to nothing forbids nothing, and git reads it so too.
        return None
    except OSError:
        return (0, 0, 0, 0, 0)
    return (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_dev)


def _is_settled(signatures: tuple[_Signature | None, ...]) -> bool:
    now = time.time_ns()
    return all(now - max(found[:2]) > UNSETTLED_NS and any(found) for found in signatures if found)


def _read_file(local_root: str, location: str) -> IgnoreFile:
    root, path = os.path.realpath(local_root), os.path.realpath(f"{local_root}/{location}")
    if not path.startswith(f"{root}/"):
        return IgnoreFile(location, "", "It is a link that leads out of the workspace.")
    try:
        return IgnoreFile(location, decode_text(read_regular_file(Path(path), MAX_BYTES + 1)))
    except InvalidIntentignoreError as error:
        return IgnoreFile(location, "", error.error)
    except OSError:
        return IgnoreFile(location, "", "The server cannot read it as a regular file.")
