"""The short reading of entries against the rules that it stands for."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.traces.data import DATA
from traces.entries.fast_path import parse_ordinary_entry
from traces.entry_schema import find_field_errors, parse_entry

REAL = DATA / "real"
ORDINARY = {
    "id": "e-1",
    "timestamp": "2026-02-21T12:00:00Z",
    "vcs": {"revision_id": "abc123"},
    "mutation_class": "AST_REFACTOR",
    "intent_id": "INT-001",
    "files": [
        {
            "relative_path": "src/a.ts",
            "content_hash": "sha256:bb",
            "conversations": [
                {
                    "url": "s-1",
                    "contributor": {"entity_type": "AI", "model_identifier": "model-x"},
                    "ranges": [{"start_line": 1, "end_line": 2, "content_hash": "sha256:aa"}],
                    "related": [{"type": "specification", "value": "INT-001"}],
                }
            ],
        }
    ],
}
ODD = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 2**33), st.floats(), st.text(max_size=5), st.just("x" * 1200),
    st.lists(st.integers() | st.text(max_size=2) | st.dictionaries(st.text(max_size=2), st.none()), max_size=2),
    st.dictionaries(st.text(max_size=2), st.none(), max_size=2),
    st.sampled_from(["../x", "/etc", "a\\b", "2026-02-30T12:00:00Z", "\u200b", "   ", "DELETED", 0, 2**31]),
)  # fmt: skip


def places(value):
    """(holder, key) of everything that stands in an entry."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield value, key
        if isinstance(item, dict | list):
            yield from places(item)


PLACES = len(list(places(ORDINARY)))


def test_an_entry_of_every_field_is_ordinary():
    assert parse_ordinary_entry(ORDINARY) == parse_entry(ORDINARY)
    assert find_field_errors(ORDINARY) == []


@settings(suppress_health_check=[HealthCheck.too_slow])  # the machine's load, not the data
@given(st.lists(st.tuples(st.integers(0, PLACES - 1), ODD | st.just(...)), min_size=1, max_size=2))
def test_what_is_ordinary_has_no_problems(changes):
    entry = copy.deepcopy(ORDINARY)
    for number, value in changes:
        found = list(places(entry))
        holder, key = found[number % len(found)]
        if value is ...:
            del holder[key]
        else:
            holder[key] = value
        if not entry:
            break
    _reads_the_same(entry)


def _reads_the_same(entry):
    """Whether it is ordinary; if so, nothing is wrong with it and the rules read the same of it."""
    reading = parse_ordinary_entry(entry)
    if reading is not None:
        assert find_field_errors(entry) == []
        assert reading == parse_entry(entry)
    return reading is not None


@pytest.mark.parametrize("path", sorted(REAL.glob("*.jsonl")), ids=lambda path: path.name)
def test_ordinary_real_records_read_the_same(path):
    for line in path.read_bytes().split(b"\n"):
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            _reads_the_same(entry)
