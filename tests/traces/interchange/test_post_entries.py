"""Entries of one request: live, all or nothing."""

from __future__ import annotations

import json

import pytest
from django.db import IntegrityError

from tests.traces.builders import HOME
from tests.traces.interchange.imports.samples import entry, line_of, traces
from traces.interchange import post_entries as posting
from traces.interchange.post_entries import post_entries
from traces.models import TraceFile

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b"", "INVALID_JSON"),
        (b'{"id":', "INVALID_JSON"),
        (b"\xff\n", "INVALID_UTF8"),
        (b"7", "NOT_AN_OBJECT"),
        (b"[7]", "NOT_AN_OBJECT"),
        (b'[{"id":"a","id":"b"}]', "INVALID_JSON"),
        (b"[" * 5000, "INVALID_JSON"),
        (b"{}", "INVALID_FIELD"),
    ],
)
def test_a_body_without_entries_is_an_error(raw, kind):
    report, made = post_entries(HOME, raw, "Max")
    assert not report.is_valid
    assert report.errors[0].type == kind
    assert made == []


def test_posted_entries_are_live_and_come_back_in_order():
    report, made = post_entries(
        HOME, json.dumps([entry("a", files=[{"relative_path": "x"}]), entry("b")]).encode(), "Max"
    )
    assert report.is_valid
    assert [one.entry_id for one in made] == ["a", "b"]
    assert not TraceFile.objects.get().imported
    assert post_entries(HOME, b"[]", "Max")[0].is_valid


def test_an_id_that_somebody_else_records_meanwhile_is_a_duplicate(monkeypatch):
    real = posting.store_entries
    calls = []

    def lost_the_race(*args, **more):
        calls.append(1)
        if len(calls) == 1:
            real(*args, **more)
            raise IntegrityError
        return real(*args, **more)

    monkeypatch.setattr(posting, "store_entries", lost_the_race)
    assert post_entries(HOME, line_of(entry("a")), "Max")[0].entries == 1
    assert traces().count() == 1
