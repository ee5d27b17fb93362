"""Report what a contained run changed and carry out the answer: land, hold, or leave out.

A report that does not arrive, or a landing that is cut off, stays in the folder of the run; `icp.py land`
goes on with it. Landing twice changes nothing.
"""

from __future__ import annotations

import os
import sys

from controlplane.client.runs.landing import land_changes, lock_folder
from controlplane.client.runs.report import is_landable
from controlplane.client.runs.run_folder import (
    STATE_DIR,
    finish_run,
    hold_changes,
    lock_run,
    make_folder,
    name_by_hash,
    read_changes,
    read_json,
    remove_folder,
    require_run_id,
    write_changes,
    write_json,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from controlplane.client.runs.changes import Change

    Send = Callable[[str, str, Any], "dict[str, Any]"]  # (method, path below /api/v1/, body) -> the answer

STALE = "STALE_FILE: it was changed while the command ran"
UNFIT = "it is a special file, or its name is not text"
TRY_AGAIN = "The next call sends it again, or `icp.py land {}`."
REFUSED_FILE = "refused.json"  # in the held folder: what could not land and was not reported yet
MAX_REASON = 400  # characters
MAX_NAMED = 5  # paths in the last line


def carry_out(run: dict[str, Any], directory: str, send: Send) -> bool:
    """Send the report in the folder and do what the answer says. Return False where nothing was answered."""
    run_id = run["run_id"]
    try:
        answer = send("POST", f"runs/{run_id}/effects", read_json(f"{directory}/report.json"))
    except Exception as problem:  # noqa: BLE001  whatever it is, nothing may land
        say(f"Nothing landed: {problem} {TRY_AGAIN.format(run_id)}")
        return False
    changes = read_changes(directory)
    denied = {change.path: UNFIT for change in changes if not is_landable(change)}
    denied |= {change.path: STALE for change in changes if change.stale}
    by_path = {change.path: change for change in changes if change.path not in denied}
    landing = land_locked(run, [by_path[path] for path in answer["land"] if path in by_path])
    waiting = [by_path[path] for path in answer["hold"] if path in by_path]
    if waiting:
        hold_changes(run_id, waiting)
        write_json(f"{STATE_DIR}/held/{run_id}/run.json", run)
    discarded = {path: "it was refused" for path in answer["discard"] if path in by_path}
    quiet = {row["path"] for row in read_json(f"{directory}/report.json")["files"] if row.get("ignored")}
    shown = {path: reason for path, reason in discarded.items() if path not in quiet}
    tell_result(landing.landed, waiting, {**shown, **denied, **landing.refused}, answer.get("approval"))
    report_refused(run, landing.refused, send)
    return True


def land_locked(run: dict[str, Any], changes: Sequence[Change]) -> Any:
    """Land while no other landing in the repository goes on."""
    root = os.path.realpath(run["root"])
    lock = f"{make_folder(f'{STATE_DIR}/locks')}/{name_by_hash(root)}"
    with lock_folder(lock):
        return land_changes(root, changes)


def land_run(run_id: str, send: Send) -> int:
    """Land what waited, if a person has approved it. Return 0 when nothing is left to wait for."""
    held, unreported = (f"{STATE_DIR}/{kind}/{require_run_id(run_id)}" for kind in ("held", "runs"))
    if os.path.isdir(unreported):
        with lock_run(unreported) as is_ours:
            return int(not is_ours) or resume_run(unreported, held, send)
    if not send_refused(run_id, held, send):
        return 1
    if not os.path.exists(f"{held}/changes.json"):
        remove_folder(held)
        say(f"Nothing of run {run_id} waits here.")
        return 0
    return land_approved(run_id, held, send)


def resume_run(directory: str, held: str, send: Send) -> int:
    """Go on with a run whose report was not answered, or not carried out whole."""
    if not os.path.exists(f"{directory}/report.json"):
        return 0  # it has not ended; or its client was killed, and `remove_killed_run` clears up
    if not carry_out(read_json(f"{directory}/claimed.json"), directory, send):
        return 1
    finish_run(directory)
    return int(os.path.exists(held))


def land_approved(run_id: str, directory: str, send: Send) -> int:
    """Ask what may land by now, and land it. Return 0 when nothing is left to wait for."""
    answer = send("POST", f"runs/{run_id}/land", {})
    by_path = {change.path: change for change in read_changes(directory)}
    run = read_json(f"{directory}/run.json")
    landing = land_locked(run, [by_path[path] for path in answer["land"] if path in by_path])
    waiting = [by_path[path] for path in answer["hold"] if path in by_path]
    discarded = {path: "it was rejected" for path in answer["discard"] if path in by_path}
    tell_result(landing.landed, waiting, {**discarded, **landing.refused}, answer.get("approval"))
    report_refused(run, landing.refused, send)
    if waiting:
        write_changes(directory, waiting)
        return 1
    os.unlink(f"{directory}/changes.json")  # first, so that nothing of it lands again
    if os.path.exists(f"{directory}/{REFUSED_FILE}"):
        return 1
    remove_folder(directory)
    return 0


def report_refused(run: dict[str, Any], refused: dict[str, str], send: Send) -> None:
    """Report what was to land and could not: it was recorded as changed. Stored until it was answered."""
    held = f"{STATE_DIR}/held/{run['run_id']}"
    if refused:
        make_folder(held)
        write_json(f"{held}/run.json", run)
        rows = [{"path": path, "reason": reason[:MAX_REASON]} for path, reason in refused.items()]
        write_json(f"{held}/{REFUSED_FILE}", rows)
        send_refused(run["run_id"], held, send)


def send_refused(run_id: str, held: str, send: Send) -> bool:
    """Send what could not land, if there is any left to send. Return False where nothing was answered."""
    path = f"{held}/{REFUSED_FILE}"
    if not os.path.exists(path):
        return True
    try:
        send("POST", f"runs/{run_id}/land", {"refused": read_json(path)})
    except Exception as problem:  # noqa: BLE001  whatever it is, the record has to be put right
        say(f"What could not land is still recorded as changed: {problem} {TRY_AGAIN.format(run_id)}")
        return False
    os.unlink(path)
    if not os.path.exists(f"{held}/changes.json"):
        os.unlink(f"{held}/run.json")  # nothing waits for a person
    return True


def tell_result(
    landed: Sequence[str], waiting: Sequence[Change], denied: dict[str, str], approval: Any
) -> None:
    """Say in one line what happened to the changes; nothing where there were none."""
    parts = [f"{name_paths(landed)} landed"] if landed else []
    if waiting:
        where = f" ({approval['url']})" if approval else ""
        parts.append(f"{name_paths([change.path for change in waiting])} waits for approval{where}")
    parts += [f"{path} did not land: {reason}" for path, reason in list(denied.items())[:MAX_NAMED]]
    if len(denied) > MAX_NAMED:
        parts.append(f"{len(denied) - MAX_NAMED} more did not land")
    if parts:
        say("; ".join(parts) + ".")


def name_paths(paths: Sequence[str]) -> str:
    rest = f" and {len(paths) - MAX_NAMED} more" if len(paths) > MAX_NAMED else ""
    return ", ".join(paths[:MAX_NAMED]) + rest


def say(text: str) -> None:
    """Write one line for the model. Names are hostile: control characters are shown, not sent."""
    printable = "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)
    sys.stdout.flush()
    sys.stderr.write(f"icp: {printable}\n")
