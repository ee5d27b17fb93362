"""Rules over REST, and those that past decisions suggest."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from intents.models import WorkspaceRule
from sessions.interruptions.proposals import list_proposals
from sessions.models import AgentSession, Approval
from tests import builders
from traces.models import LedgerEntry

pytestmark = pytest.mark.django_db
KIND = "mcp:linear.create_issue"


def delete(speaker, rule_id):
    headers = {"Authorization": f"Bearer {speaker.secret}"}
    return speaker.client.delete(f"/api/v1/rules/{rule_id}", headers=headers)


def past(workspace, *kinds, status="APPROVED", by="Rex", days=1, number=1, effect="sends"):
    """Questions that were decided some days ago."""
    session, at = AgentSession.objects.first(), timezone.now() - timedelta(days=days)
    for _ in range(number):
        Approval.objects.create(
            workspace=workspace,
            session=session,
            kind="call",
            status=status,
            digest=f"d-{Approval.objects.count()}",
            reason="unknown_target",
            refused=[{"kind": kind, "effect": effect} for kind in kinds],
            requested_at=at,
            expires_at=at,
            decided_at=at + timedelta(seconds=40),
            decider=by,
        )


def test_an_admin_makes_a_rule_and_takes_it_back(acme, at_work, admin, reviewer):
    assert reviewer.post("rules", {"kind": "git fetch"}).status_code == 403
    made = admin.post("rules", {"kind": KIND, "reason": "builds all day"})
    assert made.status_code == 201
    rule = made.json()
    assert (rule["number"], rule["permission"], rule["owner"], rule["uses"]) == (1, "allow", "admin token", 0)
    assert admin.post("rules", {"kind": KIND}).status_code == 409
    assert at_work.gate("mcp__linear__create_issue", title="x")["decision"] == "allow"
    listed = reviewer.get("rules").json()["results"]
    assert [(row["kind"], row["uses"]) for row in listed] == [(KIND, 1)]
    assert delete(admin, rule["id"]).status_code == 204
    assert at_work.gate("mcp__linear__create_issue", title="x")["decision"] == "ask"
    assert delete(admin, rule["id"]).status_code == 404
    assert reviewer.get(f"rules/{rule['id']}").json()["removed_by"] == "admin token"
    assert reviewer.get("rules").json()["results"] == []
    entries = LedgerEntry.objects.filter(kind="policy").order_by("pk")
    assert [entry.outcome for entry in entries] == ["added", "removed"]
    assert admin.post("rules", {"kind": KIND}).json()["number"] == 2


@pytest.mark.parametrize("permission", ["ask", "deny"])
def test_a_rule_may_also_close_a_kind(at_work, admin, permission):
    admin.patch("policy", {"effects": {"sends": "allow"}})
    assert at_work.gate("mcp__linear__create_issue", title="x")["decision"] == "allow"
    admin.post("rules", {"kind": KIND, "permission": permission})
    assert at_work.gate("mcp__linear__create_issue", title="x")["decision"] == permission


@pytest.mark.parametrize("kind", ["", "git *", "git\tpush", "x" * 300])
def test_a_text_that_is_no_kind_makes_no_rule(admin, kind):
    assert admin.post("rules", {"kind": kind}).status_code == 400
    assert not WorkspaceRule.objects.exists()


def test_what_people_always_approve_is_proposed(acme, at_work, admin, reviewer):
    past(acme, "gh pr create", number=6, by="Rex")
    past(acme, "gh pr create", number=5, by="Ana")
    (row,) = reviewer.get("rules/proposals").json()["results"]
    assert (row["kind"], row["approved"], row["people"]) == ("gh pr create", 11, ["Ana", "Rex"])
    assert (row["offered"], row["spared"], row["rejected"]) == (True, 11, 0)
    assert row["seconds_spared"] == 440
    made = admin.post("rules", {"kind": "gh pr create"}).json()
    assert made["learned_from"]["approved"] == 11
    assert reviewer.get("rules/proposals").json()["results"] == []


def test_what_one_person_approved_or_anybody_rejected_is_not_offered(acme, at_work):
    past(acme, "ssh", number=12)
    past(acme, "gh release create", number=12)
    past(acme, "gh release create", number=3, by="Ana")
    past(acme, "gh release create", status="REJECTED", by="Ana")
    past(acme, "scp", number=3)
    past(acme, "git push --force", number=8)
    past(acme, "git push --force", number=8, by="Ana")
    reasons = {row.kind: row.obstacle for row in list_proposals(acme.pk)}
    assert reasons["ssh"] == "needs a second person"
    assert reasons["gh release create"] == "1 like it rejected"
    assert reasons["git push --force"] == "never offered: a dangerous form"
    assert reasons["scp"] == "needs 7 more approvals"


def test_a_rejected_call_that_did_more_would_not_have_been_let_through(acme, at_work):
    for by in ("Rex", "Ana"):
        past(acme, "git fetch", number=6, by=by, effect="fetches")
    past(acme, "git fetch", "git push", status="REJECTED", by="Ana")
    past(acme, "git fetch", "", number=4)
    (row,) = [row for row in list_proposals(acme.pk) if row.kind == "git fetch"]
    assert (row.rejected, row.spared, row.is_offered) == (0, 12, True)


def test_a_rule_learned_twenty_days_ago_spares_nothing_lately(acme, at_work):
    for by in ("Rex", "Ana"):
        past(acme, "git fetch", number=6, by=by, days=20)
    (row,) = list_proposals(acme.pk)
    assert (row.approved, row.asks, row.spared) == (12, 0, 0)


def test_nothing_of_another_workspace_is_learned(acme, at_work):
    past(acme, "git fetch", number=12)
    assert list_proposals(builders.workspace("other").pk) == []
