"""Import a complete ledger file, strictly or with repairs: everything valid, or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from django.db import connection, transaction

from traces.entries.batches import store_batch
from traces.entries.record import StoreOptions, find_conflicts
from traces.interchange.formats import foreign_chain
from traces.interchange.formats.json_lines import read_lines
from traces.interchange.imports import strict_reader
from traces.interchange.imports.chunks import count_stored, split_chunks
from traces.interchange.imports.prepare import (
    EntrySource,
    PreparedBatch,
    PrepareOptions,
    ReadFunction,
    prepare_batches,
)
from traces.interchange.imports.report import ImportReport, Remark
from traces.interchange.imports.rewrite_check import DEFAULT_SOURCE, MAX_RECORDED_IDS, RewriteDetector
from traces.interchange.imports.worker_process import open_batches
from traces.ledger.append import NewEntry, append
from traces.ledger.bulk_insert import analyze_once, bulk_settings
from traces.ledger.sealing import seal
from traces.models import EntryKind, LedgerEntry

BATCH_SIZE = 500  # entries


@dataclass(frozen=True, slots=True)
class TraceImportOptions:
    """How to import. `dry_run` reports what would happen and changes nothing.

    `source` names the file, so that a later version is compared with this one. With `commit_every` so many
    entries are committed at a time: an interrupted import resumes where it stopped when it is started again.
    With `use_worker` a large file is prepared by a second process while this one writes.
    """

    workspace_id: int
    actor: str
    lenient: bool = False
    dry_run: bool = False
    source: str = DEFAULT_SOURCE
    commit_every: int | None = None
    is_ordered: bool = True  # False: a later version of the source may start differently
    use_worker: bool = False

    def in_one_commit(self) -> TraceImportOptions:
        return replace(self, commit_every=None)

    @property
    def is_incremental(self) -> bool:
        return self.commit_every is not None and not self.dry_run

    @property
    def store_options(self) -> StoreOptions:
        """Store as imported: a file tells of a past that others recorded."""
        return StoreOptions(self.actor, imported=True, source=self.source, keep_conflicts=self.lenient)

    @property
    def prepare_options(self) -> PrepareOptions:
        commit_size = self.commit_every if self.is_incremental else None
        return PrepareOptions(
            self.workspace_id, self.store_options, connection.vendor, BATCH_SIZE, commit_size, self.lenient
        )


@dataclass(slots=True)
class FileChecks:
    """Check what only a complete file shows: a rewritten history, and its own hash chain."""

    rewrites: RewriteDetector
    chain_summary: dict[str, Any] | None = None

    def add(self, batch: PreparedBatch) -> None:
        self.rewrites.add(batch.batch.ids, batch.source_records)
        self.chain_summary = batch.chain_summary


@dataclass(slots=True)
class ImportSealer:
    """Seal what an import records, after everything that was pending, so that no entry is skipped.

    However long a transaction was, its row ids are above those that existed when it began.
    """

    options: TraceImportOptions
    _sealed_to: int = 0

    def __post_init__(self) -> None:
        if not self.options.dry_run:
            # Read before sealing: a row that is committed meanwhile must not fall below the mark.
            newest = LedgerEntry.objects.highest_row_id()
            seal(self.options.workspace_id)
            self._sealed_to = newest

    def seal_new(self) -> None:
        if not self.options.dry_run:
            self._sealed_to = seal(self.options.workspace_id, after=self._sealed_to).through


def import_file(read: ReadFunction, options: TraceImportOptions) -> ImportReport:
    """Import what `read(size)` returns. Memory does not grow with the file.

    Raises WorkerStoppedError when a second process was stopped: what was committed is kept.
    """
    with open_batches(read, options.prepare_options, use_worker=options.use_worker) as batches:
        return _import_batches(batches, options)


def check_file(read: ReadFunction, options: TraceImportOptions) -> ImportReport:
    """Report what a strict import would refuse, without storing anything.

    Conflicts with the ledger are found only if it holds traces already; 1 query per chunk then.
    """
    report = ImportReport()
    has_traces = LedgerEntry.objects.for_workspace(options.workspace_id).of_kind(EntryKind.TRACE).exists()
    rewrites = RewriteDetector(options.workspace_id, options.source)
    for chunk in split_chunks(strict_reader.read_entries(read_lines(read), report)):
        for rival in find_conflicts(options.workspace_id, chunk) if has_traces else ():
            error = rival.to_error()
            report.error(Remark(error.type, error.message, error.line))
            rewrites.add_conflict(rival, is_stored=False)
    report.rewrite = rewrites.to_altered()
    return report


def import_entries(source: EntrySource, options: TraceImportOptions) -> ImportReport:
    """Import what a source returns; it may add to the report while it is read."""
    return _import_batches(prepare_batches(source, options.prepare_options), options)


def _import_batches(batches: Iterator[PreparedBatch], options: TraceImportOptions) -> ImportReport:
    """Store the batches and seal them. The first batch is ready before a transaction begins."""
    report = ImportReport()
    checks = FileChecks(RewriteDetector(options.workspace_id, options.source, ordered=options.is_ordered))
    sealer = ImportSealer(options)
    # Wait for the worker here: an open transaction would hold the write lock while it starts.
    batches = chain([next(batches)], batches)
    if options.is_incremental:
        _apply_incrementally(batches, options, report, checks, sealer)
    else:
        _apply_at_once(batches, options, report, checks)
    sealer.seal_new()
    return report


def _apply_incrementally(
    batches: Iterator[PreparedBatch],
    options: TraceImportOptions,
    report: ImportReport,
    checks: FileChecks,
    sealer: ImportSealer,
) -> None:
    """Store and seal commit by commit; the next one is prepared meanwhile."""
    with bulk_settings():
        for commit_batches in _group_by_commit(batches):
            _apply_batches(commit_batches, options, report, checks)
            if not report.is_valid:
                break
            sealer.seal_new()
    _finish(options, report, checks)


def _apply_at_once(
    batches: Iterator[PreparedBatch], options: TraceImportOptions, report: ImportReport, checks: FileChecks
) -> None:
    with transaction.atomic():
        _apply_batches(batches, options, report, checks)
        _finish(options, report, checks)
        if options.dry_run or not report.is_valid:
            transaction.set_rollback(True)


def _apply_batches(
    batches: Iterable[PreparedBatch], options: TraceImportOptions, report: ImportReport, checks: FileChecks
) -> None:
    """Store batches that belong together: all of them, or none where one entry is in error.

    Without incremental commits the caller has opened the transaction: another one would be a savepoint, and
    SQLite keeps in memory everything that changes under a savepoint.
    """
    counts_before = report.entries, report.duplicates
    with transaction.atomic() if options.is_incremental else nullcontext():
        for batch in batches:
            report.merge(batch.report)
            checks.add(batch)
            _store_batch(batch, options, report, checks)
            if checks.rewrites.records == BATCH_SIZE:
                analyze_once(LedgerEntry)  # the planner knew an empty table until now
        if not report.is_valid and options.is_incremental:
            transaction.set_rollback(True)
    if not report.is_valid:
        report.entries, report.duplicates = counts_before


def _group_by_commit(batches: Iterable[PreparedBatch]) -> Iterator[Iterator[PreparedBatch]]:
    """Yield the batches of each commit, read while they are used."""
    rest = iter(batches)
    for first in rest:
        yield _iterate_commit(first, rest)


def _iterate_commit(first: PreparedBatch, rest: Iterator[PreparedBatch]) -> Iterator[PreparedBatch]:
    yield first
    if not (first.ends_commit or first.is_last):
        for batch in rest:
            yield batch
            if batch.ends_commit:
                return


def _store_batch(
    batch: PreparedBatch, options: TraceImportOptions, report: ImportReport, checks: FileChecks
) -> None:
    stored = store_batch(options.workspace_id, batch.batch, options.store_options)
    for rival in count_stored(stored, report, lenient=options.lenient).conflicts:
        checks.rewrites.add_conflict(rival, is_stored=options.lenient)


def _finish(options: TraceImportOptions, report: ImportReport, checks: FileChecks) -> None:
    """Report what the complete file shows, and record the import.

    A file with other errors shows no history.
    """
    report.foreign_chain = checks.chain_summary
    if report.foreign_chain and report.foreign_chain["first_break"]:
        message = foreign_chain.describe_chain(report.foreign_chain)
        message = f"{message}. Reordering fields after they were hashed has the same effect."
        report.warn(Remark("FOREIGN_CHAIN_BROKEN", message, report.foreign_chain["first_break"]))
    # After any other error records are missing from the comparison, and would look removed.
    if all(error.type == "DUPLICATE_ID" for error in report.errors):
        report.rewrite = checks.rewrites.find_rewrite()
    if report.is_valid and not options.dry_run and (report.entries or not checks.rewrites.is_unchanged):
        _record_import(options, report, checks.rewrites)


def _record_import(options: TraceImportOptions, report: ImportReport, rewrites: RewriteDetector) -> None:
    body: dict[str, Any] = {
        "what": "traces",
        "source": options.source,
        "lenient": options.lenient,
        "entries": report.entries,
        "duplicates": report.duplicates,
        "warnings": report.warning_count,
        "records": rewrites.records,
        "digest": rewrites.digest,
    }
    if report.foreign_chain:
        body["foreign_chain"] = report.foreign_chain
    if report.rewrite:
        body["rewrite"] = report.rewrite.to_dict(MAX_RECORDED_IDS)
    entry = NewEntry(
        options.workspace_id,
        EntryKind.IMPORT,
        body,
        outcome="applied",
        reason=options.source,
        actor=options.actor,
    )
    append(entry)
