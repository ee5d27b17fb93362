"""Maintain counts of entries and files, because counting a million rows takes too long for a page.

Counts follow the leaves of the tree, in their order and after sealing: each position is counted once,
appending never waits, and what a crash left out is counted later. Readers add those of `list_uncounted`.
"""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from django.db.models import F, Max

from controlplane.shared.database.sqlite_lock import write_transaction
from traces.entry_schema import EVOLUTION_CLASS
from traces.ledger import canonical_json
from traces.ledger.insert_rows import RowValues, insert_rows
from traces.ledger.new_leaves import list_entries_from
from traces.models import Counted, EntryCount, FileCount, LedgerEntry, LedgerLeaf, TraceFile

log = logging.getLogger(__name__)

HOUR, DAY = 3600, 86_400
MONTH = 28 * DAY
SPANS = (HOUR, DAY, MONTH)  # every entry is counted in each
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
BATCH_SIZE = 1_000
MAX_UNCOUNTED = 10_000  # entries that a page adds itself; more wait only just after a large import
COUNTED_COLUMNS = ("pk", "received_at", "kind", "outcome", "agent", "intent_id", "tool", "reason")
DIRECTORY_LEVELS = 2
MAX_FOLDER_LENGTH = 200  # characters
ROOT_DIRECTORY = "./"
_ENTRY_COUNTS, _FILE_COUNTS = EntryCount._meta.db_table, FileCount._meta.db_table
ADD_ENTRIES = f"""ON CONFLICT (workspace_id, span, bucket, digest)
    DO UPDATE SET entries = {_ENTRY_COUNTS}.entries + excluded.entries"""
ADD_FILES = f"""ON CONFLICT (workspace_id, path_hash, intent_id)
    DO UPDATE SET entries = {_FILE_COUNTS}.entries + excluded.entries,
        evolved = {_FILE_COUNTS}.evolved + excluded.evolved,
        last_changed = CASE WHEN excluded.last_changed > {_FILE_COUNTS}.last_changed
            THEN excluded.last_changed ELSE {_FILE_COUNTS}.last_changed END"""


class CountedValues(NamedTuple):
    """What entries are grouped by. `folder` is that of a trace entry's first file, "" for other kinds.

    A tuple, because a page creates and compares ten thousand of them.
    """

    kind: str
    outcome: str
    agent: str
    intent_id: str
    tool: str
    reason: str
    folder: str


class CountedEntry(NamedTuple):
    """The fields of one entry that are counted."""

    id: int
    received_at: datetime
    values: CountedValues


def find_top_directory(path: str) -> str:
    """Return the first two directories: `src/auth` of `src/auth/jwt/sign.ts`, `./` of `README.md`."""
    return "/".join(path.split("/")[:-1][:DIRECTORY_LEVELS])[:MAX_FOLDER_LENGTH] or ROOT_DIRECTORY


def count_sealed(workspace_id: int) -> int:
    """Count the leaves that are not counted yet and return their number.

    2 queries for none, 7 for `BATCH_SIZE` of them.
    """
    progress = Counted.objects.filter(workspace_id=workspace_id)
    first_uncounted = progress.values_list("leaves", flat=True).first()
    if not LedgerLeaf.objects.filter(workspace_id=workspace_id, seq__gte=first_uncounted or 0).exists():
        return 0
    if first_uncounted is None:
        Counted.objects.get_or_create(workspace_id=workspace_id)
    counted = 0
    while (batch := _count_batch(workspace_id)) > 0:
        counted += batch
    return counted


def recount(workspace_id: int) -> None:
    """Forget the numbers of a workspace inside the caller's transaction: they are made anew."""
    EntryCount.objects.filter(workspace_id=workspace_id).delete()
    FileCount.objects.filter(workspace_id=workspace_id).delete()
    Counted.objects.filter(workspace_id=workspace_id).delete()


def discount_files(entry: LedgerEntry) -> None:
    """Take the files of an entry out of the counts, inside the transaction that deletes their rows.

    Without this the numbers would go on naming redacted paths. 2 queries where it is not counted yet.
    """
    counted = Counted.objects.select_for_update().filter(pk=entry.workspace_id).first()
    leaf = LedgerLeaf.objects.filter(entry=entry).first()
    if counted is None or leaf is None or leaf.seq >= counted.leaves:
        return
    files = list(TraceFile.objects.filter(entry=entry).values_list("path", "intent_id", "mutation_class"))
    evolved = {file[:2] for file in files if file[2] == EVOLUTION_CLASS}
    for path, intent_id in {file[:2] for file in files}:
        others = TraceFile.objects.filter(workspace_id=entry.workspace_id, path=path, intent_id=intent_id)
        last = (
            others.exclude(entry=entry)
            .filter(entry__leaf__seq__lt=counted.leaves)
            .aggregate(last=Max("changed_at"))["last"]
        )
        rows = FileCount.objects.filter(
            workspace_id=entry.workspace_id, path_hash=compute_path_hash(path), intent_id=intent_id
        )
        rows.update(
            entries=F("entries") - 1,
            evolved=F("evolved") - int((path, intent_id) in evolved),
            last_changed=to_microseconds(last) if last else 0,
        )
        rows.filter(entries__lte=0).delete()
    _move_to_no_folder(entry)


def _move_to_no_folder(entry: LedgerEntry) -> None:
    """Count an entry without its folder, as it reads once its files are gone."""
    (counted,) = load_counted_entries([entry.pk])
    if not counted.values.folder:
        return
    anonymous = counted.values._replace(folder="")
    second = int(counted.received_at.timestamp())
    rows = []
    for span in SPANS:
        bucket = second - second % span
        old = EntryCount.objects.filter(
            workspace_id=entry.workspace_id, span=span, bucket=bucket, digest=_compute_digest(counted.values)
        )
        old.update(entries=F("entries") - 1)
        old.filter(entries__lte=0).delete()
        key: RowValues = {"workspace_id": entry.workspace_id, "span": span, "bucket": bucket}
        rows.append(key | {"digest": _compute_digest(anonymous)} | anonymous._asdict() | {"entries": 1})
    insert_rows(EntryCount, rows, on_conflict=ADD_ENTRIES)


def list_uncounted(workspace_id: int, limit: int | None = None) -> list[int]:
    """Return row ids of entries that are not counted yet, newest first, at most `limit`. 3 queries.

    The limit is `MAX_UNCOUNTED` where none is given.
    """
    leaves = Counted.objects.filter(workspace_id=workspace_id).values_list("leaves", flat=True).first() or 0
    return list_entries_from(workspace_id, leaves, MAX_UNCOUNTED if limit is None else limit)


def is_counting(uncounted: Sequence[int]) -> bool:
    """Return whether more entries may wait than `list_uncounted` has listed: numbers lag behind then."""
    return len(uncounted) >= MAX_UNCOUNTED


def load_counted_entries(entry_ids: Iterable[int]) -> list[CountedEntry]:
    """Load the counted fields of these entries. 2 queries."""
    ids = list(entry_ids)
    leads = TraceFile.objects.filter(entry_id__in=ids).exclude(lead_folder="")
    directories = dict(leads.values_list("entry_id", "lead_folder")) if ids else {}
    rows = LedgerEntry.objects.filter(pk__in=ids).values_list(*COUNTED_COLUMNS) if ids else ()
    return [CountedEntry(pk, at, CountedValues(*values, directories.get(pk, ""))) for pk, at, *values in rows]  # type: ignore[call-arg]  # mypy cannot count a starred tuple


def _count_batch(workspace_id: int) -> int:
    with write_transaction():
        progress = Counted.objects.select_for_update().get(workspace_id=workspace_id)
        leaves = LedgerLeaf.objects.filter(workspace_id=workspace_id, seq__gte=progress.leaves).order_by(
            "seq"
        )
        ids = list(leaves.values_list("entry_id", flat=True)[:BATCH_SIZE])
        if ids:
            insert_rows(EntryCount, _build_entry_rows(workspace_id, ids), on_conflict=ADD_ENTRIES)
            insert_rows(FileCount, _build_file_rows(workspace_id, ids), on_conflict=ADD_FILES)
            Counted.objects.filter(pk=workspace_id).update(leaves=F("leaves") + len(ids))
    return len(ids)


def _build_entry_rows(workspace_id: int, ids: list[int]) -> list[RowValues]:
    counted: Counter[tuple[int, int, CountedValues]] = Counter()
    for entry in load_counted_entries(ids):
        second = int(entry.received_at.timestamp())
        for duration in SPANS:
            counted[duration, second - second % duration, entry.values] += 1
    return [
        {"workspace_id": workspace_id, "span": span, "bucket": bucket, "digest": _compute_digest(values)}
        | values._asdict()
        | {"entries": entries}
        for (span, bucket, values), entries in counted.items()
    ]


def _build_file_rows(workspace_id: int, ids: list[int]) -> list[RowValues]:
    rows: dict[tuple[str, str], RowValues] = {}
    names = ("entry_id", "path", "intent_id", "changed_at", "mutation_class")
    counted: set[tuple[int, str, str]] = set()
    for entry_id, path, intent_id, changed_at, mutation_class in TraceFile.objects.filter(
        entry_id__in=ids
    ).values_list(*names):
        row = rows.setdefault((path, intent_id), _build_file_row(workspace_id, path, intent_id))
        new = (entry_id, path, intent_id) not in counted
        counted.add((entry_id, path, intent_id))
        row["entries"] += new
        row["evolved"] += new and mutation_class == EVOLUTION_CLASS
        row["last_changed"] = max(row["last_changed"], to_microseconds(changed_at))
    return list(rows.values())


def _build_file_row(workspace_id: int, path: str, intent_id: str) -> RowValues:
    return {
        "workspace_id": workspace_id,
        "path_hash": compute_path_hash(path),
        "path": path,
        "intent_id": intent_id,
        "entries": 0,
        "evolved": 0,
        "last_changed": 0,
    }


def to_microseconds(time: datetime) -> int:
    """Return exact microseconds since 1970."""
    return (time - EPOCH) // timedelta(microseconds=1)


def compute_path_hash(path: str) -> bytes:
    return hashlib.sha256(path.encode()).digest()[:16]


def _compute_digest(values: CountedValues) -> bytes:
    return hashlib.sha256(canonical_json.encode(list(values))).digest()[:16]
