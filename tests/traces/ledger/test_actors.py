"""Who made an entry, told from what is sealed."""

from __future__ import annotations

import pytest

from tests.traces.builders import append, decision
from traces.ledger.actors import describe_actor
from traces.models import LedgerEntry

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("actor", "words"),
    [
        ("person:1:Ada", "Ada"),
        ("person:1:Ada: the one\u202e", "Ada: the one\u202e"),
        ("token:4:laptop", "token laptop"),
        ("token:4:", "token 4"),
        ("command:archive_ledger", "manage.py archive_ledger"),
        ("command import_traces", "manage.py import_traces"),
        ("sync", "sync"),
        ("", ""),
    ],
)
def test_who_made_an_entry(actor, words):
    assert describe_actor(LedgerEntry.objects.get(pk=append(decision(actor=actor)).id)) == words
