"""Follow the leaves of the tree: update what is derived from them, and list what it still lacks.

Whatever is derived from the ledger is derived from its leaves, in their order and after sealing. Appending
never waits for it, and what a crash left out is derived later.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable

from django.db import connection
from django.db.models import Max

from traces.ledger.sealing import find_sealed_floor
from traces.models import LedgerEntry, LedgerLeaf

log = logging.getLogger(__name__)

LOOKBACK_SECONDS = 60.0
_ENTRIES, _LEAVES = LedgerEntry._meta.db_table, LedgerLeaf._meta.db_table
_ENTRIES_FROM = f"""SELECT leaf.entry_id FROM {_LEAVES} leaf
    WHERE leaf.workspace_id = %s AND leaf.seq >= %s
    UNION ALL SELECT entry.id FROM {_ENTRIES} entry
    WHERE entry.workspace_id = %s AND entry.id > %s
      AND NOT EXISTS (SELECT 1 FROM {_LEAVES} leaf WHERE leaf.entry_id = entry.id)
    ORDER BY 1 DESC LIMIT %s"""  # noqa: S608 - names of tables


class NewLeaves:
    """Tell at each call which workspaces have new leaves: all of them at first."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque([(0.0, 0)])  # (when, highest row id of a leaf then)
        self._done: dict[int, int] = {}  # workspace to the highest position that `confirm` covered
        self._pending: tuple[float, int, dict[int, int]] = (0.0, 0, {})

    def list_workspaces(self) -> list[int]:
        """Return the ids of workspaces with leaves that `confirm` has not covered yet. 1 query.

        Look back a minute: on PostgreSQL a lower row id may become visible after a higher one. Positions in
        one workspace become visible in their order, since one sealer works on it at a time.
        """
        now = time.monotonic()
        while len(self._seen) > 1 and self._seen[1][0] <= now - LOOKBACK_SECONDS:
            self._seen.popleft()
        leaves = LedgerLeaf.objects.filter(pk__gt=self._seen[0][1]).values_list("workspace_id")
        found = list(leaves.annotate(newest=Max("seq"), row_id=Max("pk")).order_by())
        newest = {workspace_id: seq for workspace_id, seq, _ in found}
        self._pending = now, max((row_id for *_, row_id in found), default=self._seen[-1][1]), newest
        return [workspace_id for workspace_id, seq in newest.items() if self._done.get(workspace_id) != seq]

    def confirm(self) -> None:
        """Take the workspaces of the last call as done. Without it they are listed again."""
        when, row_id, newest = self._pending
        self._seen.append((when, row_id))
        self._done |= newest


class LeafFollower:
    """Update rows derived from the leaves of all workspaces: everything at first, then what has new leaves.

    `update` takes the id of a workspace and returns the number of leaves that it has worked on.
    """

    def __init__(self, update: Callable[[int], int]) -> None:
        self._update = update
        self._new_leaves = NewLeaves()

    def run(self, stop: threading.Event, every: float = 1.0) -> None:
        """Run until `stop` is set. Errors are logged and retried; pages add what is not derived yet."""
        while not stop.is_set():
            try:
                self.run_once()
            except Exception:
                log.exception("%s failed; trying again", self._update.__name__)
            finally:
                connection.close_if_unusable_or_obsolete()
            stop.wait(every)

    def run_once(self) -> int:
        """Return the number of leaves worked on. 1 query, 2 or more for each workspace with new leaves."""
        updated = sum(map(self._update, self._new_leaves.list_workspaces()))
        self._new_leaves.confirm()
        return updated


def list_entries_from(workspace_id: int, leaf: int, limit: int) -> list[int]:
    """Return row ids of entries from position `leaf` on, and of unsealed ones, newest first. 2 queries."""
    with connection.cursor() as cursor:
        params = [workspace_id, leaf, workspace_id, find_sealed_floor(workspace_id), limit]
        cursor.execute(_ENTRIES_FROM, params)
        return [row_id for (row_id,) in cursor.fetchall()]
