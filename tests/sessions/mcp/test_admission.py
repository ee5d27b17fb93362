"""Who comes in at /mcp, and what a hook gets whose request does not: a denial, never an error."""

from __future__ import annotations

import pytest
from django.db import DatabaseError

from tests import builders
from tests.sessions.mcp import in_process

pytestmark = pytest.mark.django_db

WRITE = {"agent": "codex", "session_id": "s-1", "tool_name": "Write", "tool_input": {"file_path": "a.md"}}


@pytest.fixture(autouse=True)
def _in_the_transaction(monkeypatch, acme):
    in_process.stay_in_the_transaction(monkeypatch)
    builders.intent(acme)


def ask(agent, tool="list_active_intents", arguments=None, **headers):
    sent = {"authorization": f"Bearer {agent.secret}"} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    return in_process.ask(sent, tool, arguments or {})


def denied(answer):
    return answer.status == 200 and answer.hook["permissionDecision"] == "deny"


def test_too_many_requests_are_429_and_a_hook_is_denied(agent, settings):
    settings.RATE_PER_MINUTE = 6
    assert ask(agent).status == 200
    answer = ask(agent)
    assert answer.status == 429
    assert int(answer.headers["retry-after"]) >= 1
    refused = ask(agent, "gate_tool_call", WRITE)
    assert denied(refused)
    assert "Too many requests" in refused.hook["permissionDecisionReason"]


def test_a_database_that_is_down_is_503_and_a_hook_is_denied(agent, monkeypatch):
    def down(secret):
        raise DatabaseError("gone, with a password in the text")

    monkeypatch.setattr("sessions.mcp.http.find_bearer", down)
    answer = ask(agent)
    assert answer.status == 503
    assert "password" not in answer.text
    assert denied(ask(agent, "gate_tool_call", WRITE))


def test_a_failing_gate_is_a_denial_that_reveals_nothing(agent, monkeypatch):
    def broken(*_):
        raise RuntimeError("inner secret")

    monkeypatch.setattr("sessions.gate.check.check_steps", broken)
    answer = ask(agent, "gate_tool_call", WRITE)
    assert denied(answer)
    assert "inner secret" not in answer.text


def test_a_hook_after_a_tool_that_fails_is_an_error_result(agent, monkeypatch):
    monkeypatch.setattr("sessions.adapters.dispatch.build_traces", lambda *_: 1 / 0)
    done = WRITE | {"hook_event_name": "PostToolUse", "tool_response": "Success."}
    text, is_error = ask(agent, "gate_tool_call", done).said
    assert is_error
    assert text.startswith("INTERNAL_ERROR: The gate failed")


def test_a_prompt_that_cannot_be_answered_tells_the_model_so(agent):
    prompt = {"agent": "claude-code", "hook_event_name": "UserPromptSubmit", "session_id": "s-1"}
    agent.secret = "icp_wrong"
    assert "revoked" in ask(agent, "gate_tool_call", prompt).hook["additionalContext"]


def test_a_failing_tool_tells_the_model_without_the_cause(agent, monkeypatch):
    monkeypatch.setattr("sessions.mcp.tools.render_available_intents", lambda *_, **__: 1 / 0)
    text, is_error = ask(agent).said
    assert is_error
    assert "division" not in text


def test_plain_http_is_refused_where_the_site_is_https(agent, settings):
    settings.SECURE_SSL_REDIRECT = True
    assert ask(agent).status == 403
    assert ask(agent, x_forwarded_proto="https").status == 200


@pytest.mark.parametrize("name", ["x_icp_session", "x_icp_agent"])
@pytest.mark.parametrize("value", ["a" * 201, "a\u00ad\u0085b"])
def test_headers_that_cannot_be_names_are_refused(agent, name, value):
    sent = value.encode().decode("latin-1")
    assert ask(agent, **{name: sent}).status == 400


def test_a_hook_that_asks_dry_records_nothing(agent):
    answer = ask(agent, "gate_tool_call", WRITE | {"dry_run": "true"})
    assert denied(answer)
    assert agent.get("sessions/s-1").status_code == 404
