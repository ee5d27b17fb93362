"""Storing some entries of a request or file and telling the report what became of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from django.db import IntegrityError, transaction

from traces.entries import Stored
from traces.interchange.reports import ImportReport, Remark
from traces.submitted import Submitted

CHUNK = 250


def counted(store: Callable[[], Stored], report: ImportReport, *, lenient: bool = False) -> Stored:
    """Store and count. A contradiction is an error; a lenient import keeps both."""
    try:
        with transaction.atomic():
            stored = store()
    except IntegrityError:
        # Somebody else recorded one of these ids meanwhile: now it is seen, as a duplicate or an error.
        stored = store()
    for rival in stored.rivals:
        error = rival.error()
        if lenient:
            text = f"{error.message}; this one is kept beside it as {rival.beside_id}."
            report.warn(Remark(error.type, text, error.line))
        else:
            report.error(Remark(error.type, error.message, error.line))
    report.entries += stored.new
    report.duplicates += stored.duplicates
    return stored


def chunks_of(entries: Iterable[Submitted]) -> Iterator[list[Submitted]]:
    iterator = iter(entries)
    while chunk := list(islice(iterator, CHUNK)):
        yield chunk
