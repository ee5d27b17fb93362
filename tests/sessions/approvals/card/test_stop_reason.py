"""Why a call was held: the rule, its revisions, the closest pattern, the owner."""

from __future__ import annotations

import pytest
from django.db.models import F

from controlplane.models import Workspace
from sessions.models import AgentSession, Approval
from tests import builders
from tests.sessions.approvals.approval_builders import ROOT, ask, edit
from tests.sessions.approvals.card.builders import decide


def test_the_rule_its_revisions_the_nearest_pattern_and_the_owner(acme, at_work, drawn):
    builders.intent(acme, "INT-003", name="Billing", owned_scope=["src/billing/**"])
    other = builders.speaker(acme)
    other.post("sessions", {"session_id": "s-2", "agent": {"name": "codex"}})
    other.select("INT-003", "s-2")
    AgentSession.objects.filter(session_id="s-2").update(agent_name="codex")
    why = drawn(edit(at_work, "src/billing/invoice.ts")).why
    assert (why.rule, why.sentence) == (
        "Not in scope.",
        "src/billing/invoice.ts is outside INT-001.",
    )
    assert why.intent_revision == 2
    assert why.policy_revision is not None
    assert (why.nearest, why.nearest_note) == (
        "src/auth/**",
        "differs at billing",
    )
    assert why.owner == "INT-003 Billing owns src/billing/**, held by Codex now"


def test_where_paths_have_no_case_the_owner_and_a_grant_have_none(acme, at_work, drawn, rex):
    builders.intent(acme, "INT-003", name="Billing", owned_scope=["src/billing/**"])
    Workspace.objects.filter(pk=acme.pk).update(
        policy={"case_insensitive_paths": True}, revision=F("revision") + 1
    )
    approval = edit(at_work, "SRC/Billing/invoice.ts")
    assert "INT-003" in approval.reach_why
    assert drawn(approval).why.owner.startswith("INT-003 Billing owns src/billing/**")
    decided = decide(approval, rex, grant="session", patterns=("src/billing/*",))
    assert decided.status == Approval.Status.APPROVED
    assert at_work.gate("Write", file_path=f"{ROOT}/src/BILLING/b.ts", root=ROOT)["decision"] == "allow"


@pytest.mark.parametrize(
    ("pattern", "path", "note"),
    [
        ("!src/gen/**", "src/gen/a", "excludes it"),
        ("src/*.md", "src/a.ts", "differs at a.ts"),
        ("src/a", "src/a/b", "differs at b"),
        ("src/a/b", "src/a", "the path ends before b"),
        ("src/a", "src/a", ""),
        ("", "src/a", ""),
    ],
)
def test_where_a_pattern_and_a_path_part(at_work, drawn, pattern, path, note):
    approval = edit(at_work)
    approval.call |= {"nearest_pattern": pattern, "offending": [path]}
    approval.save()
    assert drawn(approval).why.nearest_note == note


def test_unknown_targets_are_told_beside_the_first_objection(at_work, drawn):
    card = drawn(ask(at_work, "Bash", command='rm -rf docs && node x.js && cp a "$B"'))
    assert "It also has unknown targets" in card.why.sentence
    assert card.irreversible
