"""A session remembers what was rejected; who keeps trying is brought before the reviewers, and may be frozen."""

from __future__ import annotations

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from controlplane.models import Workspace
from sessions.models import AgentSession, Approval
from tests import builders
from tests.sessions.approvals.approval_builders import card, page
from traces.ledger.append import read_body
from traces.models import LedgerEntry

pytestmark = pytest.mark.django_db

PATH = "docs/design.md"
EDIT = {"file_path": PATH, "old_string": "a", "new_string": "b"}


def settle(reviewer, answer, action="reject", **choice):
    decided = reviewer.post(f"approvals/{answer['approval']['id']}/decide", {"action": action, **choice})
    assert decided.status_code == 200, decided.content


def policy(workspace, **keys):
    Workspace.objects.filter(pk=workspace.pk).update(policy=keys, revision=F("revision") + 1)


def try_three(agent, session="s-1"):
    agent.gate("Write", session, file_path=PATH, content="x")
    agent.gate("Edit", session, **EDIT)
    return agent.gate("Bash", session, command=f"cp src/auth/a {PATH}")


def alerts():
    rows = LedgerEntry.objects.filter(kind="session", outcome="alert").select_related("body").order_by("pk")
    return [read_body(row) for row in rows]


# --- memory ------------------------------------------------------------------------------------


def test_what_was_rejected_is_refused_across_tools_without_a_new_ask(at_work, reviewer):
    settle(reviewer, at_work.gate("Write", file_path=PATH, content="x"), comment="hand it to design")
    for tool, call in (("Edit", EDIT), ("Bash", {"command": f"cp src/auth/a {PATH}"})):
        answer = at_work.gate(tool, **call)
        assert (answer["decision"], answer["reason"], answer["approval"]) == ("deny", "not_in_scope", None)
        assert "Rejected by reviewer token: hand it to design. Do not retry." in answer["error"]
    assert Approval.objects.count() == 1


def test_the_memory_is_of_one_session_and_one_path(acme, at_work, reviewer):
    builders.intent(acme, "INT-002", owned_scope=["src/pay/**"])
    settle(reviewer, at_work.gate("Write", file_path=PATH, content="x"))
    assert at_work.gate("Write", file_path="docs/other.md", content="x")["decision"] == "ask"
    at_work.select("INT-002", "s-2")
    assert at_work.gate("Write", "s-2", file_path=PATH, content="x")["decision"] == "ask"


def test_a_rejection_without_an_intent_counts_for_its_targets(acme, agent, reviewer):
    builders.intent(acme)
    settle(reviewer, agent.gate("Write", file_path=PATH, content="x"))
    assert agent.gate("Edit", **EDIT)["decision"] == "deny"
    assert agent.gate("Write", file_path="docs/other.md", content="x")["decision"] == "ask"


def test_a_folder_rejected_as_a_whole_is_refused_file_by_file(at_work, reviewer):
    settle(reviewer, at_work.gate("Bash", command="rm -rf docs"))
    assert at_work.gate("Bash", command="rm docs/a.md")["decision"] == "deny"


def test_where_paths_have_no_case_a_rejection_and_what_lifts_it_have_none(acme, at_work, reviewer):
    policy(acme, case_insensitive_paths=True)
    first, second = (at_work.gate("Write", file_path=PATH, content=text) for text in "ab")
    settle(reviewer, first)
    assert at_work.gate("Edit", **EDIT | {"file_path": "Docs/DESIGN.md"})["decision"] == "deny"
    settle(reviewer, second, "approve", grant="session", patterns=["DOCS/**"])
    assert at_work.gate("Edit", **EDIT | {"file_path": "Docs/DESIGN.md"})["decision"] == "allow"


def test_a_later_approval_lifts_it(at_work, reviewer):
    first, second = (at_work.gate("Write", file_path=PATH, content=text) for text in "ab")
    settle(reviewer, first)
    assert at_work.gate("Edit", **EDIT)["decision"] == "deny"
    settle(reviewer, second, "approve")
    assert at_work.gate("Write", file_path=PATH, content="b")["decision"] == "allow"
    assert at_work.gate("Edit", **EDIT)["decision"] == "ask"


def test_a_grant_for_a_pattern_lifts_what_it_matches(at_work, reviewer):
    rejected = at_work.gate("Write", file_path=PATH, content="x")
    other = at_work.gate("Write", file_path="docs/other.md", content="x")
    settle(reviewer, rejected)
    settle(reviewer, other, "approve", grant="session", patterns=["docs/*"], minutes=5)
    assert at_work.gate("Edit", **EDIT)["decision"] == "allow"


def test_a_wider_scope_lifts_it(at_work, reviewer):
    settle(reviewer, at_work.gate("Write", file_path=PATH, content="x"))
    asked = at_work.post("sessions/s-1/request-scope", {"patterns": ["docs/**"], "reason": "needed"}).json()
    settle(reviewer, {"approval": asked.get("approval", asked)}, "approve")
    assert at_work.gate("Edit", **EDIT)["decision"] == "allow"


# --- alerts ------------------------------------------------------------------------------------


def test_three_wordings_for_one_path_raise_one_alert(at_work):
    at_work.gate("Write", file_path=PATH, content="x")
    at_work.gate("Edit", **EDIT)
    assert alerts() == []
    at_work.gate("Bash", command=f"cp src/auth/a {PATH}")
    at_work.gate("Bash", command=f"tee {PATH}")
    (alert,) = alerts()
    assert alert == {
        "event": "alert",
        "session_id": "s-1",
        "path": PATH,
        "attempts": 3,
        "text": f"3 different attempts at {PATH} were refused in this session.",
    }


def test_the_same_call_again_is_no_other_wording(at_work):
    for _ in range(5):
        at_work.gate("Edit", **EDIT)
    assert alerts() == []


def test_different_files_are_no_wordings_of_one_thing(at_work):
    for name in "abcd":
        at_work.gate("Write", file_path=f"docs/{name}", content="x")
    assert alerts() == []


def test_where_no_path_is_at_fault_the_reason_counts(at_work):
    for name in "abc":
        at_work.gate("Bash", command=f"eval ${name}")
    (alert,) = alerts()
    assert alert["reason"] == "unknown_target"
    assert alert["text"] == "3 different attempts (unknown target) were refused in this session."


def test_what_says_how_to_do_it_right_raises_none(acme, at_work):
    policy(acme, require_mutation_class=True)
    for name in "abcd":
        at_work.gate("write_to_file", path=f"src/auth/{name}", content="x")
    assert alerts() == []


def test_reviewers_see_it_on_the_card_and_on_the_sessions_row(at_work, rex):
    answer = try_three(at_work)
    client = builders.signed_in(rex)
    approval = Approval.objects.get(public_id=answer["approval"]["id"])
    assert f"3 different attempts at {PATH} were refused" in page(client, card(approval))
    assert "1 alert" in page(client, "/w/acme/sessions/")
    detail = page(client, "/w/acme/sessions/s-1")
    assert "alert</span>" in detail
    assert f"3 different attempts at {PATH} were refused" in detail


# --- freezing ----------------------------------------------------------------------------------


def test_by_default_nothing_is_frozen(at_work):
    try_three(at_work)
    assert not AgentSession.objects.get().frozen


def test_policy_freezes_the_session(acme, at_work):
    policy(acme, freeze_after_denials=3)
    assert try_three(at_work)["decision"] == "ask"
    assert AgentSession.objects.get().frozen
    answer = at_work.gate("Write", file_path="src/auth/a", content="x")
    assert (answer["decision"], answer["reason"]) == ("deny", "frozen")
    assert at_work.gate("Read", file_path="README.md")["decision"] == "allow"
    frozen = LedgerEntry.objects.filter(kind="session", outcome="frozen")
    assert frozen.count() == 1


def test_policy_may_freeze_before_anybody_is_alerted(acme, at_work):
    policy(acme, freeze_after_denials=1)
    at_work.gate("Edit", **EDIT)
    assert AgentSession.objects.get().frozen
    assert alerts() == []


def test_monitoring_freezes_nothing(acme, at_work):
    policy(acme, freeze_after_denials=1, enforcement="monitor")
    assert at_work.gate("Edit", **EDIT)["decision"] == "allow"
    assert not AgentSession.objects.get().frozen


# --- cost --------------------------------------------------------------------------------------


def test_an_allowed_call_costs_no_statement_more(at_work, reviewer):
    settle(reviewer, at_work.gate("Write", file_path=PATH, content="x"))
    at_work.gate("Write", file_path="src/auth/a", content="x")
    with CaptureQueriesContext(connection) as captured:
        at_work.gate("Write", file_path="src/auth/a", content="y")
    assert len([query for query in captured if "SAVEPOINT" not in query["sql"]]) <= 3


def test_writing_before_the_handshake_is_a_beginners_mistake_and_no_alert(acme, agent):
    builders.intent(acme)
    for number in range(5):
        agent.gate("write_to_file", path=f"src/{number}.ts", content="x")
    assert not LedgerEntry.objects.filter(outcome="alert").exists()
