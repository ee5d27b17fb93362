"""What entries of each kind are found by."""

from __future__ import annotations

import pytest

from traces.models import TermKind
from traces.search_index.terms import MAX_TERMS, extract_terms, is_attempt

PATH, PATTERN, COMMAND, ID = TermKind.PATH, TermKind.PATTERN, TermKind.COMMAND, TermKind.ID
CASES = {
    "a write": (
        "decision",
        {
            "input": {"file_path": "/w/src/a.ts", "content": "x"},
            "targets": ["src/a.ts"],
            "approval_id": "ap1",
        },
        {(PATH, "src/a.ts"), (ID, "ap1")},
    ),
    "a read": (
        "decision",
        {"input": {"file_path": ".env"}, "targets": [], "reads": [".env"]},
        {(PATH, ".env")},
    ),
    "a path that nobody resolved": ("decision", {"input": {"filePath": "../x"}}, {(PATH, "../x")}),
    "a shell command": (
        "decision",
        {"input": {"command": "rm -rf migrations"}, "targets": ["migrations"]},
        {(PATH, "migrations"), (COMMAND, "rm -rf migrations")},
    ),
    "an argument vector": (
        "decision",
        {"input": {"command": ["bash", "-lc", "ls"]}},
        {(COMMAND, "bash -lc ls")},
    ),
    "an address": ("decision", {"input": {"url": "https://x.test/a"}}, {(COMMAND, "https://x.test/a")}),
    "a call that was let through by a grant": (
        "decision",
        {"targets": ["a"], "override": {"approval_id": "ap1", "grant_id": "g1", "grant": "once"}},
        {(PATH, "a"), (ID, "ap1"), (ID, "g1")},
    ),
    "an approval": (
        "approval",
        {
            "approval_id": "ap1",
            "decision_id": "d1",
            "targets": ["a"],
            "patterns": ["src/**"],
            "requested": ["b.ts"],
        },
        {(ID, "ap1"), (ID, "d1"), (PATH, "a"), (PATTERN, "src/**"), (PATH, "b.ts")},
    ),
    "a trace": (
        "trace",
        {"vcs": {"revision_id": "abc1234"}, "files": [{"relative_path": "src/a.ts"}]},
        {(ID, "abc1234")},
    ),
    "an intent": (
        "intent",
        {"intent_id": "INT-001", "document": {"owned_scope": ["src/**", "README.md"]}},
        {(PATTERN, "src/**"), (PATH, "README.md")},
    ),
    "a lesson": (
        "lesson",
        {"file": "src/a.ts", "more_files": ["src/b.ts"], "source": "session"},
        {(PATH, "src/a.ts"), (PATH, "src/b.ts")},
    ),
    "an import": ("import", {"source": "agent_trace.jsonl"}, {(PATH, "agent_trace.jsonl")}),
    "a reconciliation": (
        "reconciliation",
        {
            "base": "aa11",
            "head": "bb22",
            "findings": [{"path": "x", "old_path": "y"}],
            "explained": [{"path": "z"}],
        },
        {(ID, "aa11"), (ID, "bb22"), (PATH, "x"), (PATH, "y"), (PATH, "z")},
    ),
    "an alert": ("session", {"event": "alert", "path": "src/a.ts"}, {(PATH, "src/a.ts")}),
    "a redaction": ("redaction", {"entry_id": "e-1", "reason": "secret"}, {(ID, "e-1")}),
}


@pytest.mark.parametrize(("kind", "body", "expected"), CASES.values(), ids=CASES)
def test_an_entry_is_found_by_what_it_is_about(kind, body, expected):
    assert set(extract_terms(kind, body)) == expected


@pytest.mark.parametrize(
    "body",
    [
        {"targets": 5, "reads": {"a": 1}, "input": ["x"], "vcs": "no", "document": [], "override": 1},
        {
            "targets": [None, 7, ["a"]],
            "input": {"command": {"a": 1}, "url": [1]},
            "findings": [5, {"path": 7}],
        },
        {"conflicts": "x", "document": {"owned_scope": 5}, "approval_id": None},
    ],
)
def test_odd_bodies_have_no_terms(body):
    assert [term for term in extract_terms("decision", body) if term.text] == []


def test_terms_are_bounded_and_storable():
    terms = extract_terms(
        "decision", {"targets": [f"f{n}" for n in range(9_999)], "input": {"command": "x" * 9_999}}
    )
    assert len(terms) == MAX_TERMS
    (odd,) = extract_terms("decision", {"targets": ["a\0b\ud800"]})
    assert odd.text == "ab?"
    assert len(extract_terms("decision", {"input": {"command": "x" * 9_999}})[0].text) == 2_000


@pytest.mark.parametrize(
    ("kind", "outcome", "expected"),
    [
        ("decision", "ask", True),
        ("decision", "deny", True),
        ("decision", "allow", False),
        ("approval", "APPROVED", True),
    ],
)
def test_attempts_are_what_was_held_or_denied(kind, outcome, expected):
    assert is_attempt(kind, outcome) is expected
