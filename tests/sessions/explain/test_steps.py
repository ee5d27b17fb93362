"""Explaining a call: the gate's own answer, every step, and nothing left behind."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command

from intents.rules.policy import change_policy
from sessions.models import AgentSession, Approval
from tests import builders
from traces.models import LedgerEntry

pytestmark = pytest.mark.django_db


def explained(speaker, tool, session="s-1", viewpoint=None, **tool_input):
    body = {"session_id": session, "tool": tool, "input": tool_input}
    return speaker.post("explain", body | ({"as": viewpoint} if viewpoint else {})).json()


def outcomes(answer):
    return {step["number"]: step["outcome"] for step in answer["steps"]}


def test_it_is_the_gates_dry_run_with_the_steps(at_work):
    call = {"file_path": "docs/design.md", "content": "x"}
    answer = explained(at_work, "Write", **call)
    dry = at_work.gate("Write", dry_run=True, **call)
    assert {name: answer[name] for name in dry} == dry
    assert [step["number"] for step in answer["steps"]] == list(range(1, 11))
    assert (outcomes(answer)[6], outcomes(answer)[9]) == ("deny", "ask")
    assert "docs/design.md" in answer["steps"][5]["saw"]
    assert "Scope Violation" in answer["steps"][5]["text"]
    assert answer["revisions"].keys() == {"workspace", "session", "intent"}


def test_it_names_the_nearest_pattern(at_work):
    assert (
        explained(at_work, "Write", file_path="src/other/a.ts", content="x")["nearest_pattern"]
        == "src/auth/**"
    )


def test_what_cannot_be_known_comes_with_its_place_in_the_command(at_work):
    answer = explained(at_work, "Bash", command="echo hi > $WHERE")
    (part,) = answer["unknown"]
    assert part["why"]
    assert "echo hi > $WHERE"[part["start"] : part["end"]] == part["text"]


def test_nothing_is_recorded_opened_or_asked(at_work):
    before = (LedgerEntry.objects.count(), AgentSession.objects.count())
    explained(at_work, "Write", file_path="docs/design.md", content="x")
    answer = explained(at_work, "Read", session="never-opened", file_path="README.md")
    assert (answer["decision"], answer["state"], answer["decision_id"]) == ("allow", "REASONING", None)
    assert answer["revisions"]["session"] is None
    assert (LedgerEntry.objects.count(), AgentSession.objects.count()) == before
    assert not Approval.objects.exists()


def test_a_session_that_was_silent_does_not_get_its_intent_back_by_being_explained(at_work):
    AgentSession.objects.update(intent=None)
    explained(at_work, "Write", file_path="src/auth/a.ts", content="x")
    assert AgentSession.objects.get().intent is None


def test_the_handshake_is_explained_and_not_taken(acme, agent):
    builders.intent(acme)
    answer = explained(agent, "select_active_intent", intent_id="INT-001")
    assert (answer["decision"], answer["classification"]) == ("allow", "handshake")
    assert "<intent_context" in answer["context"]
    assert not AgentSession.objects.exists()
    assert answer["steps"][4]["outcome"] == "allow"


def test_a_handshake_that_its_own_rules_refuse_is_told_at_the_intent(at_work):
    answer = explained(at_work, "select_active_intent", intent_id="INT-001")
    assert (answer["decision"], answer["reason"]) == ("deny", "already_selected")
    assert answer["steps"][4]["outcome"] == "deny"
    assert answer["steps"][4]["text"] == answer["error"]


def test_without_an_intent_those_that_could_be_taken_are_listed(acme, agent):
    builders.intent(acme)
    assert "INT-001" in explained(agent, "Write", file_path="a.ts", content="x")["error"]


def test_where_policy_only_monitors_the_answer_says_what_would_be(acme, at_work):
    change_policy(acme, {"enforcement": "monitor"}, actor="test")
    answer = explained(at_work, "Write", file_path="docs/a.md", content="x")
    assert (answer["decision"], answer["would_be"]) == ("allow", "ask")


def test_another_agent_may_not_look_into_the_session(acme, at_work):
    other = builders.speaker(acme, "agent")
    answer = explained(other, "Write", file_path="src/auth/a.ts", content="x")
    assert answer["decision"] == "deny"
    assert "another token" in answer["error"]


def test_a_reviewer_may(at_work, reviewer):
    answer = explained(reviewer, "Write", file_path="src/auth/a.ts", content="x")
    assert (answer["decision"], answer["intent_id"]) == ("allow", "INT-001")


def test_a_reviewer_explains_as_if_an_intent_were_taken(acme, reviewer):
    builders.intent(acme)
    answer = explained(
        reviewer, "Write", "any", {"intent_id": "INT-001"}, file_path="src/auth/a.ts", content="x"
    )
    assert (answer["decision"], answer["state"]) == ("allow", "ACTION")
    outside = explained(
        reviewer, "Write", "any", {"intent_id": "INT-001"}, file_path="docs/a.md", content="x"
    )
    assert (outside["decision"], outside["reason"]) == ("ask", "not_in_scope")


def test_a_reviewer_explains_as_in_a_session_and_with_another_intent_there(acme, at_work, reviewer):
    builders.intent(acme, "INT-002", owned_scope=["docs/**"])
    call = {"file_path": "docs/a.md", "content": "x"}
    assert explained(reviewer, "Write", "x", {"session_id": "s-1"}, **call)["decision"] == "ask"
    both = {"session_id": "s-1", "intent_id": "INT-002"}
    assert explained(reviewer, "Write", "x", both, **call)["decision"] == "allow"


def test_an_agent_may_not_choose_a_viewpoint(acme, agent):
    builders.intent(acme)
    body = {"session_id": "s", "tool": "Read", "input": {}, "as": {"intent_id": "INT-001"}}
    answer = agent.post("explain", body)
    assert (answer.status_code, answer.json()["decision"]) == (403, "deny")


@pytest.mark.parametrize("viewpoint", [{"intent_id": "INT-404"}, {"session_id": "nobody"}])
def test_a_viewpoint_that_is_not_there_is_not_found(acme, reviewer, viewpoint):
    answer = reviewer.post("explain", {"session_id": "s", "tool": "Read", "input": {}, "as": viewpoint})
    assert (answer.status_code, answer.json()["decision"]) == (404, "deny")


@pytest.mark.parametrize("viewpoint", ["INT-001", {"who": "me"}, {"intent_id": 7}])
def test_a_viewpoint_that_is_none_is_refused(reviewer, viewpoint):
    answer = reviewer.post("explain", {"session_id": "s", "tool": "Read", "input": {}, "as": viewpoint})
    assert (answer.status_code, answer.json()["reason"]) == (400, "invalid_input")


def test_an_empty_viewpoint_is_none(at_work, reviewer):
    assert explained(reviewer, "Read", viewpoint={"intent_id": None}, file_path="a")["decision"] == "allow"


def test_a_body_that_is_no_object_is_refused(agent):
    assert agent.post("explain", [1]).status_code == 400


def told(capsys, *arguments):
    call_command("explain_decision", *arguments)
    return capsys.readouterr().out


def test_the_command_tells_what_was_recorded_and_each_step_today(acme, at_work, capsys):
    held = at_work.gate("Write", file_path="docs/a.md", content="x")
    text = told(capsys, held["decision_id"])
    assert "decision       ask" in text
    assert "targets        docs/a.md" in text
    assert "Today: ask" in text
    assert "6  deny  Targets: changes docs/a.md; scope src/auth/**" in text


def test_the_command_says_when_a_call_cannot_be_decided_again(at_work, capsys):
    secret = "password = hunter2hunter2"
    held = at_work.gate("Write", file_path="docs/a.md", content=secret)
    assert "cannot be decided again" in told(capsys, held["decision_id"], "--workspace", "acme")


def test_the_command_needs_a_decision_that_is_there(acme):
    with pytest.raises(CommandError, match="No decision"):
        call_command("explain_decision", "nothing")
    with pytest.raises(CommandError, match="no workspace"):
        call_command("explain_decision", "nothing", "--workspace", "nowhere")


def test_a_decision_of_a_session_that_is_gone_is_still_explained(at_work, capsys):
    held = at_work.gate("Write", file_path="docs/a.md", content="x")
    AgentSession.objects.all().delete()
    assert "Today: ask" in told(capsys, held["decision_id"])
