"""Verify a workspace's ledger from the evidence alone: hashes, positions, tiles, signed heads.

Then verify what is read instead of it: the rows of projections against the entry that each belongs to, and
counts against those rows. Every entry is read once, in order, in constant memory. Problems are located as
exactly as the evidence allows: an entry, a tile, or the first signed head that the entries no longer lead to.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from traces.ledger import merkle
from traces.ledger.append import TEXT_LIMITS, format_instant
from traces.ledger.checkpoints import (
    NoteError,
    SignedNote,
    parse_checkpoint,
)
from traces.ledger.log_name import is_log_name
from traces.ledger.proofs import TILE_WIDTH, find_head, split_hashes
from traces.models import Checkpoint, EntryKind, LedgerBody, LedgerEntry, LedgerLeaf, LedgerTile
from traces.verification.counts import find_changed_counts
from traces.verification.keys import SignerCheck
from traces.verification.registry import list_projections
from traces.verification.removed_bodies import RemovedBodies, load_removed_bodies
from traces.verification.report import VerificationReport

CHUNK = 1000
OUTSIDE = "the checkpoint from outside"
PROJECTION_CHANGED = "PROJECTION_CHANGED"


@dataclass(frozen=True, slots=True)
class ExpectedHead:
    """The root that the entries must lead to at `size`, and where it comes from."""

    size: int
    root: bytes
    source: str


def verify(workspace_id: int, *, outside: Sequence[str] = ()) -> VerificationReport:
    """Verify everything. `outside` holds checkpoints, as text, that were kept outside the database."""
    report = VerificationReport(workspace_id)
    newest = find_head(workspace_id)
    report.size = newest.size if newest else 0
    heads = _load_heads(report, outside)
    removed = load_removed_bodies(report)
    _check_tree(report, heads, removed)
    unsealed = _read_unsealed(workspace_id)
    while entries := list(islice(unsealed, CHUNK)):
        report.unsealed += len(entries)
        check_entries(report, [(entry, None) for entry in entries], removed)
    for projection in list_projections():
        for text in projection.find_strays(workspace_id):
            report.add(PROJECTION_CHANGED, text)
    for text in find_changed_counts(workspace_id):
        report.add(PROJECTION_CHANGED, text)
    return report


def _check_tree(
    report: VerificationReport, heads: dict[int, list[ExpectedHead]], removed: RemovedBodies
) -> None:
    frontier: list[bytes] = []
    tiles = _TileCheck(report)
    for leaves in read_leaves(report):
        check_entries(report, [(leaf.entry, leaf.seq) for leaf in leaves], removed)
        for leaf in leaves:
            leaf_hash = merkle.leaf_hash(bytes(leaf.entry.envelope))
            tiles.add(leaf, leaf_hash)
            merkle.extend_frontier(frontier, report.checked, leaf_hash)
            report.checked += 1
            for head in heads.pop(report.checked, []):
                _check_head(report, head, merkle.fold_roots(frontier), heads)
    report.root = merkle.fold_roots(frontier).hex()
    if report.checked < report.size:
        text = f"the newest signed head covers {report.size} entries, only {report.checked} are there"
        report.add("ENTRIES_MISSING", text)
    for head in [head for remaining in heads.values() for head in remaining if head.size > report.size]:
        report.add(
            "ENTRIES_MISSING", f"{head.source} covers {head.size} entries, the ledger has {report.size}"
        )


def read_leaves(report: VerificationReport, limit: int = CHUNK) -> Iterator[list[LedgerLeaf]]:
    """Yield sealed entries in order, `limit` at a time, up to the size of the head. Stop at the first gap."""
    rows = LedgerLeaf.objects.filter(workspace_id=report.workspace_id).select_related("entry__body")
    while report.checked < report.size:
        chunk = list(rows.filter(seq__gte=report.checked, seq__lt=report.size).order_by("seq")[:limit])
        consecutive = [leaf for at, leaf in enumerate(chunk, start=report.checked) if leaf.seq == at]
        if consecutive:
            yield consecutive
        if len(consecutive) < len(chunk):
            text = f"entries #{report.checked} to #{chunk[len(consecutive)].seq - 1} are gone"
            report.add("ENTRIES_MISSING", text, seq=report.checked)
        if len(consecutive) < len(chunk) or not chunk:
            return


def check_entries(
    report: VerificationReport,
    entries: Sequence[tuple[LedgerEntry, int | None]],
    removed: RemovedBodies,
) -> None:
    """Check entries, which come with their positions, and the rows that are projected from them."""
    readable = [entry for entry, seq in entries if _check_entry(report, entry, seq, removed)]
    positions = {entry.pk: seq for entry, seq in entries}
    for projection in list_projections():
        for entry, text in projection.find_changes(readable, removed.redacted):
            report.add(PROJECTION_CHANGED, text, entry, positions[entry.pk])


def _check_entry(
    report: VerificationReport, entry: LedgerEntry, seq: int | None, removed: RemovedBodies
) -> bool:
    """Report what is wrong with an entry. Return whether its envelope is the one that was hashed."""
    envelope = bytes(entry.envelope)
    if merkle.leaf_hash(envelope) != bytes(entry.leaf_hash):
        report.add("ENTRY_CHANGED", "its envelope is not the one that was hashed", entry, seq)
        return False
    fields = json.loads(envelope)
    changed = [name for name, value in _read_columns(entry).items() if fields.get(name, "") != value]
    if changed:
        report.add("COPY_CHANGED", f"columns differ from the envelope: {', '.join(changed)}", entry, seq)
    _check_body(report, entry, seq, removed)
    return True


def _check_body(
    report: VerificationReport, entry: LedgerEntry, seq: int | None, removed: RemovedBodies
) -> None:
    try:
        stored = entry.body
    except LedgerBody.DoesNotExist:
        if entry.pk in removed.redacted:
            report.redacted += 1
        elif removed.in_archive(entry, seq):
            report.archived += 1
        else:
            text = "its body is missing, but no redaction names it and no signed archive holds it"
            report.add("BODY_MISSING", text, entry, seq)
        return
    if hashlib.sha256(bytes(stored.salt) + bytes(stored.body)).digest() != bytes(entry.body_digest):
        report.add("BODY_CHANGED", "its body is not the one that was recorded", entry, seq)
    elif entry.pk in removed.redacted:
        report.add("BODY_RETURNED", "a redaction took its body out, and it is there again", entry, seq)


def _read_columns(entry: LedgerEntry) -> dict[str, Any]:
    texts = {name: getattr(entry, name) for name in TEXT_LIMITS if name != "actor"}
    return texts | {
        "workspace_id": entry.workspace_id,
        "kind": entry.kind,
        "entry_id": entry.entry_id,
        "idempotency_key": entry.idempotency_key or "",
        "received_at": format_instant(entry.received_at),
        "body_digest": bytes(entry.body_digest).hex(),
    }


class _TileCheck:
    """Compare full tiles with the hashes of the entries, level by level."""

    def __init__(self, report: VerificationReport) -> None:
        self.report = report
        self.levels: dict[int, list[bytes]] = defaultdict(list)
        self.first: list[LedgerLeaf] = []
        self.index: dict[int, int] = defaultdict(int)

    def add(self, leaf: LedgerLeaf, leaf_hash: bytes) -> None:
        self.first.append(leaf)
        self._add(0, leaf_hash)

    def _add(self, level: int, node: bytes) -> None:
        hashes = self.levels[level]
        hashes.append(node)
        if len(hashes) < TILE_WIDTH:
            return
        self._compare(level, self.index[level], hashes)
        self.index[level] += 1
        self.levels[level] = []
        if level == 0:
            self.first = []
        self._add(level + 1, merkle.fold_complete_subtree(hashes))

    def _compare(self, level: int, index: int, hashes: list[bytes]) -> None:
        tile = LedgerTile.objects.filter(
            workspace_id=self.report.workspace_id, level=level, index=index
        ).first()
        if tile is None:
            self.report.add("TILE_MISSING", f"tile {level}/{index} is gone")
            return
        stored = split_hashes(bytes(tile.hashes))
        if stored == hashes and bytes(tile.root) == merkle.fold_complete_subtree(hashes):
            return
        changed = [at for at, pair in enumerate(zip(stored, hashes, strict=False)) if pair[0] != pair[1]]
        if level == 0 and changed:
            leaf = self.first[changed[0]]
            self.report.add("ENTRY_CHANGED", "its hash differs from the sealed tile", leaf.entry, leaf.seq)
        else:
            self.report.add("TILE_CHANGED", f"tile {level}/{index} does not follow from the entries")


def _load_heads(report: VerificationReport, outside: Sequence[str]) -> dict[int, list[ExpectedHead]]:
    heads: dict[int, list[ExpectedHead]] = defaultdict(list)
    signers = SignerCheck(report)
    report.outside = len(outside)
    for row in Checkpoint.objects.filter(workspace_id=report.workspace_id).order_by("size").iterator():
        report.checkpoints += 1
        source = f"the signed head of size {row.size}"
        heads[row.size].append(ExpectedHead(row.size, bytes(row.root), source))
        note = _parse_head(report, row.note, source)
        if note:
            signers.check(note, source, outside=False)
        if note and (note.size, note.root) != (row.size, bytes(row.root)):
            report.add("CHECKPOINT_CHANGED", f"{source} says something else than what was signed")
    for text in outside:
        note = _parse_head(report, text, OUTSIDE)
        if note:
            signers.check(note, OUTSIDE, outside=True)
        if note and note.size:
            heads[note.size].append(ExpectedHead(note.size, note.root, OUTSIDE))
    return heads


def _parse_head(report: VerificationReport, text: str, source: str) -> SignedNote | None:
    try:
        note = parse_checkpoint(text)
    except NoteError as error:
        report.add("CHECKPOINT_CHANGED", f"{source} cannot be read: {error}")
        return None
    if not is_log_name(note.origin, report.workspace_id):
        report.add("CHECKPOINT_CHANGED", f"{source} is of another log, {note.origin}")
        return None
    return note


def _check_head(
    report: VerificationReport, head: ExpectedHead, root: bytes, other_heads: dict[int, list[ExpectedHead]]
) -> None:
    """Report the first head that does not match; later ones of this database would only repeat it."""
    if head.root == root:
        return
    report.add("ROOT_MISMATCH", f"the entries do not lead to {head.source}")
    for size, heads in other_heads.items():
        other_heads[size] = [head for head in heads if head.source == OUTSIDE]


def _read_unsealed(workspace_id: int) -> Iterator[LedgerEntry]:
    entries = LedgerEntry.objects.for_workspace(workspace_id).of_kinds(*EntryKind.values).unsealed()
    return entries.with_body().oldest_first().iterator(chunk_size=CHUNK)
