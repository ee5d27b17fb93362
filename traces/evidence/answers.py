"""The proof of an answer: every entry that it names, against one signed head."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from traces.errors import EvidenceError
from traces.evidence.bundle import read_content
from traces.evidence.entry_proofs import prove_entries
from traces.ledger import proofs
from traces.ledger.checkpoints import parse_checkpoint
from traces.ledger.sealing import seal
from traces.models import EntryKind, LedgerEntry

CHUNK_SIZE = 500


def prove_answer(workspace_id: int, entry_ids: Iterable[str]) -> dict[str, Any]:
    """Seal, then return the newest head and the proofs of the named entries, with the bodies of traces.

    Raise EvidenceError while nothing is sealed.
    """
    seal(workspace_id)
    head = proofs.find_head(workspace_id)
    if head is None:
        raise EvidenceError("Nothing is sealed yet, so nothing can be proven.")
    origin = parse_checkpoint(head.note).origin
    proven: list[dict[str, Any]] = []
    for rows in _find_entries(workspace_id, sorted(set(entry_ids))):
        for entry, proof in prove_entries(head, rows):
            proven.append(proof | read_content(entry, is_visible=entry.kind == EntryKind.TRACE))
    return {"log": origin, "size": head.size, "checkpoint": head.note, "entries": proven}


def list_named_entries(answer: Any) -> Iterator[str]:
    """Yield the values of every `entry_id` in an answer, however deep."""
    if isinstance(answer, dict):
        for name, value in answer.items():
            if name == "entry_id" and isinstance(value, str):
                yield value
            else:
                yield from list_named_entries(value)
    elif isinstance(answer, list):
        for item in answer:
            yield from list_named_entries(item)


def _find_entries(workspace_id: int, names: list[str]) -> Iterator[list[LedgerEntry]]:
    """Yield the entries with these ids, of any kind."""
    rows = LedgerEntry.objects.for_workspace(workspace_id).of_kinds(*EntryKind.values)
    for at in range(0, len(names), CHUNK_SIZE):
        found = rows.filter(entry_id__in=names[at : at + CHUNK_SIZE])
        yield list(found.with_body_and_leaf().oldest_first())
