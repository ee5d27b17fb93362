"""The files of `.orchestration/` and the first phase's rules (document 3)."""

from __future__ import annotations

import json
import uuid
from datetime import datetime

import pytest
import yaml

from tests.seeds.clients import sha256
from tests.seeds.test_handshake_requirements import MUTATING, call_of
from tests.seeds.test_handshake_stories import CITE


def lines_of(shop):
    return [json.loads(line) for line in shop.text("traces/export?format=orchestration").splitlines()]


@pytest.mark.systems(16, 18)
def test_seed3_file_1__active_intents_yaml_follows_the_work(shop, coder):
    coder.take()
    (intent,) = yaml.safe_load(shop.text("intents/export"))["active_intents"]
    assert (intent["id"], intent["status"], intent["owned_scope"]) == (
        "INT-001",
        "IN_PROGRESS",
        ["src/auth/**"],
    )
    coder.api("POST", f"sessions/{coder.session}/complete-intent", {"verification_notes": "Tests pass."})
    shop.decide()
    (intent,) = yaml.safe_load(shop.text("intents/export"))["active_intents"]
    assert intent["status"] == "COMPLETED"


@pytest.mark.systems(19)
def test_seed3_file_2__agent_trace_jsonl_has_a_line_for_each_write(shop, coder):
    coder.take()
    for number in (1, 2):
        coder.wrote(f"src/auth/{number}.ts", f"const n = {number};\n")
    lines = lines_of(shop)
    assert [line["files"][0]["relative_path"] for line in lines] == ["src/auth/1.ts", "src/auth/2.ts"]
    line = lines[0]
    assert uuid.UUID(line["id"]).version == 4
    assert datetime.fromisoformat(line["timestamp"]).tzinfo
    assert set(line["vcs"]) == {"revision_id"}
    (conversation,) = line["files"][0]["conversations"]
    assert conversation["url"]
    assert conversation["contributor"]["entity_type"] == "AI"
    assert conversation["ranges"][0]["content_hash"] == sha256("const n = 1;\n")
    assert conversation["related"] == [{"type": "specification", "value": "INT-001"}]


@pytest.mark.systems(22, 39)
def test_seed3_file_3__intent_map_md_says_where_an_intent_lives(shop, coder):
    coder.take()
    coder.wrote("src/auth/login.ts", "export function login(): void {}\nexport class Session {}\n")
    text = shop.text("intent-map?format=markdown")
    assert text.startswith("# Intent Map\n")
    assert "## INT-001: Sign-in INT-001" in text
    assert "- `src/auth/login.ts` (`login`, `Session`)" in text


@pytest.mark.systems(23)
def test_seed3_file_4__agent_md_keeps_lessons_and_decisions_for_all_sessions(shop, rest):
    rest.take()
    told = {"path": "src/auth/a.ts", "content": "x\n", "problems": "eslint: no-unused-vars"}
    assert rest.api("POST", f"sessions/{rest.session}/traces", told)[0] == 201
    assert (
        rest.api("POST", "lessons", {"section": "decision", "problems": "Money is kept in cents."})[0] == 201
    )
    text = shop.text("lessons?format=markdown")
    assert "## Lesson Learned (" in text
    assert "**File:** src/auth/a.ts\n**Problems:**\neslint: no-unused-vars" in text
    assert "## Architectural Decision (" in text
    rest.api("POST", f"sessions/{rest.session}/end")
    assert "no-unused-vars" in shop.agent().take()["context"]


@pytest.mark.systems(15)
def test_seed3_flow__request_reasoning_action(rest):
    assert rest.gate("read_file", path="README.md").body["state"] == "REASONING"
    assert rest.gate("write_to_file", path="src/auth/a.ts", content="x").body["state"] == "REASONING"
    assert rest.gate("select_active_intent", intent_id="INT-001").body["state"] == "ACTION"
    assert rest.gate("write_to_file", path="src/auth/a.ts", content="x").body["state"] == "ACTION"


@pytest.mark.parametrize("tool", MUTATING)
def test_seed3_gate_1__destructive_tools_without_an_intent(rest, tool):
    assert rest.gate(tool, **call_of(tool)).body["error"].startswith(CITE)


@pytest.mark.parametrize("cited", ["INT-777", "INT-002"])
def test_seed3_gate_2__destructive_tools_that_cite_another_intent(shop, rest, cited):
    shop.intent("INT-002", owned_scope=["docs/**"])
    rest.take()
    answer = rest.gate("write_to_file", path="src/auth/a.ts", content="x", intent_id=cited)
    assert (answer.body["error_type"], answer.body["reason"]) == ("MISSING_OR_INVALID_INTENT", "mismatch")


@pytest.mark.parametrize("tool", MUTATING)
def test_seed3_gate_3__destructive_tools_with_a_valid_intent(rest, tool):
    rest.take()
    assert rest.gate(tool, **call_of(tool)).ran


def test_seed3_gate_4__read_only_tools_need_no_intent(rest):
    for tool in ("read_file", "list_files", "search_files", "codebase_search"):
        assert rest.gate(tool, path="src").ran, tool
    assert rest.gate("select_active_intent", intent_id="INT-001").ran


def test_seed3_gate_5__a_file_that_cannot_be_read_denies(disk, tmp_path):
    (tmp_path / ".orchestration" / ".intentignore").mkdir()
    answer = disk.agent().gate("write_to_file", path="src/auth/a.ts", content="x")
    assert (answer.decision, answer.body["error_type"]) == ("deny", "HOOK_BLOCKED")


def test_seed3_gate_6__the_intent_is_looked_up_on_every_call(shop, rest):
    rest.take()
    assert rest.write("src/auth/a.ts").ran
    assert shop.load(
        {"active_intents": [{"id": "INT-002", "name": "n", "status": "PENDING", "owned_scope": ["a"]}]}
    )["applied"]
    answer = rest.write("src/auth/a.ts")
    assert (answer.body["error_type"], answer.body["reason"]) == ("MISSING_OR_INVALID_INTENT", "not_found")


@pytest.mark.systems(13)
def test_seed3_edge_1__an_unknown_tool_is_destructive(rest):
    """The document lets unknown tools run; the contract settles that they are destructive."""
    assert not rest.gate("teleport", to="production").ran


def test_seed3_edge_2__ids_are_compared_with_their_case(coder):
    assert not coder.select("int-001").ran
    assert coder.select("INT-001").ran


@pytest.mark.systems(29)
def test_seed3_future_1__history_comes_with_the_handshake_and_with_every_prompt(shop, coder):
    coder.take()
    coder.wrote("src/auth/a.ts")
    assert "src/auth/a.ts" in coder.prompt().split("<recent_history>")[1]
    coder.api("POST", f"sessions/{coder.session}/end")
    later = shop.agent().take()
    assert any("src/auth/a.ts" in entry["summary"] for entry in later["history"])
    assert all(entry["at"] for entry in later["history"])
