"""Filters of the trace list, parsed from a query string and written back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.traces.browser.samples import NOW, wanted
from traces.browser.filters import EntryFilters, Term

pytestmark = pytest.mark.django_db


def test_an_address_is_read_and_written_back():
    query = "kind=trace&-agent=codex&q=a+b&session=s&path=src%2F&since=2026-02-01T00%3A00%3A00Z"
    read = wanted(query)
    assert set(read.to_query_string()[1:].split("&")) == set(query.split("&"))
    assert wanted(read.to_query_string()[1:]) == read
    assert wanted("last=1h").since == NOW - timedelta(hours=1)
    assert wanted("last=1h&since=2026-02-01T00:00:00Z").last == ""
    assert EntryFilters().to_query_string() == "?"


def test_a_value_that_is_chosen_is_no_longer_left_out():
    term = Term("agent", "codex")
    refused = wanted("-agent=codex").with_term(term)
    assert refused.terms == (term,)
    assert refused.without_term(term).terms == ()


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("since=yesterday", "since: yesterday must be a time such as 2026-02-21T10:30."),
        ("since=2026-13-40T00:00", "since: 2026-13-40T00:00 must be a time such as 2026-02-21T10:30."),
        (
            "until=9999-01-01T00:00:00Z",
            "until: 9999-01-01T00:00:00Z must be a time such as 2026-02-21T10:30.",
        ),
        ("last=soon", "last: soon must be one of 15min, 1h, 24h, 7d, 30d."),
        ("since=2026-02-02T00:00:00Z&until=2026-02-01T00:00:00Z", "until: must be later than since."),
    ],
)
def test_what_cannot_be_read_is_told_and_left_out(query, problem):
    assert wanted(query).errors == (problem,)


def test_long_stretches_begin_and_end_with_full_hours():
    long, short = wanted("since=2026-02-01T10:20:30Z"), wanted("since=2026-02-21T09:20:30Z")
    assert (long.since, long.is_precounted) == (datetime(2026, 2, 1, 10, tzinfo=UTC), True)
    assert (short.since, short.is_precounted) == (datetime(2026, 2, 21, 9, 20, 30, tzinfo=UTC), False)
    assert wanted("until=2026-02-20T10:20:00Z").until == datetime(2026, 2, 20, 11, tzinfo=UTC)
