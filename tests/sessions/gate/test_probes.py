"""The probes of tests/data/gate_probes.jsonl that need a server with sessions."""

from __future__ import annotations

import pytest

from tests import builders
from tests.policy import gate_probes

pytestmark = pytest.mark.django_db
LINES = {line["id"]: line for line in gate_probes.load() if line["kind"] in gate_probes.OVER_REST}


@pytest.fixture
def disk(tmp_path):
    for name in ("acme", "acme-wt"):
        (tmp_path / name / "src" / "auth").mkdir(parents=True)
        (tmp_path / name / "src" / "auth" / "login.ts").write_text("x")
    return tmp_path


def test_each_of_these_lines_is_sent():
    assert sorted(LINES) == ["c201", "c500", "c502"]


def test_an_approval_for_once_does_not_answer_for_ever(acme, agent, reviewer):
    """c201: approve once, send the call, report it, send it again."""
    builders.intent(acme)
    agent.select("INT-001")
    call = {"command": LINES["c201"]["tool_input"]["command"], "tool_use_id": "t-1"}
    approval = agent.gate("Bash", **call)["approval"]["id"]
    reviewer.post(f"approvals/{approval}/decide", {"action": "approve"})
    assert agent.gate("Bash", **call)["decision"] == "allow"
    report = {
        "hook_event_name": "PostToolUse",
        "session_id": "s-1",
        "tool_name": "Bash",
        "tool_input": {"command": call["command"]},
        "tool_use_id": "t-1",
        "tool_response": {"stdout": "", "stderr": ""},
    }
    headers = {"Authorization": f"Bearer {agent.secret}"}
    answer = agent.client.post(
        "/hooks/claude-code/PostToolUse", report, content_type="application/json", headers=headers
    )
    assert answer.status_code == 200
    assert agent.gate("Bash", **call)["decision"] == "ask"


@pytest.mark.parametrize("line", ["c500", "c502"])
def test_a_root_that_is_another_folder_is_not_believed(disk, line):
    workspace = builders.workspace("rooted", local_root=str(disk / "acme"))
    builders.intent(workspace)
    speaker = builders.speaker(workspace)
    root = "/" if line == "c500" else str(disk / "acme-wt")
    speaker.post("sessions", {"session_id": "s-1", "root": root})
    speaker.post("sessions/s-1/select-intent", {"intent_id": "INT-001"})
    data = LINES[line]["tool_input"]
    path = data["file_path"].replace("@ROOT@", str(disk / "acme"))
    answer = speaker.gate("Write", file_path=path, content="x")
    assert answer["decision"] in {"ask", "deny"}
