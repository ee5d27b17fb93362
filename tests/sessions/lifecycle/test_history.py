"""What the next session learns of an intent's past, through hooks and through REST."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from tests import builders
from tests.sessions.adapters import captured

pytestmark = pytest.mark.django_db

LAST = "25 refused, last: Write docs/24.md (SCOPE_VIOLATION, not_in_scope)"


class Hooks:
    """Claude Code, as its captured payloads have it."""

    def __init__(self, speaker):
        self.speaker = speaker

    def send(self, name, **fields):
        case = captured.one("claude-code", name)
        payload = case.payload | {"session_id": "s-1"} | fields
        headers = {"Authorization": f"Bearer {self.speaker.secret}"}
        path = f"/hooks/claude-code/{case.event}"
        answer = self.speaker.client.post(path, payload, content_type="application/json", headers=headers)
        assert answer.status_code == 200
        return answer.json()

    def work(self):
        self.send("PostToolUse-Write")
        self.send("PostToolUse-Edit")
        assert self.send("PreToolUse-Bash", tool_input={"command": "echo hi > src/sh.txt"}) == {}

    def be_refused(self, path, number):
        data = {"file_path": f"/workspace/{path}", "content": "x"}
        answer = self.send("PreToolUse-Write", tool_input=data, tool_use_id=f"toolu_{number}")
        assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"


class Rest:
    """The same work by `POST /gate` and `POST /sessions/…/traces`."""

    def __init__(self, speaker):
        self.speaker = speaker

    def work(self):
        for path in ("src/new.txt", "src/a.txt"):
            self.speaker.post("sessions/s-1/traces", {"path": path, "content": "x"})
        assert self.speaker.gate("Bash", command="echo hi > src/sh.txt")["decision"] == "allow"

    def be_refused(self, path, number):
        answer = self.speaker.gate("Write", file_path=path, content="x", tool_use_id=f"t-{number}")
        assert answer["error_type"] == "SCOPE_VIOLATION"


@pytest.fixture(params=[Hooks, pytest.param(Rest, marks=pytest.mark.deep)], ids=["hooks", "rest"])
def refused_often(request, acme, agent):
    """Two edits and a command, then 25 refused writes of other files."""
    builders.intent(acme, owned_scope=["src/**"])
    agent.post("sessions", {"session_id": "s-1", "agent": {"name": "claude-code"}, "root": "/workspace"})
    agent.select("INT-001")
    client = request.param(agent)
    client.work()
    for number in range(25):
        client.be_refused(f"docs/{number}.md", number)
    return agent


def assert_work_comes_first(summaries):
    assert all(text.startswith("changed ") for text in summaries[:2])
    assert summaries[2] == "ran echo hi > src/sh.txt"
    assert summaries[-1] == LAST
    assert [text for text in summaries if "refused" in text or "ask" in text] == [LAST]


def test_refusals_hide_no_edit_from_the_prompt(refused_often):
    prompt = refused_often.get("sessions/s-1/prompt").json()["prompt"]
    root = ET.fromstring(prompt[prompt.index("<intent_context") :])
    assert_work_comes_first([entry.text for entry in root.iterfind("recent_history/entry")])


def test_refusals_hide_no_edit_from_the_next_session(refused_often):
    refused_often.post("sessions/s-1/end", {})
    handshake = refused_often.select("INT-001", session="s-2")
    assert_work_comes_first([item["summary"] for item in handshake["history"]])
    entries = ET.fromstring(handshake["context"]).iterfind("recent_history/entry")
    assert_work_comes_first([entry.text for entry in entries])


def test_a_call_that_was_approved_is_not_among_the_refused(acme, agent, rex):
    builders.intent(acme)
    agent.select("INT-001")
    call = {"file_path": "docs/a.md", "content": "x"}
    approval = agent.gate("Write", **call)["approval"]["id"]
    reviewer = builders.speaker(acme, "reviewer", acts_for=rex)
    reviewer.post(f"approvals/{approval}/decide", {"action": "approve", "grant": "once"})
    assert agent.gate("Write", **call)["decision"] == "allow"
    history = agent.select("INT-001")["history"]
    assert [item["summary"] for item in history if "refused" in item["summary"]] == []
    assert "approval APPROVED: Write" in [item["summary"] for item in history]


def test_reads_are_no_work(acme, agent):
    builders.intent(acme)
    agent.select("INT-001")
    agent.gate("Bash", command="ls src")
    assert [item for item in agent.select("INT-001")["history"] if "ls" in item["summary"]] == []
