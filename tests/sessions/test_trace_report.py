"""Who made a change, in its entry and in Agent Trace: agent, version, model and lines, where they are known."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from tests import builders
from tests.sessions.adapters import captured
from traces.entries import render
from traces.models import LedgerEntry

pytestmark = pytest.mark.django_db

HASH = "sha256:" + "ab" * 32


@pytest.fixture
def working(acme, agent):
    builders.intent(acme, owned_scope=["**"])
    return agent


def opened(agent, **who):
    agent.post("sessions", {"session_id": "s-1", "agent": who})
    agent.post("sessions/s-1/select-intent", {"intent_id": "INT-001"})


def report(agent, **fields):
    answer = agent.post("sessions/s-1/traces", {"path": "src/a.md", **fields})
    assert answer.status_code in {200, 201}, answer.content
    return answer.json()["entry"]


def exported(agent):
    lines = b"".join(agent.get("traces/export", format="agent-trace").streaming_content).splitlines()
    return json.loads(lines[-1])


def test_the_tool_is_the_agent_of_the_session_and_the_model_its_model(working):
    opened(working, name="claude-code", version="2.1.332", model="claude-opus-4")
    entry = report(working, content="a\nb\n")
    assert entry["tool"] == {"name": "claude-code", "version": "2.1.332"}
    record = exported(working)
    assert record["tool"] == {"name": "claude-code", "version": "2.1.332"}
    (conversation,) = record["files"][0]["conversations"]
    assert conversation["contributor"] == {"type": "ai", "model_id": "anthropic/claude-opus-4"}
    assert [(one["start_line"], one["end_line"]) for one in conversation["ranges"]] == [(1, 2)]


def test_a_hook_names_its_client_and_no_model(working):
    opened(working, name="claude-code")
    payload = captured.one("claude-code", "PostToolUse-Write").payload | {"session_id": "s-1"}
    headers = {"Authorization": f"Bearer {working.secret}"}
    working.client.post(
        "/hooks/claude-code/PostToolUse", payload, content_type="application/json", headers=headers
    )
    record = exported(working)
    assert record["tool"]["name"] == "claude-code"
    assert record["files"][0]["conversations"][0]["contributor"] == {"type": "ai"}
    assert working.get("traces").json()["results"][0]["ledger"]["session_id"] == "s-1"


@pytest.mark.parametrize("content_hash", [HASH, "DELETED"])
def test_lines_that_are_not_known_are_no_range(working, content_hash):
    opened(working, name="claude-code")
    (file,) = report(working, content_hash=content_hash)["files"]
    assert (file["content_hash"], file["conversations"][0]["ranges"]) == (content_hash, [])
    assert exported(working)["files"][0]["conversations"][0]["ranges"] == []


def test_lines_that_are_known_hold_the_hash(working):
    opened(working, name="claude-code")
    (file,) = report(working, content_hash=HASH, start_line=3, end_line=4)["files"]
    expected = {"start_line": 3, "end_line": 4, "content_hash": HASH}
    assert file["conversations"][0]["ranges"] == [expected]
    assert "content_hash" not in file


def test_a_hash_without_lines_is_the_files_newest(working):
    opened(working, name="claude-code")
    report(working, content_hash=HASH)
    stale = working.gate(
        "Write", file_path="src/a.md", content="x", expected_content_hash="sha256:" + "0" * 64
    )
    assert stale["error_type"] == "STALE_FILE"


def test_the_same_report_under_a_newer_version_is_the_same_entry(working):
    opened(working, name="claude-code", version="1")
    first = report(working, content="a", tool_use_id="t-1")
    working.post("sessions", {"session_id": "s-1", "agent": {"name": "claude-code", "version": "2"}})
    assert report(working, content="a", tool_use_id="t-1")["id"] == first["id"]


@pytest.mark.parametrize("content_hash", [HASH, "DELETED"])
def test_the_outline_of_an_archived_entry_keeps_the_hash(working, content_hash):
    opened(working, name="claude-code")
    report(working, content_hash=content_hash)
    (row,) = LedgerEntry.objects.filter(kind="trace")
    (file,) = render._build_outline(row, SimpleNamespace(file="a.gz", seq=1))["files"]
    assert (file["content_hash"], file["conversations"][0]["ranges"]) == (content_hash, [])
