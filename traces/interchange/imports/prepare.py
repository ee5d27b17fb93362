"""Making batches of what a source gives, with all that an import wants to know of them but the database.

It is the same work whether it is done where the batches are written or in a process beside
(`traces.interchange.imports.worker_process`), so that an import says and stores the same either way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from traces.entries.batches import Batch, batch_of
from traces.entries.deduplicate import Submitted, field_errors
from traces.entries.record import Storing
from traces.interchange.formats import agent_trace
from traces.interchange.formats.foreign_chain import ForeignChain
from traces.interchange.formats.json_lines import Line, read_lines
from traces.interchange.imports import json_recovery, strict_reader
from traces.interchange.imports.repairs import repair
from traces.interchange.imports.report import ImportReport, Remark
from traces.ledger import canonical_json

Read = Callable[[int], bytes]
Source = Callable[[ImportReport], Iterable[Submitted]]


@dataclass(frozen=True, slots=True)
class Preparing:
    """What is made of a source: batches of `size` entries for a database of `vendor`.

    With `portion` a batch ends wherever so many entries are complete. `lenient` is for files.
    """

    workspace_id: int
    storing: Storing
    vendor: str
    size: int
    portion: int | None = None
    lenient: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """A batch, and what was found while it was read. `sources` are the records as they stood in the file.

    `chain` is the summary of the file's own chain so far. The last part may hold no entries.
    """

    batch: Batch
    sources: list[bytes]
    found: ImportReport
    chain: dict[str, Any] | None
    ends_portion: bool
    last: bool


def parts_of(source: Source, how: Preparing) -> Iterator[Part]:
    """What the source gives, in order; memory holds one batch."""
    found, chain = ImportReport(), ForeignChain()
    entries = iter(source(found))
    for size, ends_portion in _sizes(how):
        chunk = list(islice(entries, size))
        for entry in chunk:
            chain.follow(_as_it_stood(entry), entry.line)
        batch = batch_of(how.workspace_id, chunk, how.storing, how.vendor)
        sources = list(map(_source_bytes, chunk, batch.bodies))
        last = len(chunk) < size
        yield Part(batch, sources, found.taken(), chain.summary(), ends_portion, last)
        if last:
            return


def entries_of(read: Read, lenient: bool, report: ImportReport) -> Iterator[Submitted]:
    """The entries of a file; what is wrong with it goes to the report."""
    lines = read_lines(read)
    return _recovered(lines, report) if lenient else strict_reader.entries_of(lines, report)


def _sizes(how: Preparing) -> Iterator[tuple[int, bool]]:
    """(entries of the next batch, whether it ends a portion)."""
    while True:
        left = how.portion or how.size
        while left:
            size = min(how.size, left)
            left -= size
            yield size, how.portion is not None and not left


def _as_it_stood(entry: Submitted) -> dict[str, Any]:
    original = entry.value.get("original")
    return original if isinstance(original, dict) else entry.value


def _source_bytes(entry: Submitted, encoded: bytes) -> bytes:
    """The record as it stood in the file, however an import has read it."""
    original = entry.value.get("original")
    return canonical_json.encode(original) if isinstance(original, dict) else encoded


def _recovered(lines: Iterable[Line], report: ImportReport) -> Iterator[Submitted]:
    for document in json_recovery.documents_of(lines, report):
        if agent_trace.is_record(document.value):
            entry = Submitted(agent_trace.to_entry(document.value), document.line)
            if not field_errors(entry):
                yield entry
                continue
        made = repair(document.value)
        for kind, message in made.remarks:
            report.warn(Remark(kind, message, document.line))
        yield Submitted(made.entry, document.line)
