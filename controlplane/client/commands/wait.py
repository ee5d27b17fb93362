"""`icp.py wait APPROVAL`: wait until a person has decided, and say how. It changes nothing.

An agent starts it in the background after a refusal that names it, and is woken by its end.
"""

from __future__ import annotations

import time

from controlplane.client.connection import ControlPlaneError
from controlplane.client.http_request import ResponseStatusError, load_connection, request_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

HOLD_SECONDS = 50  # for which the server holds one request
RETRY_PAUSE_SECONDS = 5.0
MAX_FAILURES = 60  # in a row, of a server that is restarted or cannot be reached
CANNOT_TELL = 2  # the exit status where nobody knows; 0 is approved, 1 is not

WHAT_NEXT = {
    "call": "Next: send the same call again, unchanged: it runs.",
    "scope": "What was asked for is granted.",
    "completion": "The intent is completed.",
    "run": "Its changes land with your next call.",
}
UNDECIDED = {
    "EXPIRED": "It expired before anybody decided. Next: send the call again to ask once more.",
    "CANCELLED": "It was cancelled, because its session has ended.",
}


def add_wait_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("approval", help="The id that a refusal names.")
    parser.set_defaults(run=report_decision)


def report_decision(options: argparse.Namespace) -> int:
    """Print the decision. Return 0 for an approval, 1 for any other end, 2 where it cannot be told."""
    try:
        approval = await_decision(load_connection(), options.approval)
    except ControlPlaneError as problem:
        print(problem)
        return CANNOT_TELL
    print(describe_decision(approval))
    return 0 if approval["status"] == "APPROVED" else 1


def await_decision(connection: dict[str, Any], approval_id: str, more: str = "") -> dict[str, Any]:
    """Return the approval once it is decided or over. Raise ControlPlaneError where it cannot be told.

    `more` are further parameters of the request.
    """
    from urllib.parse import quote

    path, failures = f"approvals/{quote(approval_id, safe='')}?wait_seconds={HOLD_SECONDS}{more}", 0
    while True:
        try:
            approval = request_json(connection, "GET", path)
        except ControlPlaneError as problem:
            failures += 1
            is_final = isinstance(problem, ResponseStatusError) and problem.status < 429
            if is_final or failures > MAX_FAILURES:
                raise
            time.sleep(RETRY_PAUSE_SECONDS)
            continue
        failures = 0
        if approval.get("status") != "PENDING":
            return approval


def describe_decision(approval: dict[str, Any]) -> str:
    """Return what an agent reads: who decided what, in which words, and what to do next."""
    status, decider = approval["status"], approval.get("decided_by") or "a reviewer"
    comment = f": {str(approval['comment']).rstrip('.')}" if approval.get("comment") else ""
    if status == "APPROVED":
        return f"Approved by {decider}{comment}. {WHAT_NEXT[approval['kind']]}"
    if status == "REJECTED":
        return f"Rejected by {decider}{comment}. Next: do not send it again; find another way or stop."
    return UNDECIDED[status]
