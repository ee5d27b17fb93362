"""Grants by kind of command: for the session, the intent and the workspace, and what they never cover."""

from __future__ import annotations

import json

import pytest

from intents.models import Intent, WorkspaceRule
from sessions.models import Approval, ApprovalGrant
from tests import builders
from traces.models import LedgerEntry

pytestmark = pytest.mark.django_db

KIND = "mcp:linear.create_issue"
FIRST, OTHER = "Broken login", "Broken logout"


def run(agent, title, session="s-1", tool="create_issue"):
    return agent.gate(f"mcp__linear__{tool}", session=session, title=title)


def ask(agent, title=FIRST):
    answer = run(agent, title)
    assert answer["decision"] == "ask", answer
    return answer["approval"]["id"]


def decide(speaker, approval, action="approve", **more):
    return speaker.post(f"approvals/{approval}/decide", {"action": action, **more})


def test_an_answer_names_kind_effect_and_risk_of_each_part(at_work):
    answer = run(at_work, FIRST)
    (effect,) = answer["effects"]
    assert (effect["kind"], effect["effect"], effect["risk"]) == (KIND, "sends", "high")
    approval = Approval.objects.get()
    assert approval.refused == [{"kind": KIND, "effect": "sends"}]
    entry = LedgerEntry.objects.filter(kind="decision").latest("pk")
    assert json.loads(bytes(entry.body.body))["refused"] == [KIND]


def test_a_grant_by_kind_covers_other_spellings_until_the_session_ends(acme, at_work, reviewer):
    answer = decide(reviewer, ask(at_work), grant="session", kinds=[KIND])
    assert (answer.status_code, answer.json()["kinds"]) == (200, [KIND])
    other = run(at_work, OTHER)
    assert (other["decision"], other["override"]["grant"]) == ("allow", "session")
    assert run(at_work, OTHER, tool="delete_issue")["decision"] == "ask"
    at_work.select("INT-001", session="s-2")
    assert run(at_work, OTHER, session="s-2")["decision"] != "allow"


def test_a_grant_for_the_intent_counts_in_all_its_sessions_until_it_closes(acme, at_work, reviewer, admin):
    admin.patch("policy", {"shared_intents": "allow", "completion": "agent"})
    decide(reviewer, ask(at_work), grant="intent", kinds=[KIND])
    assert at_work.select("INT-001", session="s-2")["success"]
    assert run(at_work, OTHER, session="s-2")["decision"] == "allow"
    assert [grant["pattern"] for grant in live_grants(acme)] == [KIND]
    at_work.post("sessions/s-1/complete-intent", {"verification_notes": "done"})
    assert Intent.objects.get().status == "COMPLETED"
    assert run(at_work, OTHER, session="s-2")["decision"] == "deny"
    assert live_grants(acme) == []


def live_grants(workspace):
    from sessions.approvals.live_grants import list_grant_rows  # noqa: PLC0415

    return [{"pattern": row.pattern} for row in list_grant_rows(workspace, "reviewer")]


def test_a_revoked_grant_for_the_intent_ends_in_every_session_at_once(at_work, reviewer, admin):
    from sessions.approvals.grants import revoke  # noqa: PLC0415

    admin.patch("policy", {"shared_intents": "allow"})
    decide(reviewer, ask(at_work), grant="intent", kinds=[KIND])
    at_work.select("INT-001", session="s-2")
    assert run(at_work, OTHER, session="s-2")["decision"] == "allow"
    assert revoke(ApprovalGrant.objects.get(), "user:1:rex")
    assert run(at_work, "Another", session="s-2")["decision"] == "ask"


def test_only_an_admin_makes_a_rule_and_it_counts_in_every_session(acme, at_work, reviewer, admin):
    approval = ask(at_work)
    assert decide(reviewer, approval, grant="workspace", kinds=[KIND]).status_code == 403
    assert decide(admin, approval, grant="workspace").status_code == 200
    rule = WorkspaceRule.objects.get()
    assert (rule.kind, rule.permission, rule.approval_id) == (KIND, "allow", approval)
    assert run(at_work, FIRST)["decision"] == "allow"
    builders.intent(acme, "INT-002", owned_scope=["lib/**"])
    at_work.select("INT-002", session="s-2")
    answer = run(at_work, OTHER, session="s-2")
    assert (answer["decision"], answer["override"]) == ("allow", None)
    rule.refresh_from_db()
    assert rule.uses >= 1
    assert rule.last_used_at is not None


def test_a_rule_taken_back_asks_again_on_the_next_call(at_work, admin, reviewer):
    decide(admin, ask(at_work), grant="workspace")
    run(at_work, FIRST)
    rule = WorkspaceRule.objects.get()
    assert run(at_work, OTHER)["decision"] == "allow"
    assert reviewer.client.delete(
        f"/api/v1/rules/{rule.public_id}", headers={"Authorization": f"Bearer {reviewer.secret}"}
    ).status_code == 403  # fmt: skip
    assert admin.client.delete(
        f"/api/v1/rules/{rule.public_id}", headers={"Authorization": f"Bearer {admin.secret}"}
    ).status_code == 204  # fmt: skip
    assert run(at_work, OTHER)["decision"] == "ask"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"grant": "once", "kinds": [KIND]}, "choose the grant session, intent or workspace"),
        ({"grant": "session", "kinds": ["go build"]}, "none of them is mcp:linear.create_issue"),
        ({"grant": "session", "kinds": ["go *"]}, "is not a kind"),
        ({"grant": "session", "kinds": ["go  test\n"]}, "is not a kind"),
        ({"grant": "intent", "kinds": [KIND], "minutes": 5}, "only the grant session has an end"),
        ({"grant": "for ever"}, "for ever"),
    ],
)
def test_what_makes_no_sense_is_refused_and_stays_open(at_work, reviewer, more, words):
    approval = ask(at_work)
    answer = decide(reviewer, approval, **more)
    assert answer.status_code == 400
    assert words in answer.json()["error"]
    assert Approval.objects.get().status == "PENDING"


def test_a_part_that_nobody_can_name_offers_no_kind(at_work, admin):
    approval = at_work.gate("Bash", command='"$TOOL" --all')["approval"]["id"]
    assert at_work.get(f"approvals/{approval}").json()["suggested_kinds"] == []
    answer = decide(admin, approval, grant="workspace")
    assert answer.status_code == 400
    assert "no part whose kind" in answer.json()["error"]


def test_the_kinds_an_intent_allows_run_without_asking(acme, agent):
    builders.intent(acme, allowed_commands=[KIND])
    agent.select("INT-001")
    assert run(agent, OTHER)["decision"] == "allow"
    assert run(agent, OTHER, tool="delete_issue")["decision"] == "ask"
