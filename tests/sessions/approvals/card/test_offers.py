"""Which grants and which texts for a rejection a card offers."""

from __future__ import annotations

from django.db.models import F

from controlplane.models import Workspace
from intents.known_files import load_known_files
from sessions.approvals.card.build import DecisionDraft
from sessions.models import Approval
from tests import builders
from tests.sessions.approvals.approval_builders import ask, edit


def offers(card):
    return {offer.value: offer for offer in card.grants}


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
    assert "unknown" in mixed["scope"].disabled_reason
    assert "This exact command" in mixed["session"].effect
    unknown = offers(drawn(ask(at_work, "Bash", command='"$TOOL" --all')))
    assert {value for value, offer in unknown.items() if not offer.enabled} == {"scope"}
    assert "This exact command" in unknown["session"].effect


def test_a_kind_is_offered_until_the_session_ends_the_intent_closes_or_for_ever(at_work, drawn):
    found = offers(drawn(ask(at_work, "mcp__linear__create_issue", title="x")))
    assert list(found) == ["once", "session", "minutes", "intent", "workspace", "scope"]
    assert [value for value, offer in found.items() if offer.checked] == ["session"]
    assert found["session"].pattern == "mcp:linear.create_issue"
    assert "every session of INT-001" in found["intent"].effect
    assert found["workspace"].disabled_reason == "Only an admin can make a rule for the workspace."


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
