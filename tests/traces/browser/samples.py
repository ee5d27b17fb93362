"""A ledger with a past: decisions and traces of many days."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction
from django.http import QueryDict

from tests.traces.builders import AWAY, HOME
from traces.browser.filters import parse_filters
from traces.entries.projections import RecordedTrace, write_projections
from traces.entries.record import Mutation, MutationAuthor, build_trace_entry
from traces.entry_schema import parse_entry
from traces.ledger.append import NewEntry, prepare
from traces.ledger.insert_rows import insert_rows
from traces.models import LedgerBody, LedgerEntry

NOW = datetime(2026, 2, 21, 10, 30, tzinfo=UTC)


PATHS = ("src/auth/a.ts", "src/auth/deep/b.ts", "src/billing/c.ts", "README.md")


def record(entry, at):
    """One entry, received at a given moment, with its projections."""
    made = prepare(entry, at)
    (row_id,) = insert_rows(LedgerEntry, [made.row], returning=True)
    insert_rows(LedgerBody, [{"entry_id": row_id, "salt": made.salt, "body": made.body}])
    if entry.kind == "trace":
        write_projections([RecordedTrace(row_id, entry.workspace_id, parse_entry(entry.body))])
    return row_id


def decision(number, **fields):
    outcome = ("allow", "allow", "ask", "deny")[number % 4]
    reason = "" if outcome == "allow" else "not_in_scope"
    known = {
        "session_id": f"s-{number % 3}",
        "intent_id": f"INT-{number % 2}",
        "agent": ("codex", "Claude")[number % 2],
    }
    body = {"tool": "Write", "input": {"path": "x"}}
    return NewEntry(HOME, "decision", body, outcome=outcome, reason=reason, tool="Write", **known | fields)


def trace(path, intent="INT-0", workspace_id=HOME, entry_id=None):
    body = build_trace_entry(
        Mutation(path, content="x", mutation_class="AST_REFACTOR"), MutationAuthor("s-9", intent, model="m")
    )
    body |= {"id": entry_id} if entry_id else {}
    return NewEntry(
        workspace_id, "trace", body, entry_id=body["id"], session_id="s-9", intent_id=intent, agent="m",
        outcome="AST_REFACTOR",
    )  # fmt: skip


@pytest.fixture
def past():
    """Ten days of decisions and traces, an entry every five hours, and one of another workspace."""
    with transaction.atomic():
        for number in range(48):
            at = NOW - timedelta(hours=5 * (48 - number), minutes=number)
            record(decision(number) if number % 3 else trace(PATHS[number % 4]), at)
        record(trace("src/auth/a.ts", workspace_id=AWAY), NOW)


def wanted(query):
    return parse_filters(QueryDict(query), NOW)
