"""The hook: payload in, the client's own answer out. Before a tool it fails closed, whatever goes wrong."""

from __future__ import annotations

import _thread
import json
import os
import sys
import time

from controlplane.client.agents import CLIENTS, reason_in
from controlplane.client.call_context import VERSION, CannotAskError, connection, hashes, links, revision
from controlplane.client.http_post import post

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SIDE_SECONDS = 10.0  # for events that refuse nothing


def hook(agent: str, event: str) -> int:
    """Ask, print the client's answer, return the exit status. Whoever takes `spoken` first answers.

    LookupError for an agent or an event that is not in the table: a misspelled one must not let tools run.
    """
    client = CLIENTS[agent]
    gate = event in client.gates.split()
    if not gate and event not in client.others.split():
        raise LookupError(f"{agent} has no event {event}")
    seconds = client.seconds if gate else min(SIDE_SECONDS, client.seconds)
    seconds = min(seconds, float(os.environ.get("ICP_DEADLINE_SECONDS") or seconds))
    spoken = _thread.allocate_lock()

    def in_time() -> None:
        time.sleep(seconds)
        if spoken.acquire(blocking=False):
            problem = f"The control plane did not answer within {seconds:g} s."
            status = refuse(agent, event, problem) if gate else pass_over(problem)
            sys.stdout.flush()
            os._exit(status)

    _thread.start_new_thread(in_time, ())
    try:
        answer, decision = asked(agent, event, seconds)
        refused = gate and (decision != "allow" or reason_in(answer))
        problem = f"The gate answered {decision!r}." if refused else ""
    except Exception as error:  # noqa: BLE001  whatever it is, the tool must not run
        answer, problem = {}, str(error) or type(error).__name__
    spoken.acquire()
    if not problem:
        return say(answer)
    return refuse(agent, event, problem, answer) if gate else pass_over(problem)


def pass_over(problem: str) -> int:
    """An event that refuses nothing must not disturb the client's work."""
    sys.stderr.write(f"icp: {problem}\n")
    return say({})


def refuse(agent: str, event: str, problem: str, answer: dict[str, Any] | None = None) -> int:
    """The denial that the control plane worded, or one of our own where it worded none."""
    client = CLIENTS[agent]
    reason = reason_in(answer or {})
    if not reason:
        reason = f"{problem} Without a decision of the gate the tool must not run. Next: tell the user."
        answer = client.refuse(event, reason)
    say(answer or {})
    if client.status:
        sys.stderr.write(reason + "\n")
    return int(client.status)


def say(answer: dict[str, Any]) -> int:
    sys.stdout.write(json.dumps(answer) + "\n")
    return 0


def asked(agent: str, event: str, seconds: float) -> tuple[dict[str, Any], str]:
    """The control plane's answer to the payload on stdin, and the decision its header names."""
    try:
        payload = json.loads(sys.stdin.buffer.read())
    except ValueError as error:
        raise CannotAskError(f"The hook was given no JSON ({error}).") from error
    if not isinstance(payload, dict):
        raise CannotAskError("The hook was not given a JSON object.")
    told = connection(payload)
    root = told["root"]
    payload["icp"] = {
        "root": root,
        "revision_id": revision(root),
        "client_version": VERSION,
        "current_content_hashes": hashes(payload, root),
        "links": links(payload, root),
        "wait_seconds": max(0, min(told["wait"], CLIENTS[agent].wait, seconds - 1)),
    }
    return post(f"{told['url']}/hooks/{agent}/{event}", told["token"], json.dumps(payload).encode(), seconds)
