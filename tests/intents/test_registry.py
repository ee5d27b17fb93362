"""Changing intents one at a time: moves, versions, revisions, the ledger, the workspace's revision."""

from __future__ import annotations

import pytest

from controlplane.policy.model import IntentStatus, Registry
from intents import registry
from intents.errors import (
    IntentExistsError,
    InvalidIntentError,
    StatusMoveRefusedError,
    VersionConflictError,
)
from intents.evidence.records import build_claim
from intents.models import Intent, IntentRevision, RegistryDocument
from intents.statuses import ALLOWED_MOVES
from tests import builders
from traces.ledger.append import read_body
from traces.models import LedgerEntry

S = IntentStatus


def told(workspace):
    """What the ledger says of intents, oldest first."""
    entries = LedgerEntry.objects.filter(workspace_id=workspace.pk, kind="intent").order_by("pk")
    return [(entry.intent_id, entry.outcome, read_body(entry)["revision"]) for entry in entries]


def test_a_new_intent_is_a_revision_an_entry_and_a_new_state_of_the_workspace(acme):
    before = acme.revision
    intent = builders.intent(acme)
    acme.refresh_from_db()
    assert (intent.version, intent.position, intent.status) == (1, 1, "PENDING")
    assert intent.created_at.endswith("Z")
    assert told(acme) == [("INT-001", "added", 1)]
    assert acme.revision > before
    revision = IntentRevision.objects.get(workspace=acme)
    assert (revision.number, revision.author) == (1, "test")
    assert revision.document["owned_scope"] == ["src/auth/**"]


def test_an_invalid_intent_changes_nothing(acme):
    with pytest.raises(InvalidIntentError) as caught:
        builders.intent(acme, owned_scope=["/etc/**"], dependencies=["INT-404"])
    assert {problem.type for problem in caught.value.report.errors} == {"ABSOLUTE_PATH", "INVALID_DEPENDENCY"}
    assert not Intent.objects.exists()
    acme.refresh_from_db()
    assert acme.revision == 1


def test_an_id_is_given_once(acme):
    builders.intent(acme)
    with pytest.raises(IntentExistsError):
        builders.intent(acme)


@pytest.mark.parametrize("current", IntentStatus)
@pytest.mark.parametrize("target", IntentStatus)
def test_only_the_allowed_moves_lead_anywhere(acme, current, target):
    intent = builders.intent(acme, status=current.value)
    if target is current:
        registry.move(intent, target, actor="ada")
        assert intent.version == 1
    elif target in ALLOWED_MOVES[current]:
        registry.move(intent, target, actor="ada")
        assert (intent.status, intent.version) == (target, 2)
    else:
        with pytest.raises(StatusMoveRefusedError):
            registry.move(intent, target, actor="ada")
        assert Intent.objects.get().status == current


def test_blocking_needs_no_reason_but_keeps_one_until_work_goes_on(acme):
    intent = builders.intent(acme, status="IN_PROGRESS")
    registry.move(intent, S.BLOCKED, actor="ada", blocked_reason="Waits for Redis")
    assert Intent.objects.get().blocked_reason == "Waits for Redis"
    registry.move(intent, S.IN_PROGRESS, actor="ada")
    assert Intent.objects.get().blocked_reason == ""


def test_an_edit_needs_the_version_that_the_editor_saw(acme):
    intent = builders.intent(acme)
    registry.edit(intent, {"owner": "ada"}, actor="ada", version=1)
    with pytest.raises(VersionConflictError) as caught:
        registry.edit(intent, {"owner": "rex"}, actor="rex", version=1)
    assert caught.value.current == 2
    assert Intent.objects.get().owner == "ada"


def test_an_edit_without_a_difference_is_no_revision(acme):
    intent = builders.intent(acme)
    acme.refresh_from_db()
    before = acme.revision
    registry.edit(intent, {"name": intent.name, "id": "INT-777", "created_at": "1999-01-01"}, actor="ada")
    acme.refresh_from_db()
    assert (intent.version, acme.revision) == (1, before)


def test_an_edit_cannot_jump_over_the_moves(acme):
    intent = builders.intent(acme)
    with pytest.raises(StatusMoveRefusedError, match="BLOCKED, IN_PROGRESS"):
        registry.edit(intent, {"status": "COMPLETED"}, actor="ada")


def test_an_edit_may_not_close_a_circle(acme):
    builders.intent(acme)
    builders.intent(acme, "INT-002", dependencies=["INT-001"])
    with pytest.raises(InvalidIntentError, match="circle"):
        registry.edit(Intent.objects.get(intent_id="INT-001"), {"dependencies": ["INT-002"]}, actor="ada")


def test_widening_a_scope_adds_only_what_is_new(acme):
    intent = builders.intent(acme, status="IN_PROGRESS")
    registry.widen(intent, ["docs/**", "src/auth/**", "docs/**"], actor="rex", reason="approval a-1")
    assert intent.owned_scope == ["src/auth/**", "docs/**"]
    assert IntentRevision.objects.get(number=2).reason == "approval a-1"
    with pytest.raises(InvalidIntentError):
        registry.widen(intent, ["../other/**"], actor="rex", reason="no")
    assert Intent.objects.get().owned_scope == ["src/auth/**", "docs/**"]


def test_an_imported_word_stays_until_the_status_moves(acme):
    intent = builders.intent(acme, status="DRAFT")
    assert (intent.status, intent.raw_status) == ("PENDING", "DRAFT")
    registry.edit(intent, {"owner": "ada"}, actor="ada")
    assert intent.raw_status == "DRAFT"
    registry.move(intent, S.IN_PROGRESS, actor="ada")
    assert intent.raw_status == ""


def test_the_time_of_the_file_follows_its_intents(acme):
    intent = builders.intent(acme)
    document = RegistryDocument.objects.create(
        workspace=acme, metadata={"last_updated": "2024-01-01T00:00:00Z"}
    )
    registry.edit(intent, {"owner": "ada"}, actor="ada")
    document.refresh_from_db()
    assert document.metadata["last_updated"] == intent.updated_at > "2025"


@pytest.mark.parametrize(
    ("synced", "state", "intents", "expected"),
    [
        (False, "ok", 0, Registry.EMPTY),
        (False, "ok", 1, Registry.OK),
        (False, "missing", 1, Registry.OK),
        (True, "ok", 1, Registry.OK),
        (True, "missing", 1, Registry.MISSING),
        (True, "corrupt", 0, Registry.CORRUPT),
    ],
)
def test_the_state_of_the_registry(acme, synced, state, intents, expected):
    RegistryDocument.objects.create(workspace=acme, synced=synced, state=state)
    for _ in range(intents):
        builders.intent(acme)
    assert registry.find_registry_state(acme.pk) is expected


def claim(criterion, text="Measured"):
    return build_claim(
        criterion,
        [{"type": "note", "text": text}],
        agent="codex",
        session_id="s-1",
        at="2026-01-01T00:00:00Z",
    )


@pytest.fixture
def claimed(acme):
    """An intent in progress with two criteria, the first of which is claimed."""
    intent = builders.intent(acme, status="IN_PROGRESS", acceptance_criteria=["Tests pass", "It is fast"])
    return registry.claim_criteria(intent, [claim("Tests pass")], actor="token:1", reason="evidence")


def statuses(intent):
    return [(record["criterion"], record["status"]) for record in intent.acceptance_evidence]


def test_a_claim_is_a_revision_an_entry_and_a_new_state_of_the_workspace(acme, claimed):
    acme.refresh_from_db()
    before = acme.revision
    assert told(acme) == [("INT-001", "added", 1), ("INT-001", "changed", 2)]
    revision = IntentRevision.objects.get(number=2)
    assert (revision.author, revision.reason) == ("token:1", "evidence")
    assert revision.document["acceptance_evidence"] == claimed.acceptance_evidence
    registry.claim_criteria(claimed, [claim("Tests pass")], actor="token:1", reason="again")
    acme.refresh_from_db()
    assert (claimed.version, acme.revision) == (2, before), "the same claim changes nothing"


@pytest.mark.parametrize("how", ["complete", "edit", "move"])
def test_whoever_completes_an_intent_confirms_its_claims(acme, claimed, how):
    if how == "complete":
        registry.complete(claimed, actor="user:1:Rex", confirmed_by="Ada")
    elif how == "edit":
        registry.edit(claimed, {"status": "COMPLETED"}, actor="Ada")
    else:
        registry.move(claimed, S.COMPLETED, actor="Ada")
    (record,) = Intent.objects.get().acceptance_evidence
    assert (record["status"], record["confirmed_by"]) == ("met", "Ada")
    assert told(acme)[-1] == ("INT-001", "changed", 3)
    registry.complete(claimed, actor="user:2:Max", confirmed_by="Max")
    assert Intent.objects.get().version == 3


def test_a_completion_confirms_only_what_was_looked_at(claimed):
    looked_at = list(claimed.acceptance_evidence)
    later = [claim("Tests pass", "Later"), claim("It is fast")]
    registry.claim_criteria(claimed, later, actor="token:1", reason="evidence")
    registry.complete(claimed, actor="user:1:Rex", confirmed_by="Rex", evidence=looked_at)
    assert statuses(claimed) == [("Tests pass", "met")]
    assert claimed.acceptance_evidence[0]["evidence"] == looked_at[0]["evidence"]


def test_a_refused_completion_confirms_nothing(acme):
    intent = builders.intent(acme)
    registry.claim_criteria(intent, [claim("It works")], actor="token:1", reason="evidence")
    with pytest.raises(StatusMoveRefusedError):
        registry.complete(intent, actor="user:1:Rex", confirmed_by="Rex")
    assert statuses(Intent.objects.get()) == [("It works", "claimed")]


def test_evidence_proves_the_words_that_it_was_given_for(claimed):
    registry.edit(claimed, {"acceptance_criteria": ["It is fast", "Tests pass"]}, actor="ada")
    assert statuses(claimed) == [("Tests pass", "claimed")]
    registry.edit(claimed, {"acceptance_criteria": ["All tests pass"]}, actor="ada")
    assert statuses(claimed) == []


def test_nobody_writes_evidence_by_an_edit(acme, claimed):
    forged = [claim("It is fast") | {"status": "met"}]
    registry.edit(claimed, {"acceptance_evidence": forged, "owner": "ada"}, actor="ada")
    assert statuses(claimed) == [("Tests pass", "claimed")]
    made = builders.intent(acme, "INT-002", acceptance_criteria=["It is fast"], acceptance_evidence=forged)
    assert statuses(made) == []
