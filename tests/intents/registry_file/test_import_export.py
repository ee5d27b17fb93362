"""Importing whole files: plans, merge and replace, all or nothing, and the way back out."""

from __future__ import annotations

import pytest

from intents.models import Intent, IntentRevision
from intents.registry_file.import_export import (
    ImportOptions,
    export_registry,
    import_registry,
    preview_import,
)
from tests import builders
from tests.intents.builders import DATA, file_of, intent
from traces.models import LedgerEntry

REPLACE = ImportOptions("replace")


def ids(workspace):
    return list(
        Intent.objects.filter(workspace=workspace).order_by("position").values_list("intent_id", flat=True)
    )


def bring(workspace, data, how=ImportOptions()):  # noqa: B008  a frozen value
    return import_registry(workspace, data, how, actor="ada")


def test_a_plan_says_what_would_happen_and_does_nothing(acme):
    bring(acme, file_of(intent("INT-001"), intent("INT-002"), intent("INT-003")))
    file = file_of(intent("INT-002", owner="ada"), intent("INT-001"), intent("INT-004"))
    plan = preview_import(acme.pk, file, REPLACE).plan.to_json()
    assert plan == {
        "added": ["INT-004"],
        "changed": [{"intent_id": "INT-002", "fields": ["owner"]}],
        "removed": ["INT-003"],
        "unchanged": ["INT-001"],
    }
    assert preview_import(acme.pk, file, ImportOptions()).plan.removed == ()
    assert ids(acme) == ["INT-001", "INT-002", "INT-003"]


def test_a_merge_adds_and_changes_and_removes_nothing(acme):
    bring(acme, file_of(intent("INT-001"), intent("INT-002")))
    bring(acme, file_of(intent("INT-003"), intent("INT-002", status="COMPLETED")))
    assert ids(acme) == ["INT-001", "INT-002", "INT-003"]
    assert Intent.objects.get(intent_id="INT-002").status == "COMPLETED"


def test_a_replacement_leaves_the_file_in_its_order(acme):
    bring(acme, file_of(intent("INT-001"), intent("INT-002"), intent("INT-003")))
    kept = Intent.objects.get(intent_id="INT-003").pk
    bring(acme, file_of(intent("INT-003"), intent("INT-004"), intent("INT-001")), REPLACE)
    assert ids(acme) == ["INT-003", "INT-004", "INT-001"]
    assert Intent.objects.get(intent_id="INT-003").pk == kept
    gone = IntentRevision.objects.filter(intent_id="INT-002").latest("number")
    assert (gone.number, gone.document) == (2, None)


def test_an_import_may_set_any_status_and_its_revision_says_so(acme):
    bring(acme, file_of(intent("INT-001", status="COMPLETED")))
    bring(acme, file_of(intent("INT-001", status="PENDING")))
    revision = IntentRevision.objects.get(number=2)
    assert (revision.document["status"], revision.reason, revision.author) == (
        "PENDING",
        "import (merge)",
        "ada",
    )


def test_an_intent_that_returns_goes_on_counting(acme):
    bring(acme, file_of(intent("INT-001"), intent("INT-002")))
    bring(acme, file_of(intent("INT-002")), REPLACE)
    bring(acme, file_of(intent("INT-001")))
    assert Intent.objects.get(intent_id="INT-001").version == 3


def test_an_invalid_file_changes_nothing(acme):
    bring(acme, file_of(intent("INT-001")))
    acme.refresh_from_db()
    before = acme.revision, LedgerEntry.objects.count()
    found = bring(acme, file_of(intent("INT-002"), intent("INT-003", status="WIP")), REPLACE)
    assert not found.applied
    assert found.values is None
    acme.refresh_from_db()
    assert (acme.revision, LedgerEntry.objects.count()) == before
    assert ids(acme) == ["INT-001"]


def test_the_same_file_again_changes_nothing(acme):
    data = (DATA / "bad_input" / "y22-unknown-fields.yaml").read_bytes()
    bring(acme, data)
    acme.refresh_from_db()
    before = acme.revision, LedgerEntry.objects.count(), IntentRevision.objects.count()
    assert bring(acme, data, REPLACE).plan.unchanged == ("INT-001",)
    acme.refresh_from_db()
    assert (acme.revision, LedgerEntry.objects.count(), IntentRevision.objects.count()) == before


@pytest.mark.parametrize("number", ["01", "04", "13", "20", "25", "29", "32", "44", "46"])
def test_a_real_file_comes_out_as_it_went_in(acme, number):
    lenient = ImportOptions("replace", lenient=True)
    data = (DATA / "real_orchestration" / number / "active_intents.yaml").read_bytes()
    if number == "20":  # its dependencies are in no file
        data = data.replace(b"dependencies:", b"waits_for:")
    bring(acme, data, lenient)
    text = export_registry(acme)
    again = preview_import(acme.pk, text.encode(), lenient)
    assert len(again.plan.unchanged) == len(ids(acme)) > 0
    assert again.plan.added == again.plan.changed == again.plan.removed == ()
    elsewhere = builders.workspace("elsewhere")
    bring(elsewhere, text.encode(), lenient)
    assert export_registry(elsewhere) == text


def test_a_merge_knows_the_intents_that_stay(acme):
    bring(acme, file_of(intent("INT-001", owned_scope=["src/**"], status="PENDING")))
    found = preview_import(acme.pk, file_of(intent("INT-002", dependencies=["INT-001"])), ImportOptions())
    assert [problem.type for problem in found.report.warnings] == ["DEPENDENCY_NOT_READY"]
    alone = preview_import(acme.pk, file_of(intent("INT-002", dependencies=["INT-001"])), REPLACE)
    assert [problem.type for problem in alone.report.errors] == ["INVALID_DEPENDENCY"]


def test_a_registry_that_no_file_brought_exports_as_a_whole_file(acme):
    builders.intent(acme)
    text = export_registry(acme)
    assert text.startswith('active_intents:\n- id: "INT-001"\n')
    assert 'metadata:\n  version: "1.0"\n  last_updated: "20' in text


def test_nothing_crosses_workspaces(acme):
    elsewhere = builders.workspace("elsewhere")
    bring(elsewhere, file_of(intent("INT-001"), intent("INT-002")))
    bring(acme, file_of(intent("INT-001", owner="ada")), REPLACE)
    assert ids(elsewhere) == ["INT-001", "INT-002"]
    assert Intent.objects.get(workspace=elsewhere, intent_id="INT-001").owner == ""


PROVEN = [
    {
        "criterion": "Tests pass", "status": "met", "claimed_by": "codex", "session_id": "s-1",
        "claimed_at": "2026-01-01T00:00:00Z", "confirmed_by": "Rex", "confirmed_at": "2026-01-02T00:00:00Z",
        "evidence": [
            {"type": "command", "id": "d-1", "run_id": "r-1", "command": "npm test\n\tnext: 1", "exit_status": 0},
            {"type": "trace", "id": "007", "path": "src/a.ts"},
            {"type": "note", "text": "true", "our_own": [1, None]},
        ],
    },
    {"criterion": "Fast", "status": "claimed", "evidence": [{"type": "note", "text": "- 'x' \u2028 #y: {"}]},
]  # fmt: skip


@pytest.mark.parametrize("lenient", [False, True])
def test_evidence_comes_out_as_it_went_in(acme, lenient):
    how = ImportOptions("replace", lenient=lenient)
    file = file_of(intent(acceptance_criteria=["Tests pass", "Fast"], acceptance_evidence=PROVEN))
    assert bring(acme, file, how).report.warnings == ()
    assert Intent.objects.get().acceptance_evidence == PROVEN
    text = export_registry(acme)
    assert preview_import(acme.pk, text.encode(), how).plan.unchanged == ("INT-001",)
    elsewhere = builders.workspace("elsewhere")
    bring(elsewhere, text.encode(), how)
    assert export_registry(elsewhere) == text


def test_an_intent_without_evidence_exports_as_before(acme):
    builders.intent(acme)
    assert "acceptance_evidence" not in export_registry(acme)


def test_evidence_for_other_words_is_kept_and_warned_of(acme):
    file = file_of(intent(acceptance_criteria=["Fast"], acceptance_evidence=PROVEN))
    (warning,) = bring(acme, file).report.warnings
    assert (warning.type, warning.field) == ("UNKNOWN_FIELD", "acceptance_evidence")
    assert "'Tests pass'" in warning.message
    assert preview_import(acme.pk, export_registry(acme).encode(), REPLACE).plan.unchanged == ("INT-001",)


@pytest.mark.parametrize(
    "evidence",
    [
        "tests pass",
        ["tests pass"],
        [{"criterion": "Fast", "evidence": []}],
        [{"criterion": "Fast", "status": "open", "evidence": []}],
        [{"criterion": 1, "status": "met", "evidence": []}],
        [{"criterion": "Fast", "status": "met", "evidence": {}}],
        [{"criterion": "Fast", "status": "met", "evidence": [{"type": "rumour"}]}],
        [{"criterion": "Fast", "status": "met", "evidence": [{"type": "command", "exit_status": "0"}]}],
        [{"criterion": "Fast", "status": "met", "claimed_at": 5, "evidence": []}],
        [{"criterion": "Fast", "status": "met", "evidence": []}] * 2,
    ],
    ids=range(10),
)
def test_evidence_of_another_form_is_refused(acme, evidence):
    found = bring(acme, file_of(intent(acceptance_criteria=["Fast"], acceptance_evidence=evidence)))
    assert [(error.type, error.field) for error in found.report.errors] == [
        ("INVALID_FIELD", "acceptance_evidence")
    ]
    assert not found.applied
