"""The hook: read a payload, print the client's answer. Before a tool it fails closed, whatever goes wrong."""

from __future__ import annotations

import _thread
import os
import sys
import time

from controlplane.client.agents import CLIENTS, find_refusal, no_objection
from controlplane.client.call_changes import find_changed_lines, hash_command_words
from controlplane.client.call_context import (
    VERSION,
    compute_hashes,
    list_absolute_paths,
    list_absolute_words,
    resolve_links,
)
from controlplane.client.connection import (
    ASK_MARK,
    PROGRAM,
    ControlPlaneError,
    NotConnectedError,
    find_connection,
    require_connections,
)
from controlplane.client.containment_claim import (
    OWN_CALL,
    TERMS_KEY,
    describe_containment,
    has_held_runs,
)
from controlplane.client.fast_json import parse_json, render_json
from controlplane.client.http_post import post
from controlplane.client.line_changes import find_line_changes
from controlplane.client.repository import read_revision
from controlplane.client.write_limit import find_limited, limit_call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SIDE_SECONDS = 10.0  # for events that cannot deny
USER_SCOPE = "user"  # of an entry that serves all repositories: quiet in those that are not connected
SESSION_STARTS = (
    "SessionStart",
    "sessionStart",
    "session_start",
    "TaskStart",
    "TaskResume",
    "session.created",
)
MESSAGE_CLIENTS = ("claude-code", "gemini-cli", "qwen-code")  # show their user a hook's `systemMessage`
QUIET = "quiet"  # in the place of a decision


def run_hook(arguments: list[str]) -> int:
    try:
        return hook(*arguments)
    except Exception as error:  # noqa: BLE001  no failure may let the tool run
        sys.stderr.write(f"icp hook {' '.join(arguments)}: {error!r}. So the tool must not run.\n")
        return 2


def hook(agent: str, event: str, scope: str = "") -> int:
    """Ask the control plane, print the client's answer, return the exit status.

    Raise LookupError for an unknown agent, event or scope: a misspelled one must not let tools run.
    """
    client = CLIENTS[agent]
    gate = event in client.gates.split()
    if not gate and event not in client.others.split():
        raise LookupError(f"{agent} has no event {event}")
    if scope not in {"", USER_SCOPE}:
        raise LookupError(f"there is no scope {scope}")
    seconds = client.seconds if gate else min(SIDE_SECONDS, client.seconds)
    seconds = min(seconds, float(os.environ.get("ICP_DEADLINE_SECONDS") or seconds))
    # Whoever takes the lock first answers: the deadline, or the control plane. It is never released.
    answer_lock = _thread.allocate_lock()

    def enforce_deadline() -> None:
        time.sleep(seconds)
        if answer_lock.acquire(blocking=False):
            problem = f"The control plane did not answer within {seconds:g} s."
            status = refuse(agent, event, problem) if gate else report_failure(problem)
            sys.stdout.flush()
            os._exit(status)

    _thread.start_new_thread(enforce_deadline, ())
    try:
        answer, decision = ask_control_plane(agent, event, seconds, scope)
        denied = gate and decision != QUIET and (decision != "allow" or find_refusal(answer))
        problem = f"The gate answered {decision!r}." if denied else ""
    except Exception as error:  # noqa: BLE001  whatever it is, the tool must not run
        answer, problem = {}, str(error) or type(error).__name__
    answer_lock.acquire()
    if not problem:
        return print_answer(answer)
    return refuse(agent, event, problem, answer) if gate else report_failure(problem)


def report_failure(problem: str) -> int:
    """Report a failure on stderr only: an event that cannot deny must not disturb the client."""
    sys.stderr.write(f"icp: {problem}\n")
    return print_answer({})


def refuse(agent: str, event: str, problem: str, answer: dict[str, Any] | None = None) -> int:
    """Print the control plane's denial, or one of our own without it. Return the exit status."""
    client = CLIENTS[agent]
    reason = find_refusal(answer or {})
    if not reason:
        reason = f"{problem} Without a decision of the gate the tool must not run. Next: tell the user."
        answer = client.refuse(event, reason)
    print_answer(answer or {})
    if client.status:
        sys.stderr.write(reason + "\n")
    return int(client.status)


def print_answer(answer: dict[str, Any]) -> int:
    sys.stdout.write(render_json(answer) + "\n")
    return 0


def ask_control_plane(agent: str, event: str, seconds: float, scope: str) -> tuple[dict[str, Any], str]:
    """Send the payload on stdin. Return the answer and the decision header."""
    data = sys.stdin.buffer.read()
    payload = parse_payload(data)
    try:
        connection = connect_payload(payload, scope)
    except NotConnectedError:
        if scope != USER_SCOPE:
            raise
        require_connections()
        return no_objection(agent, event), QUIET
    is_before = event in CLIENTS[agent].gates.split()
    if is_before and OWN_CALL in data and load_program().is_own_call(payload, connection["root"]):
        return no_objection(agent, event), QUIET
    is_limited = find_limited(payload, connection)
    if has_held_runs():
        load_program().land_held_runs(connection)
    payload["icp"] = describe_call(agent, payload, connection, seconds, has_run=not is_before)
    url = f"{connection['url']}/hooks/{agent}/{event}"
    answer, decision = post(url, connection["token"], render_json(payload).encode(), seconds)
    if decision == "ask":
        mark_ask()
    if event in SESSION_STARTS:
        answer = warn_of_contradiction(agent, connection, answer)
    if TERMS_KEY in answer:
        answer = load_program().rewrite_call(agent, event, payload, answer, connection)
    elif is_before and decision == "allow" and not is_limited and not find_refusal(answer):
        answer = limit_call(agent, event, payload, answer, connection)
    return answer, decision


def parse_payload(data: bytes) -> dict[str, Any]:
    try:
        payload = parse_json(data)
    except ValueError as error:
        raise ControlPlaneError(f"The hook's input is not JSON ({error}).") from error
    if not isinstance(payload, dict):
        raise ControlPlaneError("The hook's input is not a JSON object.")
    return payload


def describe_call(
    agent: str, payload: dict[str, Any], connection: dict[str, Any], seconds: float, *, has_run: bool
) -> dict[str, Any]:
    """Return what only this machine knows of a call: the files that it names, and how it may be answered."""
    root, containment = connection["root"], describe_containment(agent)
    hashes, changed_lines, line_changes = compute_hashes(payload, root), {}, {}
    if has_run:
        hashes = {**hash_command_words(payload, root), **hashes}
        changed_lines = find_changed_lines(payload, root)
        line_changes = find_line_changes(payload, root)
    return {
        "root": root,
        "repository": connection["repository"],
        "revision_id": read_revision(root),
        "client_version": VERSION,
        "client_program": PROGRAM,
        "current_content_hashes": hashes,
        "links": resolve_links(payload, root),
        "wait_seconds": max(0, min(connection["wait"], CLIENTS[agent].wait, seconds - 1)),
        **({"containment": containment} if containment else {}),
        **({"changed_lines": changed_lines} if changed_lines else {}),
        **({"line_changes": line_changes} if line_changes else {}),
    }


def warn_of_contradiction(agent: str, connection: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """Tell the person, not the model, where the ledger contradicts the head that this machine has kept."""
    problem = load_program().describe_contradiction(connection)
    if not problem:
        return answer
    sys.stderr.write(f"icp: {problem}\n")
    return {**answer, "systemMessage": problem} if agent in MESSAGE_CLIENTS else answer


def mark_ask() -> None:
    """Let the client's MCP server know that there is a decision to wait for."""
    try:
        os.close(os.open(ASK_MARK, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
        os.utime(ASK_MARK)
    except OSError:
        pass  # then the next hook tells of it


def load_program() -> Any:
    """Import what a hook seldom needs, for contained runs and once a session, from where `connect` put it."""
    import icp_program  # type: ignore[import-not-found]

    return icp_program


def connect_payload(payload: dict[str, Any], scope: str) -> dict[str, Any]:
    """Return the connection of the client's repository; for the user's own entry also that of its targets."""
    targets = list_absolute_paths(payload)
    if scope == USER_SCOPE:
        return find_connection(payload, targets, also=[*targets, *list_absolute_words(payload)])
    return find_connection(payload, targets)
