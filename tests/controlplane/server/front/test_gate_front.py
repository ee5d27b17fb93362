"""The front answers what the view behind it would answer, to the byte where nothing is random."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from controlplane.server.front import gate
from controlplane.server.front.replies import common_headers
from controlplane.shared.errors import UnavailableError
from controlplane.shared.steps import run_steps
from controlplane.shared.tokens import find_bearer
from sessions.gate.limits import MAX_BODY_BYTES
from sessions.gate.record import record_alone
from tests import builders

PATHS = ("/api/v1/gate", "/hooks/claude-code/PreToolUse")
HOOK = b'"hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": {"file_path": "src/auth/a"'
BODIES = {
    "no json": b"{",
    "not an object": b"[1]",
    "nothing": b"{}",
    "an unknown field": b'{"session_id": "s-1", "tool": "Read", "input": {}, "colour": 1}',
    "a duplicate key": b'{"session_id": "s-1", "session_id": "s-1", "tool": "Read", "input": {}}',
    "a wrong class": b'{"session_id": "s-1", "tool": "Write", "input": {"mutation_class": "X"}}',
    "no utf-8": b'{"session_id": "\xff"}',
    "nested": b'{"a": ' * 100 + b"1" + b"}" * 100,
    "a dry run": b'{"session_id": "s-9", "tool": "Write", "input": {"file_path": "a"}, "dry_run": true}',
    "an allow": b'{"session_id": "s-1", "tool": "Write", "input": {"file_path": "src/auth/a", "content": ""}}',
    "a denial": b'{"session_id": "s-1", "tool": "Write", "input": {"file_path": "../x", "content": ""}}',
    "line separators": '{"session_id": "s-1", "tool": "Write", "input": {"file_path": "docs/\u2028ü"}}'.encode(),
    "a hook": b'{"session_id": "s-1", ' + HOOK + b', "content": ""}}',
    "a hook with a bad wait": b'{"session_id": "s-1", "icp": {"wait_seconds": "x"}, ' + HOOK + b"}}",
    "a long body": b'{"session_id": "' + b"x" * MAX_BODY_BYTES + b'"}',
}
# Of the headers these differ: the view names its methods, and which headers its answer varies with.
VIEW_ONLY = {"Allow", "Vary", "Content-Length", "X-ICP-Hold"}


def front_answer(secret: str | None, path: str, body: bytes, query: str = ""):
    scope = {"method": "POST", "path": path, "query_string": query.encode()}
    gate_call = gate.find_gate_call(scope)
    headers = {} if secret is None else {"authorization": f"Bearer {secret}"}
    bearer = find_bearer(secret) if secret else None
    try:
        gate.admit(bearer, headers)
    except Exception as error:  # noqa: BLE001  as the front does
        return gate_call.refuse(error)
    if len(body) > MAX_BODY_BYTES:
        return gate_call.refuse(gate.GateInputError(gate.TOO_LONG))
    return run_steps(gate_call.steps(bearer, body, ""), record_alone)


def without_ids(body: bytes) -> dict:
    answer = json.loads(body)
    answer.pop("decision_id", None)
    if answer.get("approval"):
        answer["approval"] = sorted(answer["approval"])
    text = json.dumps(answer, ensure_ascii=False)
    return json.loads(text)


@pytest.mark.deep
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("who", ["agent", "nobody", "somebody unknown"])
def test_the_front_answers_as_the_view_does(acme, agent, path, body, who):
    builders.intent(acme)
    agent.select("INT-001")
    secret = {"agent": agent.secret, "nobody": None}.get(who, "icp_unknown")
    headers = {} if secret is None else {"Authorization": f"Bearer {secret}"}
    view = agent.client.post(path, body, content_type="application/json", headers=headers)
    front = front_answer(secret, path, body)
    assert front.status == view.status_code
    assert without_ids(front.body) == without_ids(view.content)
    sent = {name: value for name, value in view.headers.items() if name not in VIEW_ONLY}
    given = {name.decode(): value.decode() for name, value in common_headers()}
    given |= {name.lower(): value for name, value in front.headers.items()}
    given.pop("x-icp-hold", None)
    assert given == {name.lower(): value for name, value in sent.items()}


def test_the_wait_of_the_query_reaches_the_hook(acme, agent):
    builders.intent(acme)
    agent.select("INT-001")
    body = json.dumps(
        {
            "session_id": "s-1", "hook_event_name": "PreToolUse", "tool_name": "Write",
            "tool_input": {"file_path": "docs/a", "content": ""}, "cwd": "/repo",
        }
    ).encode()  # fmt: skip
    held = front_answer(agent.secret, PATHS[1], body, "wait_seconds=5")
    assert held.headers["X-ICP-Hold"].endswith(";5.0")
    assert "X-ICP-Hold" not in front_answer(agent.secret, PATHS[1], body).headers


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/v1/gate"),
        ("POST", "/api/v1/gates"),
        ("POST", "/api/v1/gate/x"),
        ("POST", "/hooks/claude-code/PostToolUse"),
        ("POST", "/hooks/claude-code/NoSuchEvent"),
        ("POST", "/hooks/nobody/PreToolUse"),
    ],
)
def test_what_is_not_the_gates_goes_to_the_views(method, path):
    assert gate.find_gate_call({"method": method, "path": path, "query_string": b""}) is None


@pytest.mark.parametrize("path", PATHS)
def test_without_time_the_front_denies_and_says_when_to_come_back(path):
    gate_call = gate.find_gate_call({"method": "POST", "path": path, "query_string": b""})
    reply = gate_call.refuse(UnavailableError(gate.NO_TIME))
    answer = json.loads(reply.body)
    assert reply.headers["Retry-After"].isdigit()
    if path == PATHS[0]:
        assert (reply.status, answer["decision"], answer["recoverable"]) == (503, "deny", True)
    else:  # clients let the tool run on any status but 200
        assert (reply.status, reply.headers["X-ICP-Decision"]) == (200, "deny")
        assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_a_token_that_asks_too_often_is_told_so(settings):
    settings.RATE_PER_MINUTE = 60
    bearer = SimpleNamespace(token_id=1)
    for _ in range(10):
        gate.admit(bearer, {})
    with pytest.raises(gate.Throttled):
        gate.admit(bearer, {})
