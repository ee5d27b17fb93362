"""The tool `run_command`: decide a shell command, which the client's program then runs.

The client's program carries the call here and runs what is allowed on the terms in the answer, so a model
gets the output of its command. For clients whose hooks cannot change a call, and for people
(`icp.py run -- …`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from controlplane.shared.errors import ConflictError, InvalidInputError
from controlplane.shared.tokens import Bearer
from sessions.adapters.refusal_text import to_hook_answer
from sessions.gate.check import check
from sessions.gate.request import parse_gate_request
from sessions.models import AgentSession

SHELL_TOOL = "execute_command"  # which every table of tools knows
CLIENT_HEADER = "x-icp-client"
CLIENT_FIELDS = ("root", "repository", "containment")  # what it says of the machine that runs the command


def read_client(header: str) -> dict[str, Any] | None:
    """Return what the program says of its machine; None for a caller that runs no commands."""
    if not header:
        return None
    try:
        fields = json.loads(header)
    except ValueError as error:
        raise InvalidInputError(f"X-ICP-Client is not JSON ({error}).") from error
    if not isinstance(fields, dict) or not set(fields) <= set(CLIENT_FIELDS):
        raise InvalidInputError(f"X-ICP-Client holds an object with {', '.join(CLIENT_FIELDS)}.")
    return fields


def decide_command(
    bearer: Bearer, session: AgentSession, arguments: Mapping[str, Any], client: Mapping[str, Any]
) -> str:
    """Return the terms of an allowed command as JSON; `containment` is null for one that runs as it is.

    Raise ConflictError for any other decision.
    """
    body = {
        "session_id": session.session_id,
        "tool": SHELL_TOOL,
        "input": {"command": arguments["command"]},
        "cwd": arguments.get("cwd") or client.get("root"),
        **client,
    }
    request = parse_gate_request(body, len(json.dumps(body)))
    # No hook reports what this command changed: contained it reports that itself.
    request = replace(request, call=replace(request.call, prefers_containment=True))
    answer = check(bearer, request)
    refusal = to_hook_answer(answer)
    if refusal.denied:
        raise ConflictError(refusal.text, error_type=answer["error_type"] or "HOOK_BLOCKED")
    terms = {name: answer[name] for name in ("session_id", "decision_id", "containment")}
    return json.dumps(terms, ensure_ascii=False)
