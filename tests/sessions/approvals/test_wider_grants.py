"""A wider grant covers at least the very call that it was given for."""

from __future__ import annotations

import pytest

from sessions.models import Approval
from tests import builders
from tests.sessions.adapters import captured

pytestmark = pytest.mark.django_db


@pytest.fixture
def approve(acme, rex):
    """Approve the pending approval with a grant."""
    reviewer = builders.speaker(acme, "reviewer", acts_for=rex)

    def decide(grant):
        approval = Approval.objects.get(status=Approval.Status.PENDING).public_id
        answer = reviewer.post(f"approvals/{approval}/decide", {"action": "approve", "grant": grant})
        assert answer.status_code == 200, answer.content

    return decide


@pytest.fixture(autouse=True)
def registry(acme):
    builders.intent(acme)
    acme.intentignore = ".env\n"
    acme.save()


CALLS = {
    "write": ("Write", {"file_path": "docs/a.md", "content": "x"}),
    "unknown command": ("Bash", {"command": "make all"}),
    "ignored file": ("Write", {"file_path": ".env", "content": "x"}),
    "protected file": ("Write", {"file_path": ".mcp.json", "content": "x"}),
    "unknown tool": ("Frobnicate", {"path": "docs/a.md"}),
}


@pytest.mark.parametrize("grant", ["once", "session"])
@pytest.mark.parametrize("name", CALLS)
def test_the_same_call_runs_without_an_intent(agent, approve, name, grant):
    tool, data = CALLS[name]
    assert agent.gate(tool, **data)["reason"] == "none_selected"
    approve(grant)
    assert agent.gate(tool, **data)["decision"] == "allow"
    if grant == "session":
        assert agent.gate(tool, **data)["decision"] == "allow"


def test_the_next_version_of_the_file_is_covered_too(agent, approve):
    agent.gate("Write", file_path="docs/a.md", content="x")
    approve("session")
    agent.post("sessions/s-1/traces", {"path": "docs/a.md", "content": "x"})
    assert agent.gate("Write", file_path="docs/a.md", content="y")["decision"] == "allow"
    assert agent.gate("Write", file_path="docs/b.md", content="y")["decision"] == "ask"


@pytest.mark.parametrize("grant", ["once", "session"])
@pytest.mark.parametrize("name", ["PreToolUse-Bash", "PreToolUse-Write", "PreToolUse-NotebookEdit"])
def test_the_same_call_of_a_hook_runs(agent, approve, name, grant):
    case = captured.one("claude-code", name)
    headers = {"Authorization": f"Bearer {agent.secret}"}

    def send(call_id):
        payload = case.payload | {"tool_use_id": call_id}
        path = f"/hooks/claude-code/{case.event}"
        answer = agent.client.post(path, payload, content_type="application/json", headers=headers)
        return answer["X-ICP-Decision"]

    assert send("toolu_1") == "ask"
    approve(grant)
    assert send("toolu_2") == "allow"
    if grant == "session":
        assert send("toolu_3") == "allow"
