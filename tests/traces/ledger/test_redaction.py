"""Taking a secret out over REST: for administrators, with a reason, once, and everything still verifies."""

from __future__ import annotations

import pytest

from tests import builders
from traces.ledger.append import read_body
from traces.models import LedgerEntry, TraceFile

pytestmark = pytest.mark.django_db

WHY = {"reason": "held a password"}


@pytest.fixture
def acme(db):
    return builders.workspace()


def posted(speaker, entry_id="e-1"):
    talk = {"url": "s-1", "ranges": [{"start_line": 1, "end_line": 2, "content_hash": "sha256:aa"}]}
    files = [{"relative_path": "src/a.ts", "conversations": [talk]}]
    entry = {"id": entry_id, "timestamp": "2026-02-21T12:00:00Z", "files": files}
    assert speaker.post("traces", entry).status_code == 201
    return LedgerEntry.objects.get(entry_id=entry_id)


@pytest.mark.parametrize("entry_id", ["e-1", "of/two parts"])
def test_an_administrator_takes_a_body_out(admin, entry_id):
    entry = posted(admin, entry_id)
    answer = admin.post(f"ledger/entries/{entry_id}/redact", WHY)
    assert (answer.status_code, answer.json()["entry_id"], answer.json()["redacted"]) == (200, entry_id, True)
    assert read_body(LedgerEntry.objects.get(pk=entry.pk)) is None
    assert not TraceFile.objects.exists()
    record = LedgerEntry.objects.get(entry_id=answer.json()["redaction_id"])
    assert read_body(record) == {"entry_id": entry_id, "kind": "trace", "reason": "held a password"}
    assert admin.get("ledger/verify").json()["ok"]


def test_the_first_redaction_stands(admin):
    posted(admin)
    first = admin.post("ledger/entries/e-1/redact", WHY).json()
    assert admin.post("ledger/entries/e-1/redact", {"reason": "once more"}).json() == first
    assert LedgerEntry.objects.filter(kind="redaction").count() == 1


def test_a_redaction_cannot_be_redacted(admin):
    posted(admin)
    record = admin.post("ledger/entries/e-1/redact", WHY).json()["redaction_id"]
    answer = admin.post(f"ledger/entries/{record}/redact", WHY)
    assert (answer.status_code, answer.json()["error_type"]) == (400, "INVALID_INPUT")


@pytest.mark.parametrize("body", [{}, {"reason": ""}, {"reason": " "}, {"reason": 7}, {"reason": "x" * 201}])
def test_a_redaction_needs_a_reason(admin, body):
    entry = posted(admin)
    assert admin.post("ledger/entries/e-1/redact", body).status_code == 400
    assert read_body(entry)


def test_nobody_else_takes_anything_out(admin, acme):
    entry = posted(admin)
    for role in ("agent", "reviewer"):
        assert builders.speaker(acme, role).post("ledger/entries/e-1/redact", WHY).status_code == 403
    stranger = builders.speaker(builders.workspace("elsewhere"), "admin")
    assert stranger.post("ledger/entries/e-1/redact", WHY).status_code == 404
    assert read_body(LedgerEntry.objects.get(pk=entry.pk))
