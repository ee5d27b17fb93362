"""How the hook engine decides before a tool and records after it: flow, states, checks, paths (document 4)."""

from __future__ import annotations

import pytest

from tests.seeds.clients import CLIENTS, REST, sha256
from tests.seeds.test_handshake_requirements import MUTATING, call_of
from tests.seeds.test_handshake_stories import CITE, MANDATE
from tests.sessions.adapters import captured

FIELDS = (
    "status", "message", "error", "error_type", "recoverable", "action_hint", "classification",
)  # fmt: skip
EXEMPT = (
    "read_file", "list_files", "search_files", "codebase_search", "read_command_output", "ask_followup_question",
    "switch_mode", "new_task", "update_todo_list", "attempt_completion", "access_mcp_resource",
    "run_slash_command", "skill",
)  # fmt: skip


def missing_intent(shop, rest):
    return rest.gate("write_to_file", path="src/auth/a.ts", content="x")


def out_of_scope(shop, rest):
    rest.take()
    return rest.gate("write_to_file", path="docs/design.md", content="x")


def ignored_path(shop, rest):
    shop.ignore("src/auth/keys/\n")
    rest.take()
    return rest.gate("write_to_file", path="src/auth/keys/a.ts", content="x")


def stale_file(shop, rest):
    rest.take()
    rest.wrote("src/auth/a.ts", "new\n")
    old = sha256("old\n")
    return rest.gate("write_to_file", path="src/auth/a.ts", content="x", expected_content_hash=old)


def ignored_intent(shop, rest):
    rest.take()
    shop.ignore("intent: INT-001\n")
    return rest.gate("write_to_file", path="src/auth/a.ts", content="x")


# What is denied -> error type, next step, words that its text holds
DENIALS = {
    missing_intent: ("MISSING_OR_INVALID_INTENT", "select_active_intent", CITE),
    out_of_scope: (
        "SCOPE_VIOLATION", "request_scope_expansion",
        "Scope Violation: INT-001 is not authorized to edit [docs/design.md]. Request scope expansion.",
    ),
    ignored_path: ("INTENTIGNORE_PATH_BLOCKED", "request_scope_expansion", "src/auth/keys/a.ts"),
    stale_file: ("STALE_FILE", "read_file", "Stale File: [src/auth/a.ts]"),
    ignored_intent: ("INTENT_IGNORED", "select_active_intent", "INT-001 is excluded by"),
}  # fmt: skip


@pytest.mark.systems(2, 7, 19, 22)
def test_seed4_flow_1__one_turn_from_the_prompt_to_the_files(shop, coder):
    assert MANDATE in coder.prompt()
    assert coder.select().ran
    assert coder.read("README.md").ran
    assert coder.write("src/auth/weather.ts", "export function get(): void {}\n").ran
    coder.wrote("src/auth/weather.ts", "export function get(): void {}\n")
    (entry,) = shop.traces("path=src/auth/weather.ts")
    assert entry["ledger"]["intent_id"] == "INT-001"
    assert "- `src/auth/weather.ts`" in shop.text("intent-map?format=markdown")
    assert "src/auth/weather.ts" in coder.prompt()


def test_seed4_state_1__a_request_may_look_before_it_selects(either):
    assert either.read("README.md").ran
    assert either.select().ran


@pytest.mark.systems(3)
def test_seed4_state_2__a_change_before_the_handshake_is_blocked_and_can_be_retried_after_it(either):
    assert not either.write("src/auth/a.ts").ran
    assert either.select().ran
    assert either.write("src/auth/a.ts").ran


def test_seed4_state_3__a_selection_that_fails_changes_nothing(either):
    assert not either.select("INT-777").ran
    assert not either.write("src/auth/a.ts").ran
    assert either.select("INT-001").ran


@pytest.mark.systems(15, 33)
def test_seed4_state_4__the_intent_belongs_to_the_conversation_not_to_the_client(shop, coder):
    coder.take()
    assert coder.api("GET", f"sessions/{coder.session}")[1]["intent_id"] == "INT-001"
    other = shop.agent(coder.client)
    assert not other.write("src/auth/a.ts").ran
    coder.api("POST", f"sessions/{coder.session}/end")
    assert other.select().ran
    assert other.write("src/auth/a.ts").ran


@pytest.mark.parametrize("tool", MUTATING)
def test_seed4_class_1__these_tools_need_an_intent(rest, tool):
    answer = rest.gate(tool, **call_of(tool))
    assert (answer.body["classification"], answer.body["error_type"]) == (
        "destructive", "MISSING_OR_INVALID_INTENT",
    )  # fmt: skip


@pytest.mark.systems(12)
@pytest.mark.parametrize("tool", EXEMPT)
def test_seed4_class_2__these_tools_need_none(rest, tool):
    """The document also lets `use_mcp_tool` and `generate_image` go; the contract settles that they change things."""
    answer = rest.gate(tool, path="README.md")
    assert (answer.decision, answer.body["classification"]) == ("allow", "safe")


def test_seed4_check_order__the_first_check_that_fails_is_the_one_that_is_told(shop, rest):
    call = {"path": "docs/a.md", "content": "x", "intent_id": "INT-777", "expected_content_hash": sha256("?")}
    told = [rest.gate("write_to_file", **call).body["reason"]]
    rest.take()
    rest.wrote("docs/a.md")
    told.append(rest.gate("write_to_file", **call).body["reason"])
    shop.ignore("intent: INT-001\ndocs/\n")
    call.pop("intent_id")
    told.append(rest.gate("write_to_file", **call).body["error_type"])
    shop.ignore("docs/\n")
    told.append(rest.gate("write_to_file", **call).body["error_type"])
    shop.ignore("")
    told.append(rest.gate("write_to_file", **call).body["error_type"])
    shop.change(owned_scope=["docs/**"])
    told.append(rest.gate("write_to_file", **call).body["error_type"])
    assert told == [
        "none_selected", "mismatch", "INTENT_IGNORED", "INTENTIGNORE_PATH_BLOCKED", "SCOPE_VIOLATION", "STALE_FILE",
    ]  # fmt: skip


@pytest.mark.systems(26)
@pytest.mark.parametrize("deny", DENIALS, ids=lambda deny: deny.__name__)
def test_seed4_payload_1__each_denial_says_what_was_wrong_and_what_to_do_next(shop, rest, deny):
    error_type, hint, words = DENIALS[deny]
    body = deny(shop, rest).body
    assert set(FIELDS) <= set(body)
    assert (body["status"], body["message"]) == ("error", "The tool execution failed")
    assert (body["error_type"], body["action_hint"]) == (error_type, hint)
    assert (body["recoverable"], body["classification"]) == (True, "destructive")
    assert words in body["error"]


@pytest.mark.systems(27)
@pytest.mark.parametrize("deny", DENIALS, ids=lambda deny: deny.__name__)
def test_seed4_decision_3__each_of_these_denials_can_be_approved_by_a_person(shop, rest, deny):
    answer = deny(shop, rest)
    assert answer.decision == "ask"
    shop.decide(answer.body["approval"]["id"])
    call = {"path": answer.body["targets"][0], "content": "x"}
    if deny is stale_file:
        call["expected_content_hash"] = sha256("old\n")
    again = rest.gate("write_to_file", **call)
    assert again.ran
    assert again.body["override"]


@pytest.mark.systems(3)
def test_seed4_path_a__missing_intent(either):
    answer = either.write("src/auth/a.ts")
    assert not answer.ran
    assert CITE in answer.text
    assert "select_active_intent" in answer.text


@pytest.mark.systems(6)
def test_seed4_path_b__scope_violation(either):
    either.take()
    answer = either.write("docs/design.md")
    assert not answer.ran
    assert "INT-001 is not authorized to edit [docs/design.md]. Request scope expansion." in answer.text
    assert "src/auth/**" in answer.text  # what it may edit


@pytest.mark.systems(25)
def test_seed4_path_c__stale_file(shop, coder):
    coder.take()
    coder.wrote("src/auth/a.ts", "one\n")
    coder.wrote("src/auth/a.ts", "two\n")
    for text, ran in (("one\n", False), ("two\n", True)):
        answer = coder.gate(
            "write_to_file", path="src/auth/a.ts", content="x", expected_content_hash=sha256(text)
        )
        assert answer.ran is ran
    assert coder.gate(
        "write_to_file", path="src/auth/a.ts", content="x"
    ).ran  # without a hash nothing is compared


@pytest.mark.systems(25)
def test_seed4_path_c_hash__a_read_tells_the_hash_that_the_next_write_can_cite(disk, tmp_path):
    file = tmp_path / "src" / "auth" / "a.ts"
    file.parent.mkdir(parents=True)
    file.write_text("one\n")
    rest = disk.agent()
    root = {"root": str(tmp_path), "cwd": str(tmp_path)}
    rest.take()
    answer = rest.gate("read_file", path="src/auth/a.ts", more=root).body
    (seen,) = answer["content_hashes"].values()
    assert seen == sha256("one\n")
    call = {"path": "src/auth/a.ts", "content": "x", "expected_content_hash": seen}
    assert rest.gate("write_to_file", **call, more=root).ran
    file.write_text("two\n")
    assert rest.gate("write_to_file", **call, more=root).body["error_type"] == "STALE_FILE"


@pytest.mark.systems(27)
def test_seed4_path_d__approved_once_the_same_call_runs_once(shop, coder):
    assert not coder.write("src/auth/a.ts").ran
    shop.decide(comment="Go on.")
    assert not coder.write("src/auth/b.ts").ran
    assert coder.write("src/auth/a.ts").ran


@pytest.mark.systems(27)
def test_seed4_path_d_wider__approved_for_the_session_the_same_call_runs_as_often_as_it_likes(shop, coder):
    assert not coder.write("src/auth/a.ts").ran
    shop.decide(grant="session")
    assert [coder.write("src/auth/a.ts").ran for _ in range(3)] == [True, True, True]


@pytest.mark.systems(27)
def test_seed4_path_e__rejected_the_tool_does_not_run_and_the_agent_reads_why(shop, either):
    assert not either.write("src/auth/a.ts").ran
    shop.decide(action="reject", comment="Ask the auth team first.")
    answer = either.write("src/auth/a.ts")
    assert answer.decision == "deny"
    assert "Ask the auth team first." in answer.text


@pytest.mark.systems(34)
@pytest.mark.parametrize("client", CLIENTS)
def test_seed4_hook_1__an_error_before_a_tool_is_a_denial(shop, client):
    coder = shop.agent(client)
    event = captured.one(client, CLIENTS[client].write).event
    for junk in (b"", b"{", b"[]", b"null", b'{"session_id": 5}', b"\xff\xfe"):
        answer = coder.send(event, junk)
        assert answer.decision == "deny", junk
        assert answer.text


@pytest.mark.systems(34)
def test_seed4_hook_2__a_report_that_cannot_be_recorded_breaks_nothing(shop, coder):
    if coder.client == REST:
        told = {"path": "../../outside.ts", "content": "x"}
        assert coder.take()["success"]
        assert coder.api("POST", f"sessions/{coder.session}/traces", told)[0] == 400
    else:
        coder.take()
        coder.wrote("../../outside.ts")
        coder.wrote("")
    coder.wrote("src/auth/a.ts")
    assert [entry["files"][0]["relative_path"] for entry in shop.traces()] == ["src/auth/a.ts"]


def test_seed4_hook_3__a_lesson_without_a_problem_is_none(shop, rest):
    rest.take()
    for problems in ("", "  \n", []):
        told = {"path": "src/auth/a.ts", "content": "x\n", "problems": problems}
        assert rest.api("POST", f"sessions/{rest.session}/traces", told)[0] in {200, 201}
    assert "Lesson Learned" not in shop.text("lessons?format=markdown")


def test_seed4_decision_2__a_workspace_may_leave_the_engine_off(shop, either):
    shop.policy(enforcement="off")
    assert either.write("anywhere.md").ran
    shop.policy(enforcement="monitor")
    assert either.write("anywhere.md").ran
    shop.policy(enforcement="enforce")
    assert not either.write("anywhere.md").ran


def test_seed4_lesson_2__prompts_follow_the_registry_not_the_memory_of_the_session(shop, either):
    either.take()
    assert "No new dependency" in either.prompt()
    shop.change(constraints=["Only standard modules"])
    prompt = either.prompt()
    assert "Only standard modules" in prompt
    assert "No new dependency" not in prompt


@pytest.mark.systems(36)
def test_seed4_boundary_1__what_is_malformed_or_unknown_to_the_gate_is_denied_by_rest_too(shop):
    rest = shop.agent(REST)
    for body in ({}, {"session_id": "s"}, {"session_id": "s", "tool": 5}):
        status, answer = rest.api("POST", "gate", body)
        assert (status, answer["decision"]) == (400, "deny")
    answer = rest.api("POST", "gate", {"session_id": "s", "tool": "edit", "input": "x"})[1]
    assert answer["decision"] != "allow"
    rest.token = "icp_unknown"
    status, answer = rest.api("POST", "gate", {"session_id": "s", "tool": "edit", "input": {}})
    assert (status, answer["decision"]) == (401, "deny")
