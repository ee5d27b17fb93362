"""Say how far the acceptance criteria of an intent are, for pages, cards and agents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from intents.evidence.records import Record, map_records
from intents.evidence.schema import CriterionStatus, EvidenceType
from intents.file_format.field_rules import parse_timestamp
from intents.models import Intent
from intents.summaries import one_line
from traces.models import EntryKind, LedgerEntry

NO_EVIDENCE = "no evidence"
MAX_LINE = 300
_NO_RECORD: Record = {}


@dataclass(frozen=True, slots=True)
class EvidenceItem:
    """A change, a command or a note. `number` is the row of its ledger entry, None where there is none here.

    `is_reported`: a contained run has reported the exit status; else it is the agent's word.
    """

    type: str
    text: str
    exit_status: int | None = None
    is_reported: bool = False
    number: int | None = None


@dataclass(frozen=True, slots=True)
class CriterionState:
    """A criterion with what proves it. Times are None where a file says none that can be read."""

    text: str
    status: str = CriterionStatus.OPEN.value
    claimed_by: str = ""
    claimed_at: datetime | None = None
    confirmed_by: str = ""
    confirmed_at: datetime | None = None
    evidence: tuple[EvidenceItem, ...] = ()

    @property
    def met(self) -> bool:
        return self.status == CriterionStatus.MET


def list_criteria(intent: Intent, records: Iterable[Record] | None = None) -> tuple[CriterionState, ...]:
    """Return the criteria of an intent by its own records, or by others. 1 query, 0 without evidence."""
    by_criterion = map_records(intent.acceptance_evidence if records is None else records)
    numbers = _find_numbers(intent, by_criterion.values())
    return tuple(
        _describe(text, by_criterion.get(text, _NO_RECORD), numbers) for text in intent.acceptance_criteria
    )


def render_criteria(intent: Intent) -> str:
    """Return one line a criterion for an agent: its status, its words, what proves it. At most 1 query."""
    return "\n".join(map(_render, list_criteria(intent)))


def _describe(text: str, record: Record, numbers: Mapping[tuple[str, str], int]) -> CriterionState:
    if not record:
        return CriterionState(text)
    return CriterionState(
        text,
        record["status"],
        record.get("claimed_by") or record.get("session_id", ""),
        parse_timestamp(record.get("claimed_at", "")),
        record.get("confirmed_by", ""),
        parse_timestamp(record.get("confirmed_at", "")),
        tuple(_describe_item(piece, numbers) for piece in record["evidence"]),
    )


def _describe_item(piece: Mapping[str, Any], numbers: Mapping[tuple[str, str], int]) -> EvidenceItem:
    kind, entry_id = piece["type"], piece.get("id", "")
    names = {EvidenceType.TRACE: "path", EvidenceType.COMMAND: "command", EvidenceType.NOTE: "text"}
    return EvidenceItem(
        kind,
        piece.get(names[kind]) or entry_id,
        piece.get("exit_status"),
        is_reported="run_id" in piece,
        number=numbers.get((_ENTRY_KINDS.get(kind, ""), entry_id)),
    )


_ENTRY_KINDS: Mapping[str, str] = {
    EvidenceType.TRACE: EntryKind.TRACE,
    EvidenceType.COMMAND: EntryKind.DECISION,
}


def _find_numbers(intent: Intent, records: Iterable[Record]) -> dict[tuple[str, str], int]:
    """Map (kind, id) of the entries that evidence names to their rows, where this ledger has them."""
    ids = {piece["id"] for record in records for piece in record["evidence"] if "id" in piece}
    if not ids:
        return {}
    entries = LedgerEntry.objects.for_workspace(intent.workspace_id).of_kinds(*_ENTRY_KINDS.values())
    rows = entries.filter(entry_id__in=ids, intent_id=intent.intent_id)
    return {(kind, entry_id): pk for kind, entry_id, pk in rows.values_list("kind", "entry_id", "pk")}


def _render(criterion: CriterionState) -> str:
    evidence = "; ".join(map(_render_item, criterion.evidence)) or NO_EVIDENCE
    return one_line(f"[{criterion.status}] {criterion.text}: {evidence}", MAX_LINE)


def _render_item(item: EvidenceItem) -> str:
    if item.type == EvidenceType.COMMAND and item.exit_status is not None:
        return f"{item.text} ended with {item.exit_status}"
    return f"changed {item.text}" if item.type == EvidenceType.TRACE else item.text
