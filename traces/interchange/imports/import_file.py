"""Bringing a whole ledger file in: to the letter, or with repairs; always all of what is valid or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from django.db import connection, transaction

from traces.entries.batches import store_batch
from traces.entries.record import Storing, rivals_of
from traces.interchange.formats import foreign_chain
from traces.interchange.formats.json_lines import read_lines
from traces.interchange.imports import strict_reader
from traces.interchange.imports.chunks import chunks_of, counted
from traces.interchange.imports.prepare import Part, Preparing, Read, Source, parts_of
from traces.interchange.imports.report import ImportReport, Remark
from traces.interchange.imports.rewrite_check import MAX_KEPT, SOURCE, History
from traces.interchange.imports.worker_process import prepared
from traces.ledger.append import NewEntry, append
from traces.ledger.bulk_insert import learn, room
from traces.ledger.sealing import seal
from traces.models import Kind, LedgerEntry

BATCH = 500  # entries


@dataclass(frozen=True, slots=True)
class Import:
    """How to bring entries in. `dry_run` reports what would happen and changes nothing.

    `source` names the file, so that a later version of it is compared with this one. With `commit_every` so
    many entries are committed at a time: an interrupted import goes on where it stopped when it is started
    again. With `beside` a large file is prepared by a second process while this one writes.
    """

    workspace_id: int
    actor: str
    lenient: bool = False
    dry_run: bool = False
    source: str = SOURCE
    commit_every: int | None = None
    ordered: bool = True  # False: the source has no order, so that a later version need not begin the same
    beside: bool = False

    def at_once(self) -> Import:
        return replace(self, commit_every=None)

    @property
    def piecemeal(self) -> bool:
        return self.commit_every is not None and not self.dry_run

    @property
    def storing(self) -> Storing:
        """A file tells of a past that others recorded."""
        return Storing(self.actor, imported=True, source=self.source, keep_rivals=self.lenient)

    @property
    def preparing(self) -> Preparing:
        portion = self.commit_every if self.piecemeal else None
        return Preparing(self.workspace_id, self.storing, connection.vendor, BATCH, portion, self.lenient)


@dataclass(slots=True)
class Followed:
    """What a file shows only as a whole: whether its past was rewritten, whether its own chain holds."""

    history: History
    chain: dict[str, Any] | None = None

    def follow(self, part: Part) -> None:
        self.history.follow(part.batch.ids, part.sources)
        self.chain = part.chain


@dataclass(slots=True)
class Sealing:
    """Seals what an import records. All that waited before is sealed first, so that nothing is left below.

    However long a transaction was, its row ids are above those that were there when it began.
    """

    how: Import
    _after: int = 0

    def __post_init__(self) -> None:
        if not self.how.dry_run:
            newest = LedgerEntry.objects.highest_row_id()
            seal(self.how.workspace_id)
            self._after = newest

    def go_on(self) -> None:
        if not self.how.dry_run:
            self._after = seal(self.how.workspace_id, after=self._after).through


def import_file(read: Read, how: Import) -> ImportReport:
    """Import what `read(size)` gives. Memory does not grow with the file.

    Raises PreparingStoppedError when a second process was stopped: what was committed is kept.
    """
    with prepared(read, how.preparing, beside=how.beside) as parts:
        return _bring_in(parts, how)


def check_file(read: Read, how: Import) -> ImportReport:
    """What a strict import would refuse, without storing anything.

    What contradicts the ledger is found here where it holds traces of before; 1 query a chunk then.
    """
    report = ImportReport()
    known = LedgerEntry.objects.for_workspace(how.workspace_id).of_kind(Kind.TRACE).exists()
    history = History(how.workspace_id, how.source)
    for chunk in chunks_of(strict_reader.entries_of(read_lines(read), report)):
        for rival in rivals_of(how.workspace_id, chunk) if known else ():
            error = rival.error()
            report.error(Remark(error.type, error.message, error.line))
            history.meet(rival, kept=False)
    report.rewrite = history.altered_only()
    return report


def import_entries(source: Source, how: Import) -> ImportReport:
    """Import what a source gives; it may add to the report while it is read."""
    return _bring_in(parts_of(source, how.preparing), how)


def _bring_in(parts: Iterator[Part], how: Import) -> ImportReport:
    """Store the parts and seal them. The first part is there before a transaction begins."""
    report = ImportReport()
    followed = Followed(History(how.workspace_id, how.source, ordered=how.ordered))
    sealing = Sealing(how)
    parts = chain([next(parts)], parts)
    if how.piecemeal:
        _apply_in_pieces(parts, how, report, followed, sealing)
    else:
        _apply_at_once(parts, how, report, followed)
    sealing.go_on()
    return report


def _apply_in_pieces(
    parts: Iterator[Part], how: Import, report: ImportReport, followed: Followed, sealing: Sealing
) -> None:
    """Each portion is sealed while the next one is prepared."""
    with room():
        for portion in _portions(parts):
            _apply_portion(portion, how, report, followed)
            if not report.valid:
                break
            sealing.go_on()
    _conclude(how, report, followed)


def _apply_at_once(parts: Iterator[Part], how: Import, report: ImportReport, followed: Followed) -> None:
    with transaction.atomic():
        _apply_portion(parts, how, report, followed)
        _conclude(how, report, followed)
        if how.dry_run or not report.valid:
            transaction.set_rollback(True)


def _apply_portion(parts: Iterable[Part], how: Import, report: ImportReport, followed: Followed) -> None:
    """What belongs together: all of it, or nothing where one entry is in error.

    A whole file has its transaction already: one inside it would be a savepoint, and SQLite keeps in memory
    all that changes under a savepoint.
    """
    before = report.entries, report.duplicates
    with transaction.atomic() if how.piecemeal else nullcontext():
        for part in parts:
            report.take_in(part.found)
            followed.follow(part)
            _store(part, how, report, followed)
            if followed.history.records == BATCH:
                learn(LedgerEntry._meta.db_table)
        if not report.valid and how.piecemeal:
            transaction.set_rollback(True)
    if not report.valid:
        report.entries, report.duplicates = before


def _portions(parts: Iterable[Part]) -> Iterator[Iterator[Part]]:
    """The parts of each portion, read while they are used."""
    rest = iter(parts)
    for first in rest:
        yield _portion(first, rest)


def _portion(first: Part, rest: Iterator[Part]) -> Iterator[Part]:
    yield first
    if not (first.ends_portion or first.last):
        for part in rest:
            yield part
            if part.ends_portion:
                return


def _store(part: Part, how: Import, report: ImportReport, followed: Followed) -> None:
    stored = store_batch(how.workspace_id, part.batch, how.storing)
    for rival in counted(stored, report, lenient=how.lenient).rivals:
        followed.history.meet(rival, kept=how.lenient)


def _conclude(how: Import, report: ImportReport, followed: Followed) -> None:
    """Tell what the whole file shows, and record the import. A file with other errors shows no history."""
    report.foreign_chain = followed.chain
    if report.foreign_chain and report.foreign_chain["first_break"]:
        text = foreign_chain.in_words(report.foreign_chain)
        text = f"{text}. Fields that were put in another order since they were hashed look the same."
        report.warn(Remark("FOREIGN_CHAIN_BROKEN", text, report.foreign_chain["first_break"]))
    if all(error.type == "DUPLICATE_ID" for error in report.errors):
        report.rewrite = followed.history.rewrite()
    if report.valid and not how.dry_run and (report.entries or not followed.history.unchanged):
        _record_import(how, report, followed.history)


def _record_import(how: Import, report: ImportReport, history: History) -> None:
    body: dict[str, Any] = {
        "what": "traces",
        "source": how.source,
        "lenient": how.lenient,
        "entries": report.entries,
        "duplicates": report.duplicates,
        "warnings": report.warning_count,
        "records": history.records,
        "digest": history.digest,
    }
    if report.foreign_chain:
        body["foreign_chain"] = report.foreign_chain
    if report.rewrite:
        body["rewrite"] = report.rewrite.answer(MAX_KEPT)
    new = NewEntry(how.workspace_id, Kind.IMPORT, body, outcome="applied", reason=how.source, actor=how.actor)
    append(new)
