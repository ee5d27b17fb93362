"""Build the detail view of one entry: contents, files, proof of inclusion, redaction."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from traces.ledger import merkle, proofs
from traces.ledger.actors import describe_actor
from traces.ledger.append import read_body
from traces.ledger.redaction import find_redaction
from traces.models import Checkpoint, EntryKind, LedgerEntry, TraceFile
from traces.timeline.describe_entries import SealState, TimelineRow, describe, format_lines

MAX_INPUT = 6_000  # characters of a call's input
MAX_FILES = 50
MAX_PROOF_STEPS = 6


@dataclass(frozen=True, slots=True)
class ProofStep:
    """One hash on the path from the entry to the root: its `side`, and the number of `leaves` below it."""

    side: str
    hash: str
    leaves: int


@dataclass(frozen=True, slots=True)
class Proof:
    """A proof of inclusion; `steps` lead from entry to root, without the `omitted` ones in between.

    `is_valid` was computed when the page was built.
    """

    steps: tuple[ProofStep, ...]
    omitted: int
    size: int
    is_valid: bool
    head: Checkpoint


@dataclass(frozen=True, slots=True)
class EntryFile:
    """A file that an entry changed."""

    path: str
    lines: str
    content_hash: str
    deleted: bool


@dataclass(frozen=True, slots=True)
class Redaction:
    """Who redacted the body of an entry, when and why; `number` is the row of that record."""

    actor: str
    at: datetime
    reason: str
    number: int


@dataclass(frozen=True, slots=True)
class EntryView:
    """An entry as the drawer shows it.

    `input_text` is the tool input, "" for other kinds; `actor` is who made the entry.
    """

    entry: LedgerEntry
    row: TimelineRow
    seal: SealState
    files: tuple[EntryFile, ...]
    more_files: int
    input_text: str
    revision: str
    approval_id: str
    proof: Proof | None
    actor: str = ""
    redaction: Redaction | None = None


def find_entry(workspace_id: int, text: str) -> LedgerEntry | None:
    """Find an entry by row number, by position in the ledger (`#17`) or by id. 2 queries."""
    entries = LedgerEntry.objects.for_workspace(workspace_id).with_body_and_leaf()
    entries = entries.prefetch_related("files__ranges")
    digits = text.removeprefix("#")
    if digits.isascii() and digits.isdigit() and len(digits) < 19:
        column = "leaf__seq" if text.startswith("#") else "pk"
        return entries.filter(**{column: int(digits)}).first()
    return entries.filter(kind__in=EntryKind.values, entry_id=text).first() if text else None


def build_entry_view(entry: LedgerEntry) -> EntryView:
    """Build the view of an entry. At most 8 queries, whatever the size of the tree."""
    body = read_body(entry)
    row = describe(entry)
    rows = list(entry.files.all())
    files = {file.path: file for file in rows}
    seal = row.seal or SealState("sealing", 0)
    contents = body or {}
    vcs = contents.get("vcs") if isinstance(contents.get("vcs"), dict) else {}
    return EntryView(
        entry=entry,
        row=row,
        seal=seal,
        files=tuple(_build_entry_file(file, contents) for file in list(files.values())[:MAX_FILES]),
        more_files=max(0, len(files) - MAX_FILES),
        input_text=_format_input(contents) if entry.kind == EntryKind.DECISION else "",
        revision=str((vcs or {}).get("revision_id") or ""),
        approval_id=row.approval_id,
        proof=build_proof(entry) if seal.state == "sealed" else None,
        actor=describe_actor(entry),
        redaction=_find_redaction(entry) if body is None else None,
    )


def _find_redaction(entry: LedgerEntry) -> Redaction | None:
    """Return None for a body that only moved into an archive. 1 query."""
    record = find_redaction(entry)
    if record is None:
        return None
    return Redaction(describe_actor(record), record.received_at, record.reason, record.pk)


def build_proof(entry: LedgerEntry) -> Proof | None:
    """Prove now that a sealed entry is in the newest signed tree; None without one. At most 6 queries."""
    head = proofs.find_head(entry.workspace_id)
    if head is None:
        return None
    proof = proofs.prove_inclusion(entry, head.size)
    is_valid = merkle.verify_inclusion(proof.leaf_hash, proof.seq, head.size, proof.hashes, bytes(head.root))
    ranges = merkle.find_inclusion_ranges(proof.seq, head.size)
    siblings = [
        ProofStep("left" if start < proof.seq else "right", digest.hex(), end - start)
        for (start, end), digest in zip(ranges, proof.hashes, strict=True)
    ]
    leaf = ProofStep("entry", proof.leaf_hash.hex(), 1)
    root = ProofStep("root", bytes(head.root).hex(), head.size)
    visible = siblings[: MAX_PROOF_STEPS - 2]
    return Proof((leaf, *visible, root), len(siblings) - len(visible), head.size, is_valid, head)


def _build_entry_file(file: TraceFile, body: dict[str, Any]) -> EntryFile:
    ranges = [(line_range.start_line, line_range.end_line) for line_range in file.ranges.all()]
    text = ", ".join(f"{first}\N{EN DASH}{last}" for first, last in sorted(ranges)[:8])
    more = f" and {len(ranges) - 8} more" if len(ranges) > 8 else ""
    return EntryFile(file.path, f"{text}{more}" or format_lines(body), file.content_hash, file.deleted)


def _format_input(body: dict[str, Any]) -> str:
    if body.get("input") is None:
        return ""
    text = json.dumps(body["input"], ensure_ascii=False, indent=2)
    return text if len(text) <= MAX_INPUT else f"{text[:MAX_INPUT]}…"
