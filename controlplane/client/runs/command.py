"""Run a command that the gate allowed contained: prepare, run, report, land what may land.

Nothing reaches the repository before the control plane has judged it. Whatever fails on the way leaves the
repository as it was, and says so.
"""

from __future__ import annotations

import os

from controlplane.client.runs.background import detach, is_for_background, require_no_terminal
from controlplane.client.runs.changes import list_changes
from controlplane.client.runs.containment import ContainmentError, Outcome, Setting, run_contained
from controlplane.client.runs.effects import carry_out, say
from controlplane.client.runs.report import describe_changes, drop_noise, find_outputs, is_landable
from controlplane.client.runs.run_folder import (
    STATE_DIR,
    RunStateError,
    claim_run,
    finish_run,
    lock_run,
    make_folder,
    name_by_hash,
    open_session_folder,
    remove_old_folders,
    write_report,
)
from controlplane.client.runs.view import prepare_views

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Send = Callable[[str, str, Any], "dict[str, Any]"]  # (method, path below /api/v1/, body) -> the answer

MIN_FREE = 64 * 1024 * 1024  # bytes; below it a file in the layer may have been cut off
NOT_CONTAINED = 126  # exit status: the command was not started


def run_by_id(run_id: str, send: Send) -> int:
    """Run a stored run, once. Return the command's exit status."""
    try:
        run, directory = claim_run(run_id)
    except RunStateError as problem:
        say(f"Nothing was run. {problem}")
        return NOT_CONTAINED
    with lock_run(directory):
        remove_old_folders()
        try:
            require_no_terminal(run["command"])
            if is_for_background(run["command"]):
                if detach(run_id):
                    return 0
                # It ends with its last process, in a session's folder of its own: others go on meanwhile.
                run = {**run, "session_id": run_id, "command": f"{run['command']}\nwait"}
            return run_in_folder(run, directory, send)
        except ContainmentError as problem:
            say(f"Nothing was run: {problem}. `icp.py doctor` tells what can be contained here.")
            report_nothing(run, directory, send)
            return NOT_CONTAINED


def report_nothing(run: dict[str, Any], directory: str, send: Send) -> None:
    """Report that the command was not started: a run that nobody hears of again is an alarm."""
    write_report(directory, [], {"exit_code": NOT_CONTAINED, "duration_ms": 0, "files": []})
    if carry_out(run, directory, send):
        finish_run(directory)


def run_in_folder(run: dict[str, Any], directory: str, send: Send) -> int:
    """Run the command in its folder. Raise ContainmentError, with nothing run."""
    root = os.path.realpath(run["root"])
    key = name_by_hash(f"{root}\0{run['session_id']}")
    with open_session_folder(key, directory) as (session, is_shared):
        setting = prepare_setting(run, directory, session)
        started = os.stat(make_folder(f"{directory}/started")).st_ctime_ns
        outcome = run_contained([run["shell"], "-c", run["command"]], setting)
        if outcome.timed_out:
            say(f"The command was ended after {setting.seconds} seconds.")
        outputs = store_report(directory, root, started, outcome)
        is_done = carry_out(run, directory, send)
        if is_shared:
            keep_outputs(directory, session, outputs)
    if is_done:
        finish_run(directory)
    return int(outcome.status)


def store_report(directory: str, root: str, started: int, outcome: Outcome) -> set[str]:
    """Store what the command changed, before anybody is told. Return the paths that git ignores."""
    changes = drop_noise(list_changes(root, f"{directory}/upper", started))
    disk = os.statvfs(directory)
    if disk.f_bavail * disk.f_frsize < MIN_FREE:
        say("The disk is full: nothing landed, for files may have been cut off.")
        changes = []
    outputs = find_outputs(root, directory, changes)
    landable = [change for change in changes if is_landable(change)]
    report = {
        "exit_code": outcome.status,
        "duration_ms": round(outcome.seconds * 1000),
        "files": describe_changes(root, landable, outputs),
    }
    write_report(directory, changes, report)
    return outputs


def prepare_setting(run: dict[str, Any], directory: str, session: str) -> Setting:
    allowed = run["containment"]
    with open(f"{STATE_DIR}/empty", "wb"):
        pass  # what covers a secret file
    return Setting(
        views=prepare_views(os.path.realpath(run["root"]), directory, session, allowed["hidden"]),
        cwd=os.path.realpath(run["cwd"]),
        temp=make_folder(f"{session}/tmp"),
        state=STATE_DIR,
        network=allowed["network"],
        seconds=allowed["seconds"],
        landlock=run["landlock"],
    )


def keep_outputs(directory: str, session: str, outputs: set[str]) -> None:
    """Move the files that git ignores into the layer of the session, so that its next command finds them."""
    for path in sorted(outputs):
        source, target = f"{directory}/upper/{path}", f"{session}/outputs/{path}"
        if os.path.lexists(source):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            os.replace(source, target)
