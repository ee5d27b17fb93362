"""Reading before the handshake (document 2)."""

from __future__ import annotations

import pytest

from tests.seeds.test_handshake_stories import CITE

SAFE = (
    "read_file", "list_files", "search_files", "codebase_search", "read_command_output", "ask_followup_question",
    "switch_mode", "update_todo_list", "attempt_completion",
)  # fmt: skip
MUTATING = (
    "write_to_file",
    "edit_file",
    "apply_diff",
    "execute_command",
    "run_command",
    "use_mcp_tool",
    "unheard_of",
)
REQUEST, REASONING = "REQUEST", "REASONING"


def look(agent):
    """Make a safe call, which takes the session from REQUEST to REASONING."""
    assert agent.gate("read_file", path="README.md").ran


def state_of(agent):
    return agent.api("GET", f"sessions/{agent.session}")[1]["state"]


@pytest.mark.systems(12)
def test_seed2_us1_1__files_are_listed_without_an_intent(rest):
    look(rest)
    assert state_of(rest) == REASONING
    assert rest.gate("list_files", path="src").ran


@pytest.mark.systems(12)
def test_seed2_us1_2__files_are_read_without_an_intent(coder):
    assert coder.read("README.md").ran
    assert coder.read("src/deep/a.ts").ran


@pytest.mark.systems(12)
def test_seed2_us1_3__code_is_searched_as_the_first_call(rest):
    answer = rest.gate("codebase_search", query="where is billing?")
    assert answer.ran
    assert answer.body["classification"] == "safe"


def test_seed2_us2_1__after_reading_a_write_still_needs_an_intent(coder):
    assert coder.read("README.md").ran
    answer = coder.write("src/auth/a.ts")
    assert not answer.ran
    assert CITE in answer.text


def test_seed2_us2_2__a_command_is_blocked_as_the_first_call(coder):
    assert not coder.shell("npm publish").ran


@pytest.mark.systems(13)
def test_seed2_edge_1__a_tool_that_is_reclassified_is_blocked_on_the_next_call(shop, rest):
    shop.policy(tool_classes={"lookup": "SAFE"})
    assert rest.gate("lookup").ran
    shop.policy(tool_classes={"lookup": "DESTRUCTIVE"})
    assert not rest.gate("lookup").ran
    shop.policy(tool_classes={"lookup": "SAFE", "mcp__github__get_*": "SAFE"})
    assert rest.gate("mcp__github__get_issue").ran


@pytest.mark.systems(13)
def test_seed2_edge_2__mcp_tools_are_destructive_unless_policy_says_otherwise(shop, rest):
    for tool in ("mcp__linear__create_issue", "use_mcp_tool", "mcp__icp2__anything"):
        assert rest.gate(tool).body["classification"] == "destructive"
    status, _ = shop.admin("PATCH", "policy", {"tool_classes": {"write_to_file": "SAFE"}})
    assert status == 400


@pytest.mark.systems(10)
def test_seed2_edge_3__without_a_registry_even_reading_is_denied(disk, tmp_path):
    file = tmp_path / ".orchestration" / "active_intents.yaml"
    file.write_text(disk.text("intents/export"))
    assert disk.server.command("sync_orchestration", "--workspace", disk.slug)[0] == 0
    file.unlink()
    disk.server.command("sync_orchestration", "--workspace", disk.slug)
    for tool in SAFE:
        assert disk.agent().gate(tool, path="README.md").decision == "deny", tool
    assert "registry" in disk.agent().gate("select_active_intent", intent_id="INT-001").text


@pytest.mark.systems(14)
def test_seed2_clar_1__a_question_is_answered_without_an_intent(rest):
    look(rest)
    assert rest.gate("attempt_completion", result="It is in src/billing.").ran


def test_seed2_clar_2__any_file_of_the_workspace_may_be_read_and_none_outside(coder):
    assert coder.read("docs/internal/plan.md").ran
    assert not coder.read("../elsewhere/a.txt").ran


@pytest.mark.systems(12, 13)
def test_seed2_fr_001__every_call_is_classified(rest):
    for tool in SAFE:
        assert rest.gate(tool, path="README.md").body["classification"] == "safe", tool
    for tool in MUTATING:
        assert rest.gate(tool, path="src/auth/a.ts").body["classification"] == "destructive", tool
    assert rest.gate("select_active_intent", intent_id="INT-001").body["classification"] == "handshake"


@pytest.mark.systems(12, 15)
def test_seed2_fr_002__safe_tools_run_in_both_states(shop):
    for tool in SAFE:
        agent = shop.agent()
        assert agent.gate(tool, path="README.md").ran, tool  # as the first call: REQUEST
        assert state_of(agent) == REASONING
        assert agent.gate(tool, path="README.md").ran, tool


@pytest.mark.systems(15)
def test_seed2_fr_003__all_others_are_blocked_in_both_states_but_the_handshake(shop):
    for tool in MUTATING:
        agent = shop.agent()
        assert not agent.gate(tool, path="src/auth/a.ts").ran, tool
        look(agent)
        assert not agent.gate(tool, path="src/auth/a.ts").ran, tool
    assert shop.agent().gate("select_active_intent", intent_id="INT-001").ran


@pytest.mark.systems(8)
def test_seed2_fr_004__safe_tools_are_offered_before_the_handshake(rest):
    assert rest.preflight(*SAFE, "write_to_file")["tools"] == list(SAFE)


@pytest.mark.systems(7)
def test_seed2_fr_005__the_section_says_what_is_permitted_before_the_handshake(coder):
    assert (
        "Analysis and read-only actions are permitted, but an active intent is still required for mutations"
        " (writes/commands)." in coder.prompt()
    )


@pytest.mark.systems(36)
def test_seed2_fr_006__every_call_leaves_a_record_of_its_decision(shop, coder):
    before = shop.reviewer("GET", "ledger")[1]["size"]
    coder.read("README.md")
    coder.write("src/auth/a.ts")
    size = shop.reviewer("GET", "ledger")[1]["size"]
    verified = shop.reviewer("GET", "ledger/verify")[1]
    assert verified["ok"]
    assert verified["size"] + verified["unsealed"] >= before + 3  # the session and two decisions
    assert size >= before


@pytest.mark.systems(15)
def test_seed2_fr_007__the_session_acts_only_once_an_intent_is_taken(rest):
    states = [rest.preflight() and state_of(rest)]
    look(rest)
    states.append(state_of(rest))
    rest.take()
    states.append(state_of(rest))
    rest.api("POST", f"sessions/{rest.session}/end")
    states.append(state_of(rest))
    assert states == ["REQUEST", "REASONING", "ACTION", "ENDED"]


@pytest.mark.systems(14)
def test_seed2_fr_008__completion_is_a_safe_tool(rest):
    answer = rest.gate("attempt_completion", result="Done.")
    assert (answer.decision, answer.body["classification"]) == ("allow", "safe")


@pytest.mark.systems(12, 24)
def test_seed2_fr_009__ignored_files_are_held_off_from_reading_too(shop, coder):
    shop.ignore("secrets/\n*.pem\n")
    assert coder.read("src/a.ts").ran
    assert not coder.read("secrets/plan.md").ran
    assert not coder.read("keys/server.pem").ran


def test_seed2_sc_001__all_safe_tools_run_before_the_handshake(rest):
    refused = [tool for tool in SAFE if not rest.gate(tool, path="README.md").ran]
    assert refused == []


def test_seed2_sc_002__no_other_tool_runs_before_the_handshake(rest):
    ran = [tool for tool in MUTATING if rest.gate(tool, path="src/auth/a.ts").ran]
    assert ran == []


def test_seed2_sc_003__the_section_tells_analysis_from_mutation(coder):
    prompt = coder.prompt()
    assert "read-only actions are permitted" in prompt
    assert "required for mutations" in prompt


def test_seed2_sc_004__listing_works_in_a_new_session(coder):
    assert coder.shell("ls src").ran


def test_seed2_sc_005__an_informational_task_ends_without_an_intent(rest):
    look(rest)
    assert rest.gate("attempt_completion", result="42").ran
    assert rest.api("GET", f"sessions/{rest.session}")[1]["intent_id"] is None
