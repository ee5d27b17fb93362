"""Prove many entries at once against one signed head."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from traces.ledger import merkle
from traces.ledger.checkpoints import parse_checkpoint
from traces.ledger.proofs import StoredNodes
from traces.models import Checkpoint, LedgerEntry


def prove_entries(
    head: Checkpoint, entries: Sequence[LedgerEntry]
) -> Iterator[tuple[LedgerEntry, dict[str, Any]]]:
    """Yield each entry that the head covers with its proof as a document. 2 queries, and 2 at the right edge.

    Entries come with their leaves. Those that were sealed after the head are left out.
    """
    ranges = {
        entry.pk: merkle.find_inclusion_ranges(leaf.seq, head.size)
        for entry in entries
        if (leaf := getattr(entry, "leaf", None)) is not None and leaf.seq < head.size
    }
    nodes = StoredNodes(head.workspace_id)
    nodes.prefetch([one for path in ranges.values() for one in path], [head.size])
    for entry in entries:
        if entry.pk in ranges:
            hashes = merkle.compute_proof(nodes, ranges[entry.pk])
            yield entry, _to_document(entry, hashes)


def prove_named(head: Checkpoint, entry_ids: Iterable[str]) -> list[dict[str, Any]]:
    """Return the proofs of entries of the ledger by id, in the order of the ledger."""
    rows = LedgerEntry.objects.for_workspace(head.workspace_id).filter(entry_id__in=sorted(set(entry_ids)))
    return [proof for _, proof in prove_entries(head, list(rows.with_body_and_leaf().order_by("leaf__seq")))]


def describe_head(head: Checkpoint) -> dict[str, Any]:
    """Return what an answer says of the head that its proofs lead to."""
    return {"log": parse_checkpoint(head.note).origin, "size": head.size, "checkpoint": head.note}


def _to_document(entry: LedgerEntry, hashes: Iterable[bytes]) -> dict[str, Any]:
    return {
        "entry_id": entry.entry_id,
        "seq": entry.leaf.seq,
        "envelope": bytes(entry.envelope).decode(),
        "hashes": [node.hex() for node in hashes],
    }
