"""The handshake's functional requirements and success criteria (document 1)."""

from __future__ import annotations

import pytest

from tests.seeds.test_handshake_stories import CITE, MANDATE

MUTATING = (
    "write_to_file",
    "edit_file",
    "edit",
    "search_replace",
    "apply_diff",
    "apply_patch",
    "execute_command",
)


def call_of(tool, path="src/auth/a.ts"):
    """Return what these tools are sent."""
    if tool == "execute_command":
        return {"command": f"touch {path}"}
    if tool == "apply_patch":
        return {"patch": f"*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\n"}
    return {
        "path": path,
        "file_path": path,
        "content": "x",
        "diff": "x",
        "old_string": "a",
        "new_string": "b",
    }


def test_seed1_fr_001__the_tool_takes_an_id_and_returns_the_context(rest):
    answer = rest.gate("select_active_intent", intent_id="INT-001")
    assert answer.ran
    assert '<intent_context intent_id="INT-001">' in answer.body["context"]


@pytest.mark.systems(3)
@pytest.mark.parametrize("tool", MUTATING)
def test_seed1_fr_002__every_mutating_tool_is_blocked_until_an_intent_is_taken(rest, tool):
    assert rest.gate(tool, **call_of(tool)).body["error_type"] == "MISSING_OR_INVALID_INTENT"
    rest.take()
    assert rest.gate(tool, **call_of(tool)).body["error_type"] != "MISSING_OR_INVALID_INTENT"


@pytest.mark.systems(2)
def test_seed1_fr_003__the_context_holds_every_field_and_the_history(shop, rest):
    rest.take()
    rest.wrote("src/auth/a.ts")
    rest.api("POST", f"sessions/{rest.session}/end")
    context = shop.agent().take()["context"]
    for element in ("name", "status", "owned_scope", "constraints", "acceptance_criteria", "references", "files",
                    "recent_history", "lessons"):  # fmt: skip
        assert f"<{element}>" in context
    assert "src/auth/a.ts" in context.split("<recent_history>")[1]


@pytest.mark.systems(7)
def test_seed1_fr_004__the_section_comes_before_every_request(coder):
    assert all(MANDATE in coder.prompt() for _ in range(2))


def test_seed1_fr_005__available_intents_are_in_the_section(shop, coder):
    shop.intent("INT-002", owned_scope=["docs/**"])
    shop.intent("INT-003", owned_scope=["web/**"])
    shop.change("INT-003", status="ABANDONED")
    prompt = coder.prompt()
    assert "INT-001" in prompt
    assert "INT-002" in prompt
    assert "INT-003" not in prompt


def test_seed1_fr_006__the_intents_context_is_in_every_request_after_the_selection(coder):
    coder.take()
    for _ in range(2):
        prompt = coder.prompt()
        assert "No new dependency" in prompt
        assert "<recent_history>" in prompt


@pytest.mark.systems(1)
@pytest.mark.parametrize(
    ("status", "word"), [("COMPLETED", "completed"), ("ABANDONED", "abandoned"), ("BLOCKED", "API keys")]
)
def test_seed1_fr_007__intents_that_are_not_active_are_refused_with_the_reason(shop, rest, status, word):
    document = {
        "id": "INT-001",
        "name": "n",
        "status": status,
        "owned_scope": ["a/**"],
        "blocked_reason": "API keys",
    }
    assert shop.load({"active_intents": [document]})["applied"]
    answer = rest.take()
    assert (answer["success"], answer["error_type"]) == (False, "MISSING_OR_INVALID_INTENT")
    assert word in answer["error"]
    for malformed in ("int-1", "INT-\u0660\u0660\u0661", ""):
        assert "INT-001" in rest.gate("select_active_intent", intent_id=malformed).text


@pytest.mark.systems(8)
def test_seed1_fr_008__tools_are_offered_by_the_sessions_state(rest):
    tools = (
        "read_file",
        "list_files",
        "write_to_file",
        "execute_command",
        "apply_patch",
        "select_active_intent",
    )
    assert rest.preflight(*tools)["tools"] == ["read_file", "list_files", "select_active_intent"]
    rest.take()
    assert rest.preflight(*tools)["tools"] == list(tools)


@pytest.mark.systems(3)
def test_seed1_fr_009__the_error_begins_with_the_sentence(rest):
    for tool in ("write_to_file", "use_mcp_tool", "mcp__linear__create_issue", "no_such_tool"):
        assert rest.gate(tool, path="src/auth/a.ts").body["error"].startswith(CITE)


def test_seed1_fr_010__the_context_is_sent_again_with_each_request(coder):
    coder.take()
    assert all("src/auth/**" in coder.prompt() for _ in range(3))


@pytest.mark.systems(10)
def test_seed1_fr_011__a_broken_registry_file_is_reported_and_nothing_crashes(disk, tmp_path):
    file = tmp_path / ".orchestration" / "active_intents.yaml"
    file.write_text("active_intents: [")
    status, output = disk.server.command("sync_orchestration", "--workspace", disk.slug)
    assert status != 0
    assert "Line 2" in output
    answer = disk.agent().take()
    assert (answer["success"], answer["error_type"]) == (False, "ORCHESTRATION_UNAVAILABLE")
    file.write_text(disk.text("intents/export"))
    assert disk.server.command("sync_orchestration", "--workspace", disk.slug)[0] == 0
    assert disk.agent().take()["success"]


@pytest.mark.systems(7)
def test_seed1_fr_012__the_section_turns_from_the_mandate_to_the_intent(coder):
    before = coder.prompt()
    coder.take()
    after = coder.prompt()
    assert (MANDATE in before, MANDATE in after) == (True, False)
    assert '<intent_context intent_id="INT-001">' in after


@pytest.mark.systems(4)
def test_seed1_fr_013__a_second_selection_is_refused(shop, rest):
    shop.intent("INT-002", owned_scope=["docs/**"])
    rest.take()
    answer = rest.gate("select_active_intent", intent_id="INT-002")
    assert (answer.body["error_type"], answer.body["action_hint"]) == ("INTENT_LOCKED", "start_new_session")
    again = rest.take("INT-001")
    assert again["error_type"] == "INTENT_LOCKED"
    assert '<intent_context intent_id="INT-001">' in again["context"]


@pytest.mark.systems(6)
def test_seed1_fr_014__a_path_that_no_pattern_matches_is_a_scope_violation(coder):
    coder.take()
    for answer in (coder.write("docs/design.md"), coder.shell("echo x > docs/design.md")):
        assert not answer.ran
        assert "Scope Violation" in answer.text
    assert coder.write("src/auth/a.ts").ran


@pytest.mark.systems(6)
def test_seed1_fr_015__creating_and_deleting_are_bound_by_the_scope_too(coder):
    coder.take()
    assert coder.write("src/auth/created.ts").ran
    assert coder.shell("rm src/auth/created.ts").ran
    for answer in (
        coder.write("src/created.ts"),
        coder.shell("rm docs/a.md"),
        coder.shell("mv src/auth/a.ts b.ts"),
    ):
        assert not answer.ran


def test_seed1_sc_001__no_session_changes_anything_before_its_handshake(coder):
    assert not coder.write("src/auth/a.ts").ran
    assert not coder.shell("touch src/auth/a.ts").ran
    coder.take()
    assert coder.write("src/auth/a.ts").ran


@pytest.mark.systems(2)
def test_seed1_sc_002__no_field_of_the_context_is_missing(shop, rest):
    answer = rest.take()
    fields = {"id", "name", "status", "owned_scope", "constraints", "acceptance_criteria", "references"}
    assert fields <= set(answer["intent"])
    assert {"history", "files", "context"} <= set(answer)


@pytest.mark.systems(3)
def test_seed1_sc_003__nothing_gets_around_the_handshake(rest):
    commands = (
        "rm -rf .",
        "echo x>a",
        "sh -c 'touch a'",
        "git commit -am x",
        "python -c 'open(1)'",
        "$(echo rm) a",
    )
    for command in commands:
        assert not rest.shell(command).ran, command
    for tool in (*MUTATING[:-1], "WRITE_TO_FILE", "mcp__fs__write", "unknown"):
        assert not rest.gate(tool, **call_of(tool)).ran, tool


def test_seed1_sc_004__each_state_has_its_section(shop, coder):
    assert MANDATE in coder.prompt()
    coder.take()
    assert MANDATE not in coder.prompt()
    shop.change(status="COMPLETED")
    assert "INT-001" in coder.prompt()
    assert "<owned_scope>" not in coder.prompt()


def test_seed1_sc_005__scope_and_constraints_last_for_more_than_ten_turns(coder):
    coder.take()
    for turn in range(11):
        coder.write(f"src/auth/{turn}.ts")
        prompt = coder.prompt()
        assert "No new dependency" in prompt
        assert "src/auth/**" in prompt


@pytest.mark.systems(1)
def test_seed1_sc_006__invalid_ids_are_always_refused(shop, coder):
    for intent_id in ("INT-777", "int-1", "INT-\u0660\u0660\u0661", "../INT-001"):
        assert not coder.select(intent_id).ran


@pytest.mark.systems(10)
def test_seed1_sc_007__broken_registry_files_never_crash_the_server(disk, tmp_path):
    file = tmp_path / ".orchestration" / "active_intents.yaml"
    for data in (b"\xff\xfe", b"", b"- 1", b"active_intents: 5", b"a: &a [*a]", b"active_intents: [{}]"):
        file.write_bytes(data)
        assert disk.server.command("sync_orchestration", "--workspace", disk.slug)[0] != 0
        assert disk.agent().write("src/auth/a.ts").decision == "deny"
    assert disk.admin("GET", "intents")[0] == 200


def test_seed1_sc_008__the_handshake_adds_less_than_two_seconds(shop, coder):
    """Seconds of the server's processor, so that what the machine does besides adds nothing."""
    agent, before = shop.agent(coder.client), shop.server.count_processor_seconds()
    agent.prompt()
    assert agent.select("INT-001").ran
    assert agent.write("src/auth/a.ts").ran
    assert shop.server.count_processor_seconds() - before < 2
