"""Select what an outlet receives of an entry: who, what, outcome and position in the ledger.

Contents (inputs, diffs, commands) are included only where an outlet asks for them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from traces.entries.mutation_class_check import describe_class_check
from traces.ledger.append import format_instant, read_body
from traces.models import LedgerEntry, LedgerLeaf, Outlet

COLUMNS = ("session_id", "intent_id", "outcome", "agent", "tool", "error_type", "reason")

# Fields of a body that identify things; nothing that an agent wrote at length.
POINTERS = (
    "event",
    "status",
    "approval_id",
    "decision_id",
    "grant",
    "expires_at",
    "targets",
    "classification",
    "tool_use_id",
    "intent_revision",
    "revisions",
    "override",
)


@dataclass(frozen=True, slots=True)
class OutletRecord:
    """An entry as an outlet receives it. `body` is None where it was redacted."""

    seq: int
    entry: LedgerEntry
    body: dict[str, Any] | None = field(repr=False)
    include_body: bool = False

    def to_document(self) -> dict[str, Any]:
        entry = self.entry
        document: dict[str, Any] = {
            "seq": self.seq,
            "kind": entry.kind,
            "id": entry.entry_id,
            "received_at": format_instant(entry.received_at),
            "leaf_hash": bytes(entry.leaf_hash).hex(),
        }
        document |= {name: value for name in COLUMNS if (value := getattr(entry, name))}
        document |= describe_class_check(entry)
        return document | {"body": self.body if self.include_body else self.list_pointers()}

    def list_pointers(self) -> dict[str, Any]:
        body = self.body or {}
        pointers = {name: body[name] for name in POINTERS if body.get(name) not in (None, [], "")}
        files = [file["relative_path"] for file in body.get("files") or [] if "relative_path" in file]
        return pointers | ({"files": files} if files else {})


def load_records(outlet: Outlet, limit: int) -> tuple[list[OutletRecord], int]:
    """Return the next records for an outlet, and the position after the last one scanned. 1 query."""
    leaves = (
        LedgerLeaf.objects.filter(workspace_id=outlet.workspace_id, seq__gte=outlet.next_seq)
        .select_related("entry", "entry__body")
        .order_by("seq")[:limit]
    )
    scanned = list(leaves)
    selected = [leaf for leaf in scanned if not outlet.kinds or leaf.entry.kind in outlet.kinds]
    records = [OutletRecord(leaf.seq, leaf.entry, read_body(leaf.entry), outlet.whole) for leaf in selected]
    return records, scanned[-1].seq + 1 if scanned else outlet.next_seq
