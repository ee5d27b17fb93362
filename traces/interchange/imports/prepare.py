"""Prepare batches of entries: everything an import needs to know about a source, except the database.

The work is the same in the importing process and in a worker (`traces.interchange.imports.worker_process`),
so that an import reports and stores the same either way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from traces.entries.batches import Batch, build_batch
from traces.entries.deduplicate import SubmittedEntry, validate_fields
from traces.entries.record import StoreOptions
from traces.interchange.formats import agent_trace
from traces.interchange.formats.foreign_chain import ForeignChain
from traces.interchange.formats.json_lines import RawLine, read_lines
from traces.interchange.imports import json_recovery, strict_reader
from traces.interchange.imports.repairs import repair_record
from traces.interchange.imports.report import ImportReport, Remark
from traces.ledger import canonical_json

ReadFunction = Callable[[int], bytes]
EntrySource = Callable[[ImportReport], Iterable[SubmittedEntry]]


@dataclass(frozen=True, slots=True)
class PrepareOptions:
    """How to prepare a source: batches of `batch_size` entries for a database of `vendor`.

    With `commit_size` a batch ends whenever so many entries are complete. `lenient` applies to files.
    """

    workspace_id: int
    store_options: StoreOptions
    vendor: str
    batch_size: int
    commit_size: int | None = None
    lenient: bool = False


@dataclass(frozen=True, slots=True)
class PreparedBatch:
    """A batch, and what was reported while it was read. `source_records` are the records of the file.

    `chain_summary` describes the file's own hash chain so far. The last batch may be empty.
    """

    batch: Batch
    source_records: list[bytes]
    report: ImportReport
    chain_summary: dict[str, Any] | None
    ends_commit: bool
    is_last: bool


def prepare_batches(source: EntrySource, options: PrepareOptions) -> Iterator[PreparedBatch]:
    """Yield the batches of a source in order. Memory is one batch."""
    report, chain = ImportReport(), ForeignChain()
    entries = iter(source(report))
    for size, ends_commit in _iterate_batch_sizes(options):
        chunk = list(islice(entries, size))
        for entry in chunk:
            chain.add(_original_record(entry), entry.line)
        batch = build_batch(options.workspace_id, chunk, options.store_options, options.vendor)
        source_records = list(map(_encode_original_record, chunk, batch.bodies))
        is_last = len(chunk) < size
        yield PreparedBatch(batch, source_records, report.drain(), chain.summary(), ends_commit, is_last)
        if is_last:
            return


def read_entries(read: ReadFunction, lenient: bool, report: ImportReport) -> Iterator[SubmittedEntry]:
    """Yield the entries of a file; report what is wrong with it."""
    lines = read_lines(read)
    return _read_leniently(lines, report) if lenient else strict_reader.read_entries(lines, report)


def _iterate_batch_sizes(options: PrepareOptions) -> Iterator[tuple[int, bool]]:
    """Yield (entries of the next batch, whether it ends a commit)."""
    while True:
        entries_left = options.commit_size or options.batch_size
        while entries_left:
            size = min(options.batch_size, entries_left)
            entries_left -= size
            yield size, options.commit_size is not None and not entries_left


def _original_record(entry: SubmittedEntry) -> dict[str, Any]:
    original = entry.value.get("original")
    return original if isinstance(original, dict) else entry.value


def _encode_original_record(entry: SubmittedEntry, encoded: bytes) -> bytes:
    """Encode the record as it was in the file, whichever way it was read."""
    original = entry.value.get("original")
    return canonical_json.encode(original) if isinstance(original, dict) else encoded


def _read_leniently(lines: Iterable[RawLine], report: ImportReport) -> Iterator[SubmittedEntry]:
    for document in json_recovery.recover_documents(lines, report):
        if agent_trace.is_record(document.value):
            entry = SubmittedEntry(agent_trace.to_entry(document.value), document.line)
            if not validate_fields(entry):
                yield entry
                continue
        repaired = repair_record(document.value)
        for kind, message in repaired.remarks:
            report.warn(Remark(kind, message, document.line))
        yield SubmittedEntry(repaired.entry, document.line)
