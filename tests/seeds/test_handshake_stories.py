"""The handshake's user stories, edge cases and clarifications (document 1)."""

from __future__ import annotations

import pytest

from tests.seeds.clients import sha256
from tests.seeds.conftest import Shop

MANDATE = (
    "You are an Intent-Driven Architect. You CANNOT write code immediately. Your first action MUST be to analyze the"
    " user request and call select_active_intent to load the necessary context."
)
CITE = "You must cite a valid active Intent ID."


def test_seed1_us1_1__the_prompt_sends_the_agent_to_the_handshake_first(shop, coder):
    assert MANDATE in coder.prompt()
    assert coder.select("INT-001").ran
    assert coder.write("src/auth/a.ts").ran


@pytest.mark.systems(3)
def test_seed1_us1_2__a_mutation_before_the_handshake_is_blocked(coder):
    for answer in (coder.write("src/auth/a.ts"), coder.shell("rm -f src/auth/a.ts")):
        assert not answer.ran
        assert CITE in answer.text


@pytest.mark.systems(1)
def test_seed1_us1_3__an_unknown_id_is_named_and_the_known_ones_are_listed(shop, coder):
    shop.intent("INT-002", owned_scope=["docs/**"])
    answer = coder.select("INT-777")
    assert not answer.ran
    for word in ("INT-777", "INT-001", "INT-002"):
        assert word in answer.text


@pytest.mark.systems(2)
def test_seed1_us2_1__the_handshake_answers_with_the_whole_context(rest):
    answer = rest.take()
    for part in ("<name>Sign-in INT-001</name>", "<status>IN_PROGRESS</status>", "<pattern>src/auth/**</pattern>",
                 "<constraint>No new dependency</constraint>", "<criterion>All tests pass</criterion>",
                 "docs/auth.md"):  # fmt: skip
        assert part in answer["context"]


@pytest.mark.systems(2, 29)
def test_seed1_us2_2__earlier_work_is_summed_up_and_refusals_do_not_hide_it(shop, rest):
    rest.take()
    rest.write("src/auth/a.ts")
    rest.wrote("src/auth/a.ts")
    for number in range(25):
        assert not rest.write(f"docs/{number}.md").ran
    rest.api("POST", f"sessions/{rest.session}/end")
    history = shop.agent().take()["context"].split("<recent_history>")[1].split("</recent_history>")[0]
    assert "src/auth/a.ts" in history
    assert "refused" in history


@pytest.mark.systems(2)
def test_seed1_us2_3__files_touched_before_come_with_their_hashes(shop, coder):
    coder.take()
    coder.wrote("src/auth/a.ts", "one\n")
    coder.api("POST", f"sessions/{coder.session}/end")
    files = shop.agent().take()["files"]
    assert [(file["path"], file["content_hash"]) for file in files] == [("src/auth/a.ts", sha256("one\n"))]


@pytest.mark.systems(7)
def test_seed1_us3_1__the_governance_section_reaches_the_model_word_for_word(coder):
    assert MANDATE in coder.prompt()


@pytest.mark.systems(7)
def test_seed1_us3_2__the_section_lists_intents_with_names_and_descriptions(shop, coder):
    shop.intent("INT-002", owned_scope=["docs/**"])
    prompt = coder.prompt()
    for intent_id in ("INT-001", "INT-002"):
        assert f"{intent_id} [PENDING]: Sign-in {intent_id} - What {intent_id} is for" in prompt


@pytest.mark.systems(7)
def test_seed1_us3_3__after_the_selection_the_section_shows_the_intent_and_no_mandate(coder):
    coder.take()
    prompt = coder.prompt()
    assert MANDATE not in prompt
    assert "INT-001" in prompt
    assert "src/auth/**" in prompt


def test_seed1_us4_1__each_prompt_carries_constraints_and_scope(coder):
    coder.take()
    prompt = coder.prompt()
    assert "No new dependency" in prompt
    assert "src/auth/**" in prompt


def test_seed1_us4_2__each_prompt_carries_what_was_done_so_far(coder):
    coder.take()
    assert "src/auth/new.ts" not in coder.prompt()
    coder.write("src/auth/new.ts")
    coder.wrote("src/auth/new.ts")
    assert "src/auth/new.ts" in coder.prompt()


@pytest.mark.systems(9)
def test_seed1_us5_1__without_an_intent_nothing_runs_that_changes_anything(coder):
    assert CITE in coder.write("src/auth/a.ts").text
    tools = coder.preflight("write_to_file", "read_file", "execute_command", "select_active_intent")["tools"]
    assert tools == ["read_file", "select_active_intent"]


@pytest.mark.systems(9)
def test_seed1_us5_2__an_intent_completed_in_mid_session_stops_the_session(shop, coder):
    coder.take()
    assert coder.write("src/auth/a.ts").ran
    shop.change(status="COMPLETED")
    answer = coder.write("src/auth/a.ts")
    assert not answer.ran
    assert "INT-001" in answer.text
    checked = coder.preflight()
    assert (checked["ok"], checked["reason"]) == (False, "completed")


@pytest.mark.systems(1)
def test_seed1_us5_3__an_abandoned_intent_is_refused_with_the_reason(shop, coder):
    shop.change(status="ABANDONED")
    answer = coder.select()
    assert not answer.ran
    assert "abandoned" in answer.text


@pytest.mark.systems(11)
def test_seed1_edge_1__an_empty_registry_says_how_to_create_an_intent(running_server):
    rest = Shop(running_server, empty=True).agent()
    answer = rest.write("a.ts")
    assert (answer.body["error_type"], answer.body["reason"]) == ("ORCHESTRATION_UNAVAILABLE", "empty")
    assert "POST" in answer.text
    assert "/api/v1/intents" in answer.text
    assert "reading is permitted" not in rest.prompt()


@pytest.mark.systems(5)
def test_seed1_edge_2__an_intent_of_another_session_is_refused_unless_policy_shares_it(shop, coder):
    holder = shop.agent()
    holder.take()
    answer = coder.select()
    assert not answer.ran
    assert holder.session in answer.text
    shop.policy(shared_intents="allow")
    assert coder.select().ran


@pytest.mark.systems(10)
@pytest.mark.parametrize("state", ["missing", "corrupt"])
def test_seed1_edge_3__a_registry_file_that_is_gone_or_broken_denies_and_says_so(disk, tmp_path, state):
    file = tmp_path / ".orchestration" / "active_intents.yaml"
    file.write_text(disk.text("intents/export"))
    assert disk.server.command("sync_orchestration", "--workspace", disk.slug)[0] == 0
    file.write_text("active_intents: [") if state == "corrupt" else file.unlink()
    assert disk.server.command("sync_orchestration", "--workspace", disk.slug)[0] != 0
    rest = disk.agent()
    for answer in (rest.write("src/auth/a.ts"), rest.read("README.md")):
        assert (answer.decision, answer.body["error_type"], answer.body["reason"]) == (
            "deny", "ORCHESTRATION_UNAVAILABLE", state,
        )  # fmt: skip
    assert not rest.preflight()["ok"]
    disk.policy(when_unavailable="deny_destructive")
    assert rest.read("README.md").ran


def test_seed1_edge_4__a_truncated_conversation_gets_the_context_again(coder):
    coder.take()
    assert [coder.prompt().count('<intent_context intent_id="INT-001">') for _ in range(3)] == [1, 1, 1]


def test_seed1_edge_5__a_model_that_ignores_its_prompt_meets_the_gate(coder):
    assert MANDATE in coder.prompt()
    for _ in range(3):
        assert not coder.write("src/auth/a.ts").ran


@pytest.mark.systems(4)
def test_seed1_clar_1__a_session_is_locked_to_its_intent(shop, coder):
    shop.intent("INT-002", owned_scope=["docs/**"])
    assert coder.select("INT-001").ran
    answer = coder.select("INT-002")
    assert not answer.ran
    assert "start a new session" in answer.text.lower()


@pytest.mark.systems(6)
def test_seed1_clar_2__a_write_out_of_scope_is_blocked(coder):
    coder.take()
    answer = coder.write("docs/design.md")
    assert not answer.ran
    assert "Scope Violation: INT-001 is not authorized to edit [docs/design.md]" in answer.text


def test_seed1_clar_3__scope_is_what_the_globs_say_and_no_more(shop, rest):
    shop.change(owned_scope=["src/auth/**/*.ts"])
    rest.take()
    assert rest.write("src/auth/deep/down/a.ts").ran
    for path in ("src/auth/a.js", "src/authority/a.ts", "a.ts"):
        assert not rest.write(path).ran
