"""Compare the counts of a workspace with the rows that they count, inside the database.

Both sides of each comparison are read by one statement, so counting may go on meanwhile. The rows that are
counted are themselves compared with their entries, so a count that passes follows from the ledger.
"""

from __future__ import annotations

from collections.abc import Iterator

from django.db import connection

from traces.counts.counters import HOUR, SPANS
from traces.entry_schema import EVOLUTION_CLASS
from traces.models import Counted, EntryCount, FileCount, LedgerEntry, LedgerLeaf, TraceFile

MAX_DIFFERENCES = 20
_COUNTED = Counted._meta.db_table
_ENTRIES, _LEAVES, _FILES = LedgerEntry._meta.db_table, LedgerLeaf._meta.db_table, TraceFile._meta.db_table
_ENTRY_COUNTS, _FILE_COUNTS = EntryCount._meta.db_table, FileCount._meta.db_table
VALUES = "kind, outcome, agent, intent_id, tool, reason"
SECONDS = {
    "postgresql": "floor(extract(epoch FROM {0}))::bigint",
    "sqlite": "CAST(strftime('%%s', {0}) AS INTEGER)",
}
MICROSECONDS = {
    "postgresql": "floor(extract(epoch FROM {0}) * 1000000)::bigint",
    "sqlite": (
        "CAST(strftime('%%s', {0}) AS INTEGER) * 1000000 + CASE WHEN substr({0}, 20, 1) = '.' "
        "THEN CAST(substr(substr({0}, 21) || '000000', 1, 6) AS INTEGER) ELSE 0 END"
    ),
}
IS_COUNTED = f"""leaf.workspace_id = %(workspace)s
    AND leaf.seq < (SELECT leaves FROM {_COUNTED} WHERE workspace_id = %(workspace)s)"""  # noqa: S608 - names
FILES_AS_READ = f"""SELECT path, intent_id, count(*), sum(evolved), max(changed) FROM (
    SELECT file.path AS path, file.intent_id AS intent_id, max({{changed}}) AS changed,
        max(CASE WHEN file.mutation_class = '{EVOLUTION_CLASS}' THEN 1 ELSE 0 END) AS evolved
    FROM {_LEAVES} leaf JOIN {_FILES} file ON file.entry_id = leaf.entry_id
    WHERE {IS_COUNTED} GROUP BY file.entry_id, file.path, file.intent_id
) changes GROUP BY path, intent_id"""  # noqa: S608 - names
FILES_AS_COUNTED = f"""SELECT path, intent_id, entries, evolved, last_changed
    FROM {_FILE_COUNTS} WHERE workspace_id = %(workspace)s"""  # noqa: S608 - names
ENTRIES_AS_READ = f"""SELECT second - second %% {{span}}, {VALUES}, folder, count(*) FROM (
    SELECT {{second}} AS second, {VALUES}, coalesce((
        SELECT file.lead_folder FROM {_FILES} file
        WHERE file.entry_id = entry.id AND file.lead_folder <> '' LIMIT 1
    ), '') AS folder
    FROM {_LEAVES} leaf JOIN {_ENTRIES} entry ON entry.id = leaf.entry_id WHERE {IS_COUNTED}
) counted GROUP BY 1, {VALUES}, folder"""  # noqa: S608 - names
ENTRIES_AS_SUMMED = f"""SELECT bucket - bucket %% {{span}}, {VALUES}, folder, sum(entries)
    FROM {_ENTRY_COUNTS} WHERE workspace_id = %(workspace)s AND span = {{source}}
    GROUP BY 1, {VALUES}, folder"""  # noqa: S608 - names


def find_changed_counts(workspace_id: int) -> Iterator[str]:
    """Describe counts that do not follow from the entries counted. 8 statements, each over all of them."""
    vendor = connection.vendor
    files = FILES_AS_READ.format(changed=MICROSECONDS[vendor].format("file.changed_at"))
    for path, intent_id, *_ in _compare(workspace_id, files, FILES_AS_COUNTED):
        under = f" under {intent_id}" if intent_id else ""
        yield f"{_FILE_COUNTS} holds other numbers for {path}{under} than the entries give"
    for span in SPANS:
        stored = ENTRIES_AS_SUMMED.format(span=span, source=span)
        expected = (
            ENTRIES_AS_READ.format(span=span, second=SECONDS[vendor].format("entry.received_at"))
            if span == HOUR
            else ENTRIES_AS_SUMMED.format(span=span, source=HOUR)  # the hours are compared already
        )
        for bucket, kind, *_ in _compare(workspace_id, expected, stored):
            yield f"{_ENTRY_COUNTS} holds other numbers for {kind} at second {bucket} than the entries give"


def _compare(workspace_id: int, expected: str, stored: str) -> list[tuple[object, ...]]:
    """Return rows that only one of the two queries has, at most `MAX_DIFFERENCES` of each."""
    found: dict[tuple[object, ...], None] = {}
    for first, second in ((expected, stored), (stored, expected)):
        with connection.cursor() as cursor:
            statement = f"SELECT * FROM ({first}) a EXCEPT SELECT * FROM ({second}) b LIMIT {MAX_DIFFERENCES}"  # noqa: S608 - names
            cursor.execute(statement, {"workspace": workspace_id})
            found |= dict.fromkeys(row[:-1] for row in cursor.fetchall())
    return list({row[:2]: row for row in found}.values())
