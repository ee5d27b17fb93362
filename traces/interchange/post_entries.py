"""Recording the entries of one request: live, all or nothing, each with a receipt to come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from django.db import transaction

from controlplane.shared.sqlite_lock import writing
from traces.entries.deduplicate import Submitted
from traces.entries.record import Storing, retried, store
from traces.interchange.formats.json_lines import read_lines
from traces.interchange.imports import strict_reader
from traces.interchange.imports.chunks import chunks_of, counted
from traces.interchange.imports.report import ImportReport, Remark
from traces.ledger import canonical_json
from traces.ledger.append import Appended


def post_entries(workspace_id: int, raw: bytes, actor: str) -> tuple[ImportReport, list[Appended]]:
    """Record the entries of a request: an object, a list, or one object a line. All or nothing.

    The second value is what was recorded, in order, for the receipts.
    """
    report = ImportReport()
    entries = list(_posted(raw, report))
    if not entries and (report.warning_count or not raw.strip()):
        report.error(Remark("INVALID_JSON", "The body holds no whole entry.", None))
    made: list[Appended] = []
    with writing():
        for chunk in chunks_of(entries):
            stored = retried(partial(store, workspace_id, chunk, Storing(actor)))
            made += counted(stored, report).made
        if not report.valid:
            transaction.set_rollback(True)
            report.entries = report.duplicates = 0
    return report, made if report.valid else []


def _posted(raw: bytes, report: ImportReport) -> Iterator[Submitted]:
    try:
        value = canonical_json.parse(raw)
    except canonical_json.CanonicalError as error:
        report.error(Remark("INVALID_JSON", str(error), None))
    except ValueError:
        yield from strict_reader.entries_of(read_lines(_reader(raw)), report)
    else:
        for one in value if isinstance(value, list) else [value]:
            entry = strict_reader.checked(one, None, report)
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
