"""Stream the matching entries as JSON Lines or CSV, newest first, in constant memory."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from traces.browser.filters import EntryFilters
from traces.browser.search import (
    QueryBranch,
    build_branches,
    list_newest_ids,
    list_oldest_ids,
    load_entries,
)
from traces.counts.counters import list_uncounted
from traces.evidence.bundle import EvidenceRequest, stream_bundle
from traces.ledger.actors import describe_actor
from traces.ledger.append import format_instant, read_body
from traces.ledger.missing_bodies import MissingBodies
from traces.ledger.sealing import seal
from traces.models import LedgerEntry
from traces.timeline.describe_entries import describe

CHUNK_SIZE = 500
COLUMNS = (
    "number", "seq", "received_at", "kind", "outcome", "agent", "tool", "intent_id", "session_id",
    "error_type", "reason", "paths", "summary", "id", "by",
)  # fmt: skip
FORMULA_PREFIXES = (
    "=", "+", "-", "@", "\t", "\r", "\n", "\N{FULLWIDTH EQUALS SIGN}", "\N{FULLWIDTH PLUS SIGN}",
    "\N{FULLWIDTH HYPHEN-MINUS}", "\N{FULLWIDTH COMMERCIAL AT}",
)  # fmt: skip


def stream_json_lines(branches: Sequence[QueryBranch], workspace_id: int) -> Iterator[bytes]:
    """Yield one entry per line with its body.

    Where the body is missing it is null, and the summary says why.
    """
    missing_bodies = MissingBodies(workspace_id)
    for entry in _iterate_entries(branches):
        row = _build_row(entry, missing_bodies) | {"body": read_body(entry)}
        yield json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode(errors="replace") + b"\n"


def stream_csv(branches: Sequence[QueryBranch], workspace_id: int) -> Iterator[bytes]:
    """Yield RFC 4180 with a header line, formulas defused."""
    yield _encode_csv_row(COLUMNS)
    missing_bodies = MissingBodies(workspace_id)
    for entry in _iterate_entries(branches):
        row = _build_row(entry, missing_bodies)
        yield _encode_csv_row(
            [escape_formula("; ".join(row["paths"]) if name == "paths" else row[name]) for name in COLUMNS]
        )


def stream_evidence(workspace_id: int, filters: EntryFilters, request: EvidenceRequest) -> Iterator[bytes]:
    """Seal, then return a zip of the matching entries, oldest first, with proofs. Raise EvidenceError."""
    seal(workspace_id)
    branches = build_branches(workspace_id, filters, list_uncounted(workspace_id))
    return stream_bundle(workspace_id, request, partial(list_oldest_ids, branches))


def escape_formula(value: Any) -> str:
    """Return the text of a cell that no spreadsheet takes for a formula."""
    text = "" if value is None else str(value)
    return f"'{text}" if text.lstrip(" ").startswith(FORMULA_PREFIXES) else text


def _iterate_entries(branches: Sequence[QueryBranch]) -> Iterator[LedgerEntry]:
    """Yield matching entries; those recorded meanwhile are left out. 2 queries per chunk and 1 per branch."""
    before: int | None = None
    while ids := list_newest_ids(branches, CHUNK_SIZE, before=before):
        yield from load_entries(ids)
        before = ids[-1]


def _build_row(entry: LedgerEntry, missing_bodies: MissingBodies) -> dict[str, Any]:
    row = describe(entry, missing_bodies)
    columns = {
        name: getattr(entry, name) for name in ("kind", "outcome", "agent", "tool", "intent_id", "session_id")
    }
    return columns | {
        "number": entry.pk,
        "id": entry.entry_id,
        "seq": row.seal.number if row.seal and row.seal.state == "sealed" else None,
        "received_at": format_instant(entry.received_at),
        "error_type": entry.error_type,
        "reason": entry.reason,
        "by": describe_actor(entry),
        "paths": sorted({file.path for file in entry.files.all()}),
        "summary": " ".join(part for part in (row.verb, row.object, row.note) if part),
    }


def _encode_csv_row(cells: Sequence[str]) -> bytes:
    line = io.StringIO()
    csv.writer(line).writerow(cells)
    return line.getvalue().encode(errors="replace")
