"""Split entries into chunks and report what was stored of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from traces.entries.deduplicate import SubmittedEntry
from traces.entries.record import StoreResult
from traces.interchange.imports.report import ImportReport, Remark

CHUNK_SIZE = 250


def count_stored(stored: StoreResult, report: ImportReport, *, lenient: bool = False) -> StoreResult:
    """Count what was stored. A conflict is an error; a lenient import stores both versions."""
    for rival in stored.conflicts:
        error = rival.to_error()
        if lenient:
            message = f"{error.message}; both are stored, this one as {rival.alternate_id}."
            report.warn(Remark(error.type, message, error.line))
        else:
            report.error(Remark(error.type, error.message, error.line))
    report.entries += stored.new
    report.duplicates += stored.duplicates
    return stored


def split_chunks(entries: Iterable[SubmittedEntry]) -> Iterator[list[SubmittedEntry]]:
    iterator = iter(entries)
    while chunk := list(islice(iterator, CHUNK_SIZE)):
        yield chunk
