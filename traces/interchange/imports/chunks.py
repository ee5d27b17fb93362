"""Split entries into chunks and report what was stored of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from traces.entries.deduplicate import Submitted
from traces.entries.record import Stored
from traces.interchange.imports.report import ImportReport, Remark

CHUNK_SIZE = 250


def count_stored(stored: Stored, report: ImportReport, *, lenient: bool = False) -> Stored:
    """Count what was stored. A conflict is an error; a lenient import stores both versions."""
    for rival in stored.rivals:
        error = rival.error()
        if lenient:
            message = f"{error.message}; both are stored, this one as {rival.beside_id}."
            report.warn(Remark(error.type, message, error.line))
        else:
            report.error(Remark(error.type, error.message, error.line))
    report.entries += stored.new
    report.duplicates += stored.duplicates
    return stored


def split_chunks(entries: Iterable[Submitted]) -> Iterator[list[Submitted]]:
    iterator = iter(entries)
    while chunk := list(islice(iterator, CHUNK_SIZE)):
        yield chunk
