"""What others are told of an entry: who, what, how it ended and its place in the ledger.

Contents (inputs, diffs, commands) go along only where an outlet asks for them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from traces.entries.mutation_class_check import checked_class
from traces.ledger.append import body_of, instant
from traces.models import LedgerEntry, LedgerLeaf, Outlet

COLUMNS = ("session_id", "intent_id", "outcome", "agent", "tool", "error_type", "reason")

# Of a body, what says where to look, and nothing that an agent wrote at length.
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
class Record:
    """An entry as it is told. `body` is None where it was taken out of the ledger."""

    seq: int
    entry: LedgerEntry
    body: dict[str, Any] | None = field(repr=False)
    whole: bool = False

    def document(self) -> dict[str, Any]:
        entry = self.entry
        told: dict[str, Any] = {
            "seq": self.seq,
            "kind": entry.kind,
            "id": entry.entry_id,
            "received_at": instant(entry.received_at),
            "leaf_hash": bytes(entry.leaf_hash).hex(),
        }
        told |= {name: value for name in COLUMNS if (value := getattr(entry, name))}
        told |= checked_class(entry)
        return told | {"body": self.body if self.whole else self.pointers()}

    def pointers(self) -> dict[str, Any]:
        body = self.body or {}
        found = {name: body[name] for name in POINTERS if body.get(name) not in (None, [], "")}
        files = [file["relative_path"] for file in body.get("files") or [] if "relative_path" in file]
        return found | ({"files": files} if files else {})


def records_of(outlet: Outlet, most: int) -> tuple[list[Record], int]:
    """The next records that an outlet wants, and the place behind the last one looked at. 1 query."""
    leaves = (
        LedgerLeaf.objects.filter(workspace_id=outlet.workspace_id, seq__gte=outlet.next_seq)
        .select_related("entry", "entry__body")
        .order_by("seq")[:most]
    )
    looked_at = list(leaves)
    wanted = [leaf for leaf in looked_at if not outlet.kinds or leaf.entry.kind in outlet.kinds]
    records = [Record(leaf.seq, leaf.entry, body_of(leaf.entry), outlet.whole) for leaf in wanted]
    return records, looked_at[-1].seq + 1 if looked_at else outlet.next_seq
