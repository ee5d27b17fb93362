"""The folders of contained runs on this machine, below ~/.local/state/icp, all of them private.

runs/ID/       one run: run.json (what was allowed), upper and work of its view, hide, changes.json,
               report.json; `lock` is held by the client that works on it: free, that one was killed
sessions/KEY/  what lasts for a session: tmp, places/N (layers of caches), outputs (files that git ignores)
held/ID/       what waits for a person: changes.json and the files; empty while a report is not answered;
               refused.json: what could not land, until that was answered
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time

from controlplane.client.digest import sha256_hex
from controlplane.client.fast_json import parse_json, render_json
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
    """Store a run that the gate allowed. The same run may be stored again until it starts.

    Raise RunStateError for an id that was used.
    """
    make_folder(STATE_DIR)
    directory = f"{STATE_DIR}/runs/{require_run_id(run['run_id'])}"
    make_folder(os.path.dirname(directory))
    draft = f"{directory}.{os.getpid()}"
    os.mkdir(draft, 0o700)
    write_json(f"{draft}/run.json", run, is_kept=False)  # without it nothing is run
    try:
        os.rename(draft, directory)  # fails over a folder with anything in it
    except OSError:
        remove_folder(draft)
        if not is_same_run(f"{directory}/run.json", run):
            raise RunStateError(f"The run {run['run_id']} was started before: send a new call.") from None


def is_same_run(path: str, run: dict[str, Any]) -> bool:
    try:
        return bool(read_json(path) == run)
    except (OSError, ValueError):
        return False


def claim_run(run_id: str) -> tuple[dict[str, Any], str]:
    """Return a stored run and its folder, and use it up. Raise RunStateError."""
    directory = f"{STATE_DIR}/runs/{require_run_id(run_id)}"
    try:
        os.rename(f"{directory}/run.json", f"{directory}/claimed.json")  # of two processes, one gets it
    except OSError:
        raise RunStateError(f"The run {run_id} is not known here, or it was started before.") from None
    return read_json(f"{directory}/claimed.json"), directory


def read_run(run_id: str) -> dict[str, Any]:
    """Return a run in any state. Raise OSError, or ValueError for one that was never written whole."""
    if len(run_id) != RUN_ID_LENGTH or not HEX_DIGITS.issuperset(run_id):
        raise ValueError(run_id)
    places = [f"{STATE_DIR}/{place}" for place in (f"runs/{run_id}/run.json", f"runs/{run_id}/claimed.json")]
    place = next(filter(os.path.exists, places), f"{STATE_DIR}/held/{run_id}/run.json")
    return dict(read_json(place))


def read_root(run_id: str) -> str:
    """Return the repository of a run that waits; "" for one that was never written whole."""
    try:
        return os.path.realpath(str(read_run(run_id)["root"]))
    except (OSError, ValueError):
        return ""


def list_waiting_runs() -> list[str]:
    """Return the runs of which something waits on this disk: for an answer, or for a person."""
    try:
        return sorted(os.listdir(f"{STATE_DIR}/held"))
    except OSError:
        return []


@contextlib.contextmanager
def lock_run(directory: str) -> Iterator[bool]:
    """Yield whether this process alone works on the run, for as long as it does."""
    try:
        lock = os.open(f"{directory}/lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except FileNotFoundError:
        yield False
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        yield False
    else:
        yield True
    finally:
        os.close(lock)


def read_json(path: str) -> Any:
    with open(path, "rb") as file:
        return parse_json(file.read())


def write_json(path: str, value: Any, *, is_kept: bool = True) -> None:
    """Write a private file whole: a reader sees the old one or the new one.

    `is_kept`: also after a loss of power, which takes a write to the disk.
    """
    descriptor = os.open(f"{path}.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(render_json(value).encode())
        file.flush()
        if is_kept:
            os.fsync(file.fileno())
    os.replace(f"{path}.new", path)


def name_by_hash(text: str) -> str:
    """Return a file name for any text."""
    return sha256_hex(os.fsencode(text))[:32]


def write_changes(directory: str, changes: Sequence[Change]) -> None:
    write_json(f"{directory}/changes.json", [list(change) for change in changes], is_kept=bool(changes))


def read_changes(directory: str) -> list[Change]:
    return [Change(*values) for values in read_json(f"{directory}/changes.json")]


def write_report(directory: str, changes: Sequence[Change], report: dict[str, Any]) -> None:
    """Store what a run changed. From here on the next client takes it up when this one is killed."""
    write_changes(directory, changes)
    make_folder(f"{STATE_DIR}/held/{os.path.basename(directory)}")
    write_json(f"{directory}/report.json", report, is_kept=bool(changes))


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
    """Move changes out of their layer into the held store, before the layer goes. May be done again."""
    directory = make_folder(f"{STATE_DIR}/held/{run_id}")
    held = []
    for number, change in enumerate(changes):
        if change.source is not None and change.kind != "link":
            if os.path.lexists(change.source):  # else it was moved before this was cut off
                os.replace(change.source, f"{directory}/{number}")
            held.append(change._replace(source=f"{directory}/{number}"))
        else:
            held.append(change)
    write_changes(directory, held)


def remove_folder(path: str) -> None:
    """Remove a folder as far as possible, whatever modes a command or an overlay gave to what is in it."""
    with contextlib.suppress(OSError):
        os.chmod(path, 0o700)
    with contextlib.suppress(OSError), os.scandir(path) as entries:
        for entry in list(entries):
            if entry.is_dir(follow_symlinks=False):
                remove_folder(entry.path)
            else:
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)
    with contextlib.suppress(OSError):
        os.rmdir(path)


def finish_run(directory: str) -> None:
    """Remove the folder of a run whose answer was carried out; first what lets another client repeat it."""
    with contextlib.suppress(OSError):
        os.unlink(f"{directory}/report.json")
    with contextlib.suppress(OSError):  # what waits for a person stays
        os.rmdir(f"{STATE_DIR}/held/{os.path.basename(directory)}")
    remove_folder(directory)


def remove_old_folders() -> None:
    """Remove what killed runs left behind, and all that is older than a week."""
    for kind in ("runs", "sessions", "held"):
        with contextlib.suppress(OSError), os.scandir(f"{STATE_DIR}/{kind}") as entries:
            for entry in entries:
                if entry.stat(follow_symlinks=False).st_mtime < time.time() - MAX_AGE:
                    remove_folder(entry.path)
                elif kind == "runs" and os.path.exists(f"{entry.path}/claimed.json"):
                    remove_killed_run(entry.path)


def remove_killed_run(directory: str) -> None:
    """Remove a run whose client was killed before it could say what the command changed: nothing landed."""
    with lock_run(directory) as is_ours:
        if is_ours and not os.path.exists(f"{directory}/report.json"):
            remove_folder(directory)
