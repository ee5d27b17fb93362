"""The folders of contained runs on this machine, below ~/.local/state/icp, all of them private.

runs/ID/       one run: run.json (what was allowed), upper and work of its view, hide, changes.json
sessions/KEY/  what lasts for a session: tmp, places/N (layers of caches), outputs (files that git ignores)
held/ID/       what waits for a person: changes.json and the files
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import time

from controlplane.client.runs.changes import Change

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

STATE_DIR = os.path.join(os.path.expanduser("~"), ".local", "state", "icp")
RUN_ID_LENGTH, HEX_DIGITS = 32, frozenset("0123456789abcdef")
MAX_AGE = 7 * 24 * 3600  # seconds until what a run or session left behind is removed


class RunStateError(Exception):
    """There is no such run here, or it was used before."""


def require_run_id(run_id: str) -> str:
    """Return the id. Raise RunStateError for anything that is none: it becomes part of a path."""
    if len(run_id) != RUN_ID_LENGTH or not HEX_DIGITS.issuperset(run_id):
        raise RunStateError("A run id has 32 hexadecimal digits.")
    return run_id


def make_folder(path: str) -> str:
    """Make a folder that only this user may enter, and return its path."""
    os.makedirs(path, mode=0o700, exist_ok=True)
    os.chmod(path, 0o700)
    return path


def save_run(run: dict[str, Any]) -> None:
    """Store a run that the gate allowed, once. Raise FileExistsError for the same id again."""
    make_folder(STATE_DIR)
    directory = f"{STATE_DIR}/runs/{require_run_id(run['run_id'])}"
    make_folder(os.path.dirname(directory))
    os.mkdir(directory, 0o700)
    write_json(f"{directory}/run.json", run)


def claim_run(run_id: str) -> tuple[dict[str, Any], str]:
    """Return a stored run and its folder, and use it up. Raise RunStateError."""
    directory = f"{STATE_DIR}/runs/{require_run_id(run_id)}"
    try:
        os.rename(f"{directory}/run.json", f"{directory}/claimed.json")  # of two processes, one gets it
    except OSError:
        raise RunStateError(f"The run {run_id} is not known here, or it was started before.") from None
    return read_json(f"{directory}/claimed.json"), directory


def read_root(run_id: str) -> str:
    """Return the repository of a held run; "" for one that was never written whole."""
    try:
        return os.path.realpath(str(read_json(f"{STATE_DIR}/held/{require_run_id(run_id)}/run.json")["root"]))
    except (OSError, ValueError, RunStateError):
        return ""


def read_json(path: str) -> Any:
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def write_json(path: str, value: Any) -> None:
    """Write a private file whole: a reader sees the old one or the new one."""
    descriptor = os.open(f"{path}.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(value, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(f"{path}.new", path)


def write_changes(directory: str, changes: Sequence[Change]) -> None:
    write_json(f"{directory}/changes.json", [list(change) for change in changes])


def read_changes(directory: str) -> list[Change]:
    return [Change(*values) for values in read_json(f"{directory}/changes.json")]


@contextlib.contextmanager
def open_session_folder(key: str, run_directory: str) -> Iterator[tuple[str, bool]]:
    """Yield the session's folder and whether it is the shared one.

    Two mounts of one layer destroy it, so a second command of the session at the same time gets a folder of
    its own, which goes with its run.
    """
    shared = make_folder(f"{STATE_DIR}/sessions/{key}")
    lock = os.open(f"{shared}/lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield make_folder(f"{run_directory}/session"), False
        else:
            os.utime(shared)
            yield shared, True
    finally:
        os.close(lock)


def hold_changes(run_id: str, changes: Sequence[Change]) -> None:
    """Move changes out of their layer into the held store, before the layer goes."""
    if not changes:
        return
    directory = make_folder(f"{STATE_DIR}/held/{run_id}")
    held = []
    for number, change in enumerate(changes):
        if change.source is not None and change.kind != "link":
            os.replace(change.source, f"{directory}/{number}")
            held.append(change._replace(source=f"{directory}/{number}"))
        else:
            held.append(change)
    write_changes(directory, held)


def remove_folder(path: str) -> None:
    """Remove a folder whatever modes a command gave to what is in it."""
    for directory, _, _ in os.walk(path):
        with contextlib.suppress(OSError):
            os.chmod(directory, 0o700)
    shutil.rmtree(path, ignore_errors=True)


def remove_old_folders() -> None:
    """Remove what ended runs and sessions left behind more than a week ago."""
    for kind in ("runs", "sessions", "held"):
        with contextlib.suppress(OSError), os.scandir(f"{STATE_DIR}/{kind}") as entries:
            for entry in entries:
                if entry.stat(follow_symlinks=False).st_mtime < time.time() - MAX_AGE:
                    remove_folder(entry.path)
