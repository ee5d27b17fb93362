"""Record the entries of one request: live, all or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from django.db import transaction

from controlplane.shared.database.sqlite_lock import write_transaction
from traces.entries.deduplicate import SubmittedEntry
from traces.entries.record import StoreOptions, store_entries, store_with_retry
from traces.interchange.formats.json_lines import read_lines
from traces.interchange.imports import strict_reader
from traces.interchange.imports.chunks import count_stored, split_chunks
from traces.interchange.imports.report import ImportReport, Remark
from traces.ledger import canonical_json
from traces.ledger.append import AppendedEntry


def post_entries(workspace_id: int, raw: bytes, actor: str) -> tuple[ImportReport, list[AppendedEntry]]:
    """Record the entries of a request: an object, an array, or JSON Lines. All or nothing.

    The second value holds the new entries in order, for their receipts.
    """
    report = ImportReport()
    entries = list(_parse_body(raw, report))
    if not entries and (report.warning_count or not raw.strip()):
        report.error(Remark("INVALID_JSON", "The body has no complete entry.", None))
    created: list[AppendedEntry] = []
    with write_transaction():
        for chunk in split_chunks(entries):
            stored = store_with_retry(partial(store_entries, workspace_id, chunk, StoreOptions(actor)))
            created += count_stored(stored, report).appended
        if not report.is_valid:
            transaction.set_rollback(True)
            report.entries = report.duplicates = 0
    return report, created if report.is_valid else []


def _parse_body(raw: bytes, report: ImportReport) -> Iterator[SubmittedEntry]:
    try:
        value = canonical_json.parse(raw)
    except canonical_json.CanonicalError as error:
        report.error(Remark("INVALID_JSON", str(error), None))
    except ValueError:
        yield from strict_reader.read_entries(read_lines(_make_reader(raw)), report)
    else:
        for item in value if isinstance(value, list) else [value]:
            entry = strict_reader.check_value(item, None, report)
            if entry:
                yield entry


def _make_reader(raw: bytes) -> Callable[[int], bytes]:
    position = 0

    def read(size: int) -> bytes:
        nonlocal position
        chunk = raw[position : position + size]
        position += len(chunk)
        return chunk

    return read
