"""Read the functions, classes and methods that files hold now, as far as the ledger knows."""

from __future__ import annotations

import json
from collections.abc import Iterable

from django.db import connection

from traces.models import TraceFile
from traces.mutation_class.symbols import Symbol

MAX_PATHS = 500  # paths a query: SQLite allows a limited number of parameters
NEWEST_SYMBOLS = f"""
    WITH wanted(path) AS (VALUES {{paths}})
    SELECT wanted.path, (
        SELECT file.symbols FROM {TraceFile._meta.db_table} file
        WHERE file.workspace_id = %s AND file.path = wanted.path
        ORDER BY file.imported, file.id DESC LIMIT 1
    ) FROM wanted
"""  # noqa: S608 - names of tables


def find_newest_symbols(workspace_id: int, paths: Iterable[str]) -> dict[str, list[Symbol]]:
    """Return the symbols that the newest change of each path left; absent where that change has none.

    An older change says nothing of the lines now. 1 query for 500 paths.
    """
    unique_paths = sorted(set(paths))
    symbols: dict[str, list[Symbol]] = {}
    for start in range(0, len(unique_paths), MAX_PATHS):
        chunk = unique_paths[start : start + MAX_PATHS]
        values = ", ".join(["(%s)"] * len(chunk))
        with connection.cursor() as cursor:
            cursor.execute(NEWEST_SYMBOLS.replace("{paths}", values), [*chunk, workspace_id])
            rows = cursor.fetchall()
        symbols |= {path: _parse_symbols(text) for path, text in rows if text}
    return symbols


def find_newest_content(workspace_id: int, path: str) -> tuple[str | None, list[Symbol]]:
    """Return the hash and the symbols of a file; the hash as in `find_newest_hashes`, None if unknown.

    1 query.
    """
    rows = TraceFile.objects.filter(workspace_id=workspace_id, path=path).order_by("imported", "-pk")
    newest = rows.values_list("content_hash", "deleted", "symbols").first()
    if newest is None:
        return None, []
    content_hash, deleted, symbols = newest
    return "" if deleted else content_hash or None, _parse_symbols(symbols)


def _parse_symbols(text: str) -> list[Symbol]:
    return [Symbol(**item) for item in json.loads(text)] if text else []
