"""Appending: once for a key, only while a condition holds, and never changed again."""

from __future__ import annotations

import hashlib
import json

import pytest
from django.db import DatabaseError, connection, transaction

from tests.traces.builders import HOME, append, decision
from traces.ledger import append as ledger
from traces.ledger import canonical_json
from traces.ledger.append import Condition
from traces.ledger.merkle import leaf_hash
from traces.models import LedgerBody, LedgerEntry

pytestmark = pytest.mark.django_db


def test_an_entry_is_stored_as_the_bytes_that_were_hashed():
    made = append(decision(session_id="s-1", intent_id="INT-001", outcome="allow", actor="token:1:Max"))
    row = LedgerEntry.objects.select_related("body").get(pk=made.id)
    envelope = json.loads(bytes(row.envelope))
    assert bytes(row.leaf_hash) == made.leaf_hash == leaf_hash(bytes(row.envelope))
    assert bytes(row.envelope) == canonical_json.encode(envelope)
    assert envelope["body_digest"] == hashlib.sha256(bytes(row.body.salt) + bytes(row.body.body)).hexdigest()
    assert envelope["actor"] == "token:1:Max"
    assert (
        envelope["received_at"]
        == ledger.format_instant(row.received_at)
        == ledger.format_instant(made.received_at)
    )
    assert (row.session_id, row.intent_id, row.outcome) == ("s-1", "INT-001", "allow")
    assert ledger.read_body(row) == {"tool": "read_file"}


def test_the_same_key_is_recorded_once():
    first = append(decision(idempotency_key="s-1:call-1"))
    assert append(decision(idempotency_key="s-1:call-1")) is None
    assert ledger.find_by_key(HOME, "s-1:call-1").pk == first.id
    assert append(decision(idempotency_key="s-1:call-1", workspace_id=8)) is not None
    assert ledger.find_by_key(9, "s-1:call-1") is None


def test_entries_without_a_key_are_all_recorded():
    assert append(decision())
    assert append(decision())


def test_nothing_is_recorded_when_the_condition_no_longer_holds():
    holds = "EXISTS (SELECT 1 FROM traces_ledgerentry WHERE workspace_id = %s)"
    assert append(decision(), only_if=Condition(holds, (HOME,))) is None
    assert LedgerBody.objects.count() == 0
    append(decision())
    assert append(decision(), only_if=Condition(holds, (HOME,))) is not None
    assert LedgerBody.objects.count() == 2


def test_an_append_costs_one_statement_or_two(django_assert_num_queries):
    with transaction.atomic(), django_assert_num_queries(1 if connection.vendor == "postgresql" else 2):
        ledger.append(decision(idempotency_key="k"))


def test_many_entries_keep_their_order():
    with transaction.atomic():
        made = ledger.append_many(decision(entry_id=f"e-{n}") for n in range(600))
    assert [one.entry_id for one in made] == [f"e-{n}" for n in range(600)]
    stored = LedgerEntry.objects.order_by("pk").values_list("entry_id", flat=True)
    assert list(stored) == [f"e-{n}" for n in range(600)]


def test_long_texts_are_cut_in_the_copy_and_in_the_envelope_alike():
    made = append(decision(reason="x" * 500))
    row = LedgerEntry.objects.get(pk=made.id)
    assert row.reason == json.loads(bytes(row.envelope))["reason"] == "x" * 200


def test_ids_are_time_ordered_uuids():
    ids = [ledger.generate_entry_id() for _ in range(50)]
    assert all(one[14] == "7" and one[19] in "89ab" for one in ids)
    assert [one[:13] for one in ids] == sorted(one[:13] for one in ids)


EVERYWHERE = (
    "UPDATE traces_ledgerentry SET reason = 'x'",
    "DELETE FROM traces_ledgerentry",
    "UPDATE traces_ledgerbody SET body = salt",
    "DELETE FROM traces_ledgerbody",
)
WAY_ROUND = {
    "sqlite": "INSERT OR REPLACE INTO traces_ledgerbody SELECT entry_id, body, salt FROM traces_ledgerbody",
    "postgresql": "TRUNCATE traces_checkpoint",
}


@pytest.mark.parametrize("statement", [*EVERYWHERE, WAY_ROUND[connection.vendor]])
def test_the_database_refuses_to_change_what_was_recorded(statement):
    made = append(decision())
    with (
        pytest.raises(DatabaseError, match="insert-only"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)
    assert ledger.read_body(LedgerEntry.objects.get(pk=made.id)) == {"tool": "read_file"}


def test_the_orm_cannot_change_it_either():
    made = append(decision())
    with pytest.raises(DatabaseError, match="insert-only"), transaction.atomic():
        LedgerEntry.objects.filter(pk=made.id).update(reason="y")
