"""What the card says beside the preview: why, how far, what came of it, what else is going on."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from controlplane.models import Role, Workspace
from intents.known_files import load_known_files
from sessions.approvals import lifecycle
from sessions.approvals.card.build import CardViewer, DecisionDraft, build_card
from sessions.approvals.card.receipts import build_receipt
from sessions.approvals.decision_input import Decider, DecisionInput
from sessions.lifecycle.end import end_session
from sessions.models import AgentSession, Approval
from tests import builders
from tests.sessions.approvals.approval_builders import AGENT, ROOT, ask, edit


@pytest.fixture
def at_work(acme, agent):
    """Ada's agent works on INT-001, which owns `src/auth/**`."""
    builders.intent(acme)
    agent.select("INT-001")
    return agent


@pytest.fixture
def drawn(rex):
    def draw(approval, role=Role.REVIEWER, **more):
        return build_card(fresh(approval), CardViewer(rex, role), with_context=True, **more)

    return draw


def fresh(approval) -> Approval:
    return Approval.objects.select_related("workspace", "session__token").get(pk=approval.pk)


def decide(approval, user, action="approve", **choice):
    decider = Decider(user.first_name, user_id=user.pk, actor="test")
    return lifecycle.decide(fresh(approval), decider, DecisionInput(action, **choice))


def offers(card):
    return {offer.value: offer for offer in card.grants}


# --- why ------------------------------------------------------------------------------------------


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


# --- how far --------------------------------------------------------------------------------------


def test_four_ways_to_approve_an_edit(at_work, drawn):
    at_work.post("sessions/s-1/traces", {"path": "docs/design.md", "content": "x"})
    card = drawn(edit(at_work))
    found = offers(card)
    assert list(found) == ["once", "session", "minutes", "scope"]
    assert all(offer.enabled for offer in card.grants)
    assert [offer.value for offer in card.grants if offer.checked] == ["once"]
    assert (
        found["once"].effect
        == "This exact edit runs once, recorded as an override. INT-001 stays at revision 2."
    )
    assert found["session"].pattern == "docs/design.md"
    assert found["scope"].files == ("docs/design.md",)
    assert "revision 3" in found["scope"].effect
    assert not card.irreversible


def test_a_wider_scope_says_who_else_owns_it(acme, at_work, drawn):
    builders.intent(acme, "INT-003", owned_scope=["docs/**"])
    at_work.post("sessions/s-1/traces", {"path": "docs/design.md", "content": "x"})
    assert "INT-003" in offers(drawn(edit(at_work)))["scope"].warning


def test_what_would_not_help_is_not_offered(at_work, drawn):
    mixed = offers(drawn(ask(at_work, "Bash", command='rm -rf docs && cp a "$B"')))
    assert {value for value, offer in mixed.items() if not offer.enabled} == {"scope"}
    assert "unknown" in mixed["scope"].why_disabled
    assert "This exact command" in mixed["session"].effect
    unknown = offers(drawn(ask(at_work, "Bash", command="git push")))
    assert {value for value, offer in unknown.items() if not offer.enabled} == {"scope"}
    assert "This exact command" in unknown["session"].effect


def test_a_choice_that_was_refused_stays_chosen(at_work, drawn):
    approval = edit(at_work)
    assert offers(drawn(approval, draft=DecisionDraft("minutes", "note")))["minutes"].checked
    assert offers(drawn(approval, draft=DecisionDraft("nonsense")))["once"].checked
    assert drawn(approval, draft=DecisionDraft("minutes", "note")).comment == "note"


def test_presets_fit_what_was_asked(acme, at_work, drawn):
    assert drawn(edit(at_work)).presets[0] == "Not yours: stay inside your scope."
    builders.intent(acme, "INT-003", owned_scope=["lib/**"])
    assert drawn(edit(at_work, "lib/a")).presets[0] == "Not yours: leave this file to INT-003."
    assert "Split the command" in drawn(ask(at_work, "Bash", command="git push")).presets[0]
    hashes = {"src/auth/a": "sha256:" + "0" * 64}
    stale = edit(
        at_work, "src/auth/a", current_content_hashes=hashes, expected_content_hash="sha256:" + "1" * 64
    )
    card = drawn(stale)
    assert "Read the file again" in card.presets[0]
    assert (card.kind, card.why.rule) == ("stale", "Stale.")
    scope = at_work.post("sessions/s-1/request-scope", {"patterns": ["x/**"], "reason": "r"}).json()["id"]
    assert "Too wide" in drawn(Approval.objects.get(public_id=scope)).presets[0]
    done = at_work.post("sessions/s-1/complete-intent", {"verification_notes": "n"}).json()["approval"]["id"]
    card = drawn(Approval.objects.get(public_id=done))
    assert "evidence" in card.presets[0]
    assert card.irreversible
    assert all(len(set(presets)) == len(presets) <= 4 for presets in (card.presets,))


# --- who looks ------------------------------------------------------------------------------------


def test_what_a_reader_may_do(acme, at_work, rex, drawn):
    approval = edit(at_work)
    assert drawn(approval).state == "pending"
    card = drawn(approval, Role.AUDITOR)
    assert (card.state, card.can_extend) == ("reader", False)
    own = edit(builders.speaker(acme, acts_for=rex), "docs/x.md", "s-9")
    assert drawn(own).state == "yours"


def test_five_more_minutes_are_offered_near_the_end(at_work, drawn):
    approval = edit(at_work)
    assert (drawn(approval).can_extend, drawn(approval).near_end) == (True, False)
    Approval.objects.update(expires_at=timezone.now() + timedelta(seconds=60))
    assert drawn(approval).near_end
    Approval.objects.update(extended=True)
    assert not drawn(approval).can_extend


# --- how it ended ---------------------------------------------------------------------------------


def titles(approval, user):
    return [step.title for step in build_receipt(fresh(approval), user).steps]


def test_a_receipt_follows_the_call_until_it_is_recorded(at_work, rex, ada):
    approval = edit(at_work)
    decide(approval, rex, comment="fine")
    assert titles(approval, rex) == ["Approved once by you", "Agent notified"]
    edit_call = {"file_path": f"{ROOT}/docs/design.md", "old_string": "one", "new_string": "two"}
    assert at_work.gate("Edit", root=ROOT, agent=AGENT, **edit_call)["decision"] == "allow"
    at_work.post("sessions/s-1/traces", {"path": "docs/design.md", "content": "x"})
    assert titles(approval, ada) == ["Approved once by Rex", "Agent retried the call", "Recorded"]


@pytest.mark.parametrize(
    ("choice", "title"),
    [({"grant": "session"}, "Approved for the session by you"), ({"grant": "session", "minutes": 5}, "Approved for 5 min by you"),
     ({"grant": "scope"}, "Approved with a wider scope by you")],
)  # fmt: skip
def test_a_receipt_says_how_far(at_work, rex, choice, title):
    approval = edit(at_work)
    decide(approval, rex, **choice)
    assert titles(approval, rex) == [title]


def test_what_was_not_approved_did_not_run(at_work, rex, acme):
    rejected, cancelled = edit(at_work), edit(at_work, "docs/b.md")
    decide(rejected, rex, "reject", comment="no")
    assert titles(rejected, rex) == ["Rejected by you", "Did not run"]
    end_session(AgentSession.objects.get(session_id="s-1"), "test")
    lifecycle.cancel_pending(AgentSession.objects.get(session_id="s-1"), "test")
    assert titles(cancelled, rex) == ["Cancelled: the session ended", "Did not run"]


def test_a_late_note_is_kept(at_work, rex, ada, drawn):
    approval = edit(at_work)
    decide(approval, ada)
    card = drawn(approval, draft=DecisionDraft(comment="my note"))
    assert card.receipt is not None
    assert (card.receipt.steps[-1].title, card.receipt.steps[-1].detail) == (
        "Your note was not sent",
        " my note",
    )


# --- what else ------------------------------------------------------------------------------------


def test_the_context_tells_goal_session_events_and_others(acme, at_work, drawn):
    other = builders.speaker(acme)
    builders.intent(acme, "INT-003", owned_scope=["docs/**"])
    other.select("INT-003", "s-2")
    other.post("sessions/s-2/traces", {"path": "docs/design.md", "content": "x"})
    context = drawn(edit(at_work)).context
    assert context.goal is not None
    assert [criterion.text for criterion in context.goal.criteria] == ["It works"]
    assert (context.session.id, context.session.calls, context.session.held) == ("s-1", 1, 1)
    assert len(context.events) <= 5
    assert context.events[0].object == "docs/design.md"
    assert context.others[0].text.startswith("holds INT-003")
    assert "INT-003 wrote docs/design.md" in context.others[1].text
    assert context.others_note == ""


def test_past_decisions_on_the_same_path_for_the_same_reason(at_work, rex, ada, drawn):
    waiting = edit(at_work)
    for user, action, comment in ((rex, "approve", ""), (ada, "reject", "hand it over")):
        decide(edit(at_work, new_string=f"by {user}"), user, action, comment=comment)
    decide(edit(at_work, "docs/elsewhere.md"), rex)
    context = drawn(waiting).context
    assert [(event.outcome, event.text) for event in context.past] == [
        ("rejected", "Rejected, by Ada: hand it over"),
        ("approved", "Once, by Rex"),
    ]
    assert context.pattern == "docs/design.md"


def test_a_second_wording_of_what_was_refused_is_pointed_out(at_work, rex, drawn):
    first = edit(at_work)
    second = ask(at_work, "Write", file_path=f"{ROOT}/docs/design.md", content="two")
    decide(first, rex, "reject", comment="no")
    edit_again = {"file_path": f"{ROOT}/docs/design.md", "old_string": "one", "new_string": "two"}
    assert at_work.gate("Edit", root=ROOT, agent=AGENT, **edit_again)["decision"] == "deny"
    assert "Similar to a call that was denied" in drawn(second).context.alert


def test_the_code_owners_of_the_files_are_named(acme, at_work, drawn, tmp_path):
    (tmp_path / "CODEOWNERS").write_text("docs/ @acme/writers\n")
    Workspace.objects.filter(pk=acme.pk).update(local_root=str(tmp_path))
    context = drawn(edit(at_work)).context
    assert context.others_note == "No other open intent owns it. Code owners: @acme/writers."


def test_known_files_come_from_ledger_and_folder(acme, at_work, tmp_path):
    at_work.post("sessions/s-1/traces", {"path": "docs/traced.md", "content": "x"})
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.py").write_text("")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/config").write_text("")
    acme.local_root = str(tmp_path)
    known = load_known_files(acme)
    assert (known.paths, known.complete) == (("docs/traced.md", "src/a.py"), True)
    assert known.find_added(["DOCS/**", "src/**"], ["src/*"]) == []


def test_known_files_are_compared_as_the_gate_compares_them(acme, at_work):
    at_work.post("sessions/s-1/traces", {"path": "docs/traced.md", "content": "x"})
    ignore_case = {"case_insensitive_paths": True}
    Workspace.objects.filter(pk=acme.pk).update(policy=ignore_case, revision=F("revision") + 1)
    acme.refresh_from_db()
    assert load_known_files(acme).find_added(["DOCS/**"], ["src/**"]) == ["docs/traced.md"]
    assert load_known_files(acme).find_added(["docs/**"], ["DOCS/**"]) == []
