"""The protocol of document 5: the handshake's tool, the gatekeeper, its open questions and its risks."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.live import LiveServer
from tests.seeds.clients import CLIENTS
from tests.seeds.conftest import Shop
from tests.seeds.test_handshake_requirements import call_of
from tests.sessions.mcp.conversing import post

FILE_TOOLS = ("write_to_file", "apply_diff", "edit_file", "edit", "apply_patch")
LIST_TOOLS = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
# A change by a sub-agent of each client that says which conversation began it
SUBAGENTS = {
    "claude-code": "PreToolUse-Write-subagent",
    "qwen-code": "PreToolUse-write_file-subagent",
    "copilot": "preToolUse-create-subagent",
    "cline": "PreToolUse-editor-subagent",
}


def list_tools(shop):
    status, text = post(shop.server, shop.tokens["agent"], LIST_TOOLS)
    assert status == 200
    body = text if text.startswith("{") else text.split("data: ", 1)[1].splitlines()[0]
    return {tool["name"]: tool for tool in json.loads(body)["result"]["tools"]}


@pytest.mark.systems(31)
def test_seed5_tool_1__the_tool_takes_one_id_and_says_when_it_must_be_called(shop):
    tool = list_tools(shop)["select_active_intent"]
    assert "intent_id" in tool["inputSchema"]["required"]
    assert tool["inputSchema"]["properties"]["intent_id"]["type"] == "string"
    assert "intent" in tool["description"].lower()


@pytest.mark.systems(2)
def test_seed5_tool_2__success_brings_context_and_intent(rest):
    answer = rest.take()
    assert answer["success"]
    for part in (
        '<intent_context intent_id="INT-001">',
        "<owned_scope>",
        "<constraints>",
        "<acceptance_criteria>",
    ):
        assert part in answer["context"]
    intent = answer["intent"]
    assert (intent["id"], intent["name"], intent["status"]) == ("INT-001", "Sign-in INT-001", "IN_PROGRESS")
    assert (intent["owned_scope"], intent["constraints"]) == (["src/auth/**"], ["No new dependency"])


@pytest.mark.systems(1)
def test_seed5_error_1__not_found_lists_the_available_ids(shop, either):
    shop.intent("INT-002", owned_scope=["docs/**"])
    answer = either.select("INT-999")
    assert not answer.ran
    assert all(word in answer.text for word in ("INT-999", "INT-001", "INT-002"))


@pytest.mark.systems(1)
@pytest.mark.parametrize("malformed", ["int-1", "INT-01", "INTENT-001", "", "INT-001 "])
def test_seed5_error_2__a_malformed_id_is_told_the_expected_form(rest, malformed):
    answer = rest.take(malformed) if malformed else rest.gate("select_active_intent", intent_id="").body
    assert "INT-001" in answer["error"]
    assert answer["error_type"] == "MISSING_OR_INVALID_INTENT"


@pytest.mark.systems(10)
def test_seed5_error_3__a_registry_file_that_is_gone_is_named(disk, tmp_path):
    file = tmp_path / ".orchestration" / "active_intents.yaml"
    file.write_text(disk.text("intents/export"))
    assert disk.server.command("sync_orchestration", "--workspace", disk.slug)[0] == 0
    file.unlink()
    disk.server.command("sync_orchestration", "--workspace", disk.slug)
    answer = disk.agent().take()
    assert (answer["success"], answer["reason"]) == (False, "missing")
    assert "active_intents.yaml" in answer["error"]


@pytest.mark.systems(10)
def test_seed5_error_4__a_yaml_error_is_told_with_its_line(disk, tmp_path):
    file = tmp_path / ".orchestration" / "active_intents.yaml"
    file.write_text("active_intents:\n  - id: [\n")
    status, output = disk.server.command("sync_orchestration", "--workspace", disk.slug)
    assert status != 0
    assert "Line 3" in output
    assert disk.agent().take()["reason"] == "corrupt"


@pytest.mark.systems(4, 33)
def test_seed5_error_5__a_second_intent_is_refused_in_the_same_session(shop, either):
    shop.intent("INT-002", owned_scope=["docs/**"])
    assert either.select().ran
    answer = either.select("INT-002")
    assert not answer.ran
    assert "INT-001" in answer.text
    assert shop.agent(either.client).select("INT-002").ran


@pytest.mark.systems(1)
def test_seed5_error_6__a_blocked_intent_is_refused_with_its_reason(shop, either):
    shop.change(status="BLOCKED", blocked_reason="Waiting for API keys.")
    answer = either.select()
    assert not answer.ran
    assert "blocked: Waiting for API keys. Select" in answer.text


@pytest.mark.systems(2, 7)
def test_seed5_step_8__the_context_is_in_the_next_request_to_the_model(coder):
    assert coder.select().ran
    assert '<intent_context intent_id="INT-001">' in coder.prompt()


@pytest.mark.systems(3)
@pytest.mark.parametrize("tool", FILE_TOOLS)
def test_seed5_gate_1__no_file_tool_runs_without_an_intent(rest, tool):
    assert rest.gate(tool, **call_of(tool)).body["reason"] == "none_selected"
    rest.take()
    assert rest.gate(tool, **call_of(tool)).ran
    assert rest.gate(tool, **call_of(tool, "docs/a.md")).body["reason"] == "not_in_scope"


@pytest.mark.systems(9)
def test_seed5_gate_2__a_completed_intent_takes_no_more_changes(shop, either):
    either.take()
    assert either.write("src/auth/a.ts").ran
    either.api("POST", f"sessions/{either.session}/complete-intent", {"verification_notes": "Tests pass."})
    shop.decide()
    assert not either.write("src/auth/a.ts").ran
    assert not either.preflight()["ok"]


@pytest.mark.systems(26)
def test_seed5_text_1__without_an_intent_the_text_names_the_step_and_the_intents(shop, either):
    shop.intent("INT-002", owned_scope=["docs/**"])
    answer = either.write("src/auth/a.ts")
    assert all(word in answer.text for word in ("select_active_intent", "INT-001", "INT-002"))


@pytest.mark.systems(6, 26)
def test_seed5_text_2__out_of_scope_the_text_names_patterns_file_and_owner(shop, coder):
    shop.intent("INT-002", owned_scope=["docs/**"])
    coder.take()
    answer = coder.write("docs/design.md")
    assert all(word in answer.text for word in ("INT-001", "src/auth/**", "docs/design.md", "INT-002"))


@pytest.mark.systems(4, 26)
def test_seed5_text_3__a_locked_session_is_told_to_start_a_new_one(shop, either):
    shop.intent("INT-002", owned_scope=["docs/**"])
    assert either.select().ran
    answer = either.select("INT-002")
    assert "INT-001" in answer.text
    assert "new session" in answer.text


@pytest.mark.systems(33)
def test_seed5_question_1__work_on_several_intents_is_one_session_after_another(shop, either):
    shop.intent("INT-002", owned_scope=["docs/**"])
    assert either.select("INT-001").ran
    assert not either.write("docs/a.md").ran
    either.api("POST", f"sessions/{either.session}/end")
    later = shop.agent(either.client)
    assert later.select("INT-002").ran
    assert later.write("docs/a.md").ran


@pytest.mark.systems(18, 40)
def test_seed5_question_2__the_agent_proposes_completion_with_notes_and_a_person_confirms(shop, rest):
    rest.take()
    assert not rest.gate("complete_intent", intent_id="INT-001").ran
    answer = rest.gate("complete_intent", intent_id="INT-001", verification_notes="All 31 tests pass.")
    assert answer.body["approval"]["status"] == "PENDING"
    (card,) = shop.pending()
    assert (card["kind"], card["intent_id"]) == ("completion", "INT-001")
    assert "All 31 tests pass." in json.dumps(card)
    assert shop.admin("GET", "intents/INT-001")[1]["status"] == "IN_PROGRESS"
    shop.decide(comment="Seen.")
    assert shop.admin("GET", "intents/INT-001")[1]["status"] == "COMPLETED"


@pytest.mark.systems(28)
def test_seed5_question_3__a_wider_scope_is_asked_for_by_the_agent_and_given_by_a_person(shop, rest):
    rest.take()
    assert not rest.write("docs/design.md").ran
    answer = rest.gate("request_scope_expansion", patterns=["docs/*.md"], reason="The page describes it.")
    shop.decide(answer.body["approval"]["id"], grant="scope")
    assert rest.write("docs/design.md").ran
    assert not rest.write("docs/deep/a.md").ran
    assert "docs/*.md" in shop.admin("GET", "intents/INT-001")[1]["owned_scope"]


@pytest.mark.systems(31)
def test_seed5_question_4__agents_list_the_intents_with_status_and_filter(shop, rest):
    shop.intent("INT-002", owned_scope=["docs/**"])
    shop.change("INT-002", status="ABANDONED")
    listed = rest.gate("list_active_intents")
    assert listed.ran
    assert "INT-001 [PENDING]" in listed.text
    assert "INT-002" not in listed.text
    assert "INT-002 [ABANDONED]" in rest.gate("list_active_intents", status_filter="ABANDONED").text
    assert "list_active_intents" in list_tools(shop)


@pytest.mark.systems(31)
@pytest.mark.parametrize("client", CLIENTS)
def test_seed5_question_4_clients__the_list_asks_nobody_in_any_client(shop, client):
    coder = shop.agent(client)
    assert coder.hook(CLIENTS[client].select, {"select_active_intent": "list_active_intents"}).ran
    assert shop.pending() == []
    assert coder.select().ran  # the list took nothing


@pytest.mark.systems(34)
@pytest.mark.parametrize("client", CLIENTS)
def test_seed5_risk_1__every_call_gets_an_answer_whatever_its_input(shop, client):
    coder = shop.agent(client)
    coder.take()
    for path in ("src/auth/" + "a" * 5000, "src/auth/\u202e.ts", "", ".", "src/auth/a\x00.ts"):
        assert coder.write(path).decision in {"allow", "ask", "deny"}, path


@pytest.mark.parametrize("client", SUBAGENTS)
def test_seed5_risk_3__a_sub_agent_works_under_the_intent_of_the_conversation_that_began_it(shop, client):
    coder = shop.agent(client)
    ask = SUBAGENTS[client]
    assert not coder.hook(ask, path="src/auth/a.ts", text="x\n").ran
    coder.take()
    assert coder.hook(ask, path="src/auth/b.ts", text="x\n").ran
    assert not coder.hook(ask, path="docs/a.md", text="x\n").ran


def test_seed5_risk_4__parallel_calls_are_each_answered_and_recorded_once(shop, coder):
    coder.take()
    paths = [f"src/auth/{number}.ts" for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert all(answer.ran for answer in pool.map(coder.write, paths))
        list(pool.map(coder.wrote, paths))
    assert sorted(entry["files"][0]["relative_path"] for entry in shop.traces()) == paths


@pytest.mark.deep
def test_seed5_persistence_1__what_was_selected_asked_and_recorded_survives_a_restart(tmp_path):
    server = LiveServer(tmp_path)
    try:
        server.start()
        shop = Shop(server)
        coder = shop.agent("claude-code")
        coder.take()
        coder.wrote("src/auth/a.ts")
        assert not coder.write("docs/a.md").ran
        server.stop()
        server.start()
        assert coder.write("src/auth/a.ts").ran
        assert "src/auth/a.ts" in coder.prompt()
        shop.decide()
        assert coder.write("docs/a.md").ran
        assert len(shop.traces()) == 1
    finally:
        server.close()


def test_seed5_risk_5__a_call_that_was_allowed_and_never_ran_is_no_change(shop, coder):
    coder.take()
    assert coder.write("src/auth/a.ts").ran
    assert shop.traces() == []
    assert "src/auth/a.ts" not in shop.text("intent-map?format=markdown")


def test_seed5_compatible_1__fields_that_a_later_client_adds_are_no_error(shop, rest):
    coder = shop.agent("claude-code")
    coder.take()
    payload = {"session_id": coder.session, "cwd": "/home/dev/shop", "tool_name": "Write", "later_field": {"a": [1]},
               "tool_input": {"file_path": "src/auth/a.ts", "content": "x", "later_option": True}}  # fmt: skip
    assert coder.send("PreToolUse", json.dumps(payload).encode()).ran
