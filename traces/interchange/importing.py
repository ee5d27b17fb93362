"""Bringing a whole ledger file in: to the letter, or with repairs; always all of what is valid or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.db import IntegrityError, transaction

from traces import canonical
from traces.entries import Submitted, field_errors, store
from traces.interchange import agent_trace, recovery, strict
from traces.interchange.lines import Line, read_lines
from traces.interchange.repairs import repair
from traces.interchange.reports import ImportReport, Remark
from traces.ledger import Appended, NewEntry, append
from traces.models import Kind
from traces.sealing import seal

CHUNK = 250


@dataclass(frozen=True, slots=True)
class Import:
    """How to bring entries in. `dry_run` reports what would happen and changes nothing.

    `live` entries are posted as things happen; a file tells of a past that others recorded.
    """

    workspace_id: int
    actor: str
    lenient: bool = False
    dry_run: bool = False
    live: bool = False


def import_file(read: Callable[[int], bytes], how: Import) -> ImportReport:
    """Import what `read(size)` gives. Memory does not grow with the file.

    The search for unsealed entries relies on short transactions; this one may be long, so it seals
    thoroughly afterwards.
    """
    report = ImportReport()
    lines = read_lines(read)
    _apply(_recovered(lines, report) if how.lenient else strict.entries_of(lines, report), how, report)
    if report.entries and not how.dry_run:
        seal(how.workspace_id, thorough=True)
    return report


def post_entries(workspace_id: int, raw: bytes, actor: str) -> tuple[ImportReport, list[Appended]]:
    """Record the entries of a request: an object, a list, or one object a line. All or nothing.

    The second value is what was recorded, in order, for the receipts.
    """
    report = ImportReport()
    entries = list(_posted(raw, report))
    if not entries and (report.warning_count or not raw.strip()):
        report.error(Remark("INVALID_JSON", "The body holds no whole entry.", None))
    return report, _apply(entries, Import(workspace_id, actor, live=True), report)


def _apply(entries: Iterable[Submitted], how: Import, report: ImportReport) -> list[Appended]:
    made: list[Appended] = []
    with transaction.atomic():
        for chunk in _chunks(entries):
            stored = _store(chunk, how, report)
            made += stored if how.live else []
        if report.entries and not how.live:
            _record_import(how, report)
        if how.dry_run or not report.valid:
            transaction.set_rollback(True)
    if report.valid:
        return made
    report.entries = report.duplicates = 0
    return []


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


def _store(chunk: list[Submitted], how: Import, report: ImportReport) -> tuple[Appended, ...]:
    """Store a chunk and count. A contradiction is an error; in a lenient import the first one stands."""
    try:
        with transaction.atomic():
            stored = store(how.workspace_id, chunk, actor=how.actor, imported=not how.live)
    except IntegrityError:
        # Somebody else recorded one of these ids meanwhile: now it is seen, as a duplicate or an error.
        stored = store(how.workspace_id, chunk, actor=how.actor, imported=not how.live)
    for error in stored.errors:
        remark = Remark(error.type, error.message, error.line)
        if how.lenient:
            report.warn(remark)
        else:
            report.error(remark)
    report.entries += len(stored.made)
    report.duplicates += stored.duplicates
    return stored.made


def _record_import(how: Import, report: ImportReport) -> None:
    body: dict[str, Any] = {
        "what": "traces",
        "lenient": how.lenient,
        "entries": report.entries,
        "duplicates": report.duplicates,
        "warnings": report.warning_count,
    }
    append(NewEntry(how.workspace_id, Kind.IMPORT, body, outcome="applied", actor=how.actor))


def _chunks(entries: Iterable[Submitted]) -> Iterator[list[Submitted]]:
    iterator = iter(entries)
    while chunk := list(islice(iterator, CHUNK)):
        yield chunk
