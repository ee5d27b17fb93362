"""Bringing a whole ledger file in: to the letter, or with repairs; always all of what is valid or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any

from django.db import IntegrityError, transaction

from traces import canonical
from traces.entries import Storing, Submitted, field_errors, rivals_of, store
from traces.interchange import agent_trace, foreign_chain, recovery, strict
from traces.interchange.foreign_chain import ForeignChain
from traces.interchange.history import KEPT_MOST, SOURCE, History
from traces.interchange.lines import Line, read_lines
from traces.interchange.repairs import repair
from traces.interchange.reports import ImportReport, Remark
from traces.ledger import Appended, NewEntry, append
from traces.models import Kind, LedgerEntry
from traces.sealing import seal

CHUNK = 250


@dataclass(frozen=True, slots=True)
class Import:
    """How to bring entries in. `dry_run` reports what would happen and changes nothing.

    `live` entries are posted as things happen; a file tells of a past that others recorded. `source` names
    the file, so that a later version of it is compared with this one. With `commit_every` so many entries are
    committed at a time: an interrupted import goes on where it stopped when it is started again.
    """

    workspace_id: int
    actor: str
    lenient: bool = False
    dry_run: bool = False
    live: bool = False
    source: str = SOURCE
    commit_every: int | None = None
    ordered: bool = True  # False: the source has no order, so that a later version need not begin the same

    def at_once(self) -> Import:
        return replace(self, commit_every=None)

    @property
    def piecemeal(self) -> bool:
        return self.commit_every is not None and not self.dry_run

    @property
    def storing(self) -> Storing:
        source = "" if self.live else self.source
        return Storing(self.actor, not self.live, source, keep_rivals=self.lenient)


@dataclass(frozen=True, slots=True)
class Followed:
    """What a file shows only as a whole: whether its past was rewritten, whether its own chain holds."""

    history: History
    chain: ForeignChain = field(default_factory=ForeignChain)

    def through(self, entries: Iterable[Submitted]) -> Iterator[Submitted]:
        for entry in entries:
            self.history.follow(entry)
            original = entry.value.get("original")
            self.chain.follow(original if isinstance(original, dict) else entry.value, entry.line)
            yield entry


def import_file(read: Callable[[int], bytes], how: Import) -> ImportReport:
    """Import what `read(size)` gives. Memory does not grow with the file."""
    return import_entries(lambda report: entries_of(read, how.lenient, report), how)


def check_file(read: Callable[[int], bytes], how: Import) -> ImportReport:
    """What a strict import would refuse, without storing anything.

    What contradicts the ledger is found here where it holds traces of before; 1 query a chunk then.
    """
    report = ImportReport()
    known = LedgerEntry.objects.filter(workspace_id=how.workspace_id, kind=Kind.TRACE).exists()
    history = History(how.workspace_id, how.source)
    for chunk in _chunks(strict.entries_of(read_lines(read), report)):
        for rival in rivals_of(how.workspace_id, chunk) if known else ():
            error = rival.error()
            report.error(Remark(error.type, error.message, error.line))
            history.meet(rival, kept=False)
    report.rewrite = history.altered_only()
    return report


def import_entries(entries: Callable[[ImportReport], Iterable[Submitted]], how: Import) -> ImportReport:
    """Import what a source gives; it may add to the report while it is read.

    The search for unsealed entries relies on short transactions; this one may be long, so it seals
    thoroughly afterwards.
    """
    report = ImportReport()
    followed = Followed(History(how.workspace_id, how.source, ordered=how.ordered))
    _apply(followed.through(entries(report)), how, report, followed)
    if report.entries and not how.dry_run:
        seal(how.workspace_id, thorough=True)
    return report


def entries_of(read: Callable[[int], bytes], lenient: bool, report: ImportReport) -> Iterator[Submitted]:
    lines = read_lines(read)
    return _recovered(lines, report) if lenient else strict.entries_of(lines, report)


def post_entries(workspace_id: int, raw: bytes, actor: str) -> tuple[ImportReport, list[Appended]]:
    """Record the entries of a request: an object, a list, or one object a line. All or nothing.

    The second value is what was recorded, in order, for the receipts.
    """
    report = ImportReport()
    entries = list(_posted(raw, report))
    if not entries and (report.warning_count or not raw.strip()):
        report.error(Remark("INVALID_JSON", "The body holds no whole entry.", None))
    return report, _apply(entries, Import(workspace_id, actor, live=True), report)


def _apply(
    entries: Iterable[Submitted], how: Import, report: ImportReport, followed: Followed | None = None
) -> list[Appended]:
    made: list[Appended] = []
    with nullcontext() if how.piecemeal else transaction.atomic():
        for portion in _portions(entries, how.commit_every) if how.piecemeal else [entries]:
            made += _apply_portion(portion, how, report, followed)
            if not report.valid:
                break
        if followed:
            _conclude(how, report, followed)
        if (how.dry_run or not report.valid) and not how.piecemeal:
            transaction.set_rollback(True)
    return made if report.valid else []


def _apply_portion(
    entries: Iterable[Submitted], how: Import, report: ImportReport, followed: Followed | None
) -> list[Appended]:
    """What belongs together: all of it, or nothing where one entry is in error.

    A whole file has its transaction already: one inside it would be a savepoint, and SQLite keeps in memory
    all that changes under a savepoint.
    """
    made: list[Appended] = []
    before = report.entries, report.duplicates
    with transaction.atomic() if how.piecemeal else nullcontext():
        for chunk in _chunks(entries):
            stored = _store(chunk, how, report, followed)
            made += stored if how.live else []
        if not report.valid and how.piecemeal:
            transaction.set_rollback(True)
    if not report.valid:
        report.entries, report.duplicates = before
    return made


def _portions(entries: Iterable[Submitted], size: int | None) -> Iterator[Iterable[Submitted]]:
    """The entries in portions of `size`, each read while it is used."""
    iterator = iter(entries)
    for first in iterator:
        yield chain([first], islice(iterator, (size or 1) - 1))


def _posted(raw: bytes, report: ImportReport) -> Iterator[Submitted]:
    try:
        value = canonical.parse(raw)
    except canonical.CanonicalError as error:
        report.error(Remark("INVALID_JSON", str(error), None))
    except ValueError:
        yield from strict.entries_of(read_lines(_reader(raw)), report)
    else:
        for one in value if isinstance(value, list) else [value]:
            entry = strict.checked(one, None, report)
            if entry:
                yield entry


def _reader(raw: bytes) -> Callable[[int], bytes]:
    at = 0

    def read(size: int) -> bytes:
        nonlocal at
        chunk = raw[at : at + size]
        at += len(chunk)
        return chunk

    return read


def _recovered(lines: Iterable[Line], report: ImportReport) -> Iterator[Submitted]:
    for document in recovery.documents_of(lines, report):
        if agent_trace.is_record(document.value):
            entry = Submitted(agent_trace.to_entry(document.value), document.line)
            if not field_errors(entry):
                yield entry
                continue
        made = repair(document.value)
        for kind, message in made.remarks:
            report.warn(Remark(kind, message, document.line))
        yield Submitted(made.entry, document.line)


def _store(
    chunk: list[Submitted], how: Import, report: ImportReport, followed: Followed | None
) -> tuple[Appended, ...]:
    """Store a chunk and count. A contradiction is an error; a lenient import keeps both."""
    try:
        with transaction.atomic():
            stored = store(how.workspace_id, chunk, how.storing)
    except IntegrityError:
        # Somebody else recorded one of these ids meanwhile: now it is seen, as a duplicate or an error.
        stored = store(how.workspace_id, chunk, how.storing)
    for rival in stored.rivals:
        error = rival.error()
        if how.lenient:
            text = f"{error.message}; this one is kept beside it as {rival.beside_id}."
            report.warn(Remark(error.type, text, error.line))
        else:
            report.error(Remark(error.type, error.message, error.line))
        if followed:
            followed.history.meet(rival, kept=how.lenient)
    report.entries += len(stored.made)
    report.duplicates += stored.duplicates
    return stored.made


def _conclude(how: Import, report: ImportReport, followed: Followed) -> None:
    """Tell what the whole file shows, and record the import. A file with other errors shows no history."""
    report.foreign_chain = followed.chain.summary()
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
        body["rewrite"] = report.rewrite.answer(KEPT_MOST)
    new = NewEntry(how.workspace_id, Kind.IMPORT, body, outcome="applied", reason=how.source, actor=how.actor)
    append(new)


def _chunks(entries: Iterable[Submitted]) -> Iterator[list[Submitted]]:
    iterator = iter(entries)
    while chunk := list(islice(iterator, CHUNK)):
        yield chunk
