"""Seal entries: give them their positions in the Merkle tree, in batches, and sign the new head.

One sealer works on a workspace at a time (an advisory lock on PostgreSQL, the write lock on SQLite).
Appending never waits for it. The order of entries is the order of sealing, never that of clocks.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from datetime import timedelta

from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from controlplane.shared.database.sqlite_lock import write_transaction
from traces.ledger import merkle
from traces.ledger.bulk_insert import insert_packed, row_format
from traces.ledger.checkpoints import sign_checkpoint
from traces.ledger.proofs import TILE_WIDTH, find_head, load_leaf_hashes, load_tile_roots, split_hashes
from traces.models import Checkpoint, EntryKind, LedgerEntry, LedgerLeaf, LedgerTile

log = logging.getLogger(__name__)

BATCH_SIZE = 4 * TILE_WIDTH
INSERTS = 200  # rows a statement: SQLite allows a limited number of parameters
LOCK_SPACE = 0x1CF0 << 40

# One index has the entries of a workspace and kind in order. A query for the oldest of all kinds at once
# would read and sort everything unsealed, for every batch. OFFSET 0 makes PostgreSQL probe the leaf of one
# entry after another; without it the planner reads all leaves and joins them with all entries.
_ENTRIES, _LEAVES = LedgerEntry._meta.db_table, LedgerLeaf._meta.db_table
_OLDEST_UNSEALED = f"""SELECT * FROM (
    SELECT entry.id, entry.leaf_hash FROM {_ENTRIES} entry
    WHERE entry.workspace_id = %s AND entry.kind = %s AND entry.id > %s
      AND NOT EXISTS (SELECT 1 FROM {_LEAVES} leaf WHERE leaf.entry_id = entry.id LIMIT 1 OFFSET 0)
    ORDER BY entry.id LIMIT %s
) waiting"""  # noqa: S608 - names of tables

# PostgreSQL assigns ids before it commits, so a row may become visible below ids that are sealed already. No
# transaction that appends one entry stays open for a minute; bulk writers seal by their own ids.
LATE_COMMITS = {"postgresql": timedelta(seconds=60), "sqlite": timedelta(0)}
FULL_SEARCH_SECONDS = (
    600.0  # seconds between searches through everything, in case the assumption above failed
)


@dataclass(frozen=True, slots=True)
class SealResult:
    """How many entries one call sealed, the tree size after it, and the row id up to which all are sealed."""

    entries: int
    size: int
    through: int = field(default=0, compare=False)


def seal(workspace_id: int, *, after: int | None = None, wait: bool = True) -> SealResult:
    """Seal all unsealed entries above the row id `after`. 2 queries when there is nothing to do.

    0 searches the complete ledger, None its newest part, as far as the age of the heads tells. A caller that
    passes another id has sealed everything below it. Without `wait`, return at once when another sealer holds
    the lock.
    """
    entries = 0
    floor = find_sealed_floor(workspace_id) if after is None else after
    while _find_unsealed(workspace_id, floor, 1):
        sealed, through = _seal_batch(workspace_id, floor, wait=wait)
        entries += sealed
        if sealed == 0:
            break
        floor = max(floor, through)
    newest = find_head(workspace_id)
    return SealResult(entries, newest.size if newest else 0, floor)


def count_unsealed(workspace_id: int) -> int:
    """Count unsealed entries in the newest part of the ledger. 2 queries."""
    return _unsealed_entries(workspace_id, find_sealed_floor(workspace_id)).count()


def list_workspaces_to_seal(after_id: int = 0) -> list[int]:
    """List the ids of workspaces with an unsealed entry above the row id `after_id`. 1 query."""
    entries = LedgerEntry.objects.above(after_id).unsealed()
    return sorted(entries.values_list("workspace_id", flat=True).distinct())


class Sealer:
    """Seal all workspaces periodically. One per process is enough, several do no harm."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque([(0.0, 0)])  # (when, highest row id then)
        self._thorough_at = 0.0

    def run(self, stop: threading.Event, every: float = 1.0) -> None:
        """Run until `stop` is set. Errors are logged and retried: entries wait, none is lost."""
        while not stop.is_set():
            try:
                self.run_once()
            except Exception:
                log.exception("sealing failed; trying again")
            finally:
                connection.close_if_unusable_or_obsolete()
            stop.wait(every)

    def run_once(self) -> int:
        """Seal everything unsealed and return the number of entries."""
        now = time.monotonic()
        thorough = now >= self._thorough_at
        if thorough:
            self._thorough_at = now + FULL_SEARCH_SECONDS
        floor = 0 if thorough else self._floor(now)
        newest = LedgerEntry.objects.highest_row_id()
        workspace_ids = list_workspaces_to_seal(floor)
        self._seen.append((now, newest))
        after = 0 if thorough else None
        return sum(seal(workspace_id, after=after, wait=False).entries for workspace_id in workspace_ids)

    def _floor(self, now: float) -> int:
        late = LATE_COMMITS[connection.vendor].total_seconds()
        while len(self._seen) > 1 and self._seen[1][0] <= now - late:
            self._seen.popleft()
        return self._seen[0][1]


_sealer = Sealer()


def seal_all() -> int:
    """Run one round over all workspaces, for the server's loop. Return the number of entries sealed."""
    return _sealer.run_once()


def find_sealed_floor(workspace_id: int) -> int:
    """Return the row id up to which every entry is sealed, judging by the age of the newest heads. 1 query.

    A head younger than `LATE_COMMITS` proves nothing: a transaction with a lower id may still commit.
    """
    committed_before = timezone.now() - LATE_COMMITS[connection.vendor]
    checkpoints = Checkpoint.objects.filter(workspace_id=workspace_id, created_at__lte=committed_before)
    return checkpoints.order_by("-size").values_list("sealed_through", flat=True).first() or 0


def _find_unsealed(workspace_id: int, floor: int, limit: int) -> list[tuple[int, bytes]]:
    """Return (row id, leaf hash) of the oldest unsealed entries, at most `limit`. 1 query."""
    subqueries = [_OLDEST_UNSEALED] * len(EntryKind.values)
    statement = f"{' UNION ALL '.join(subqueries)} ORDER BY 1 LIMIT %s"
    params = [value for kind in EntryKind.values for value in (workspace_id, kind, floor, limit)]
    with connection.cursor() as cursor:
        cursor.execute(statement, [*params, limit])
        rows = cursor.fetchall()
    return [(row_id, bytes(leaf)) for row_id, leaf in rows]


def _unsealed_entries(workspace_id: int, floor: int) -> QuerySet[LedgerEntry]:
    """Return unsealed entries above `floor`. Naming all kinds lets one index serve the query."""
    entries = LedgerEntry.objects.for_workspace(workspace_id).of_kinds(*EntryKind.values)
    return entries.above(floor).unsealed()


def _seal_batch(workspace_id: int, floor: int, *, wait: bool) -> tuple[int, int]:
    """Return (entries sealed, the row id up to which this search found everything)."""
    with write_transaction():
        if not _lock(workspace_id, wait=wait):
            return 0, floor
        unsealed = _find_unsealed(workspace_id, floor, BATCH_SIZE)
        if not unsealed:
            return 0, floor
        _extend_tree(workspace_id, unsealed)
        return len(unsealed), unsealed[-1][0]


def _lock(workspace_id: int, *, wait: bool) -> bool:
    """Keep other sealers out until the transaction ends. On SQLite BEGIN IMMEDIATE did that already."""
    if connection.vendor != "postgresql":
        return True
    with connection.cursor() as cursor:
        if wait:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK_SPACE + workspace_id])
            return True
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [LOCK_SPACE + workspace_id])
        return bool(cursor.fetchone()[0])


def _extend_tree(workspace_id: int, unsealed: list[tuple[int, bytes]]) -> None:
    """Write leaves and full tiles, and sign the new head."""
    last = find_head(workspace_id)
    size = last.size if last else 0
    frontier = split_hashes(bytes(last.frontier)) if last else []
    hashes = [leaf for _, leaf in unsealed]
    for seq, leaf in enumerate(hashes, start=size):
        merkle.extend_frontier(frontier, seq, leaf)
    pack = row_format(connection.vendor).pack
    leaf_rows = [pack((workspace_id, seq)) for seq in range(size, size + len(unsealed))]
    insert_packed(
        LedgerLeaf, ("entry_id", "workspace_id", "seq"), leaf_rows, [row_id for row_id, _ in unsealed]
    )
    LedgerTile.objects.bulk_create(_complete_tiles(workspace_id, size, hashes), batch_size=INSERTS)
    root = merkle.fold_roots(frontier)
    Checkpoint.objects.create(
        workspace_id=workspace_id,
        size=size + len(unsealed),
        root=root,
        frontier=b"".join(frontier),
        note=sign_checkpoint(workspace_id, size + len(unsealed), root),
        sealed_through=max(unsealed[-1][0], last.sealed_through if last else 0),
        created_at=timezone.now(),
    )


def _complete_tiles(workspace_id: int, size: int, new_hashes: list[bytes]) -> list[LedgerTile]:
    """Return the tiles that `new_hashes` complete in a tree of `size`, on every level."""
    tiles: list[LedgerTile] = []
    level, first = 0, size // TILE_WIDTH
    hashes = load_leaf_hashes(workspace_id, first * TILE_WIDTH, size) + new_hashes
    while len(hashes) >= TILE_WIDTH:
        roots: list[bytes] = []
        for at in range(0, len(hashes) - TILE_WIDTH + 1, TILE_WIDTH):
            group = hashes[at : at + TILE_WIDTH]
            roots.append(merkle.fold_complete_subtree(group))
            tiles.append(_build_tile(workspace_id, level, first + at // TILE_WIDTH, roots[-1], group))
        parent = first // TILE_WIDTH
        hashes = load_tile_roots(workspace_id, level, parent * TILE_WIDTH, first) + roots
        level, first = level + 1, parent
    return tiles


def _build_tile(workspace_id: int, level: int, index: int, root: bytes, hashes: list[bytes]) -> LedgerTile:
    return LedgerTile(workspace_id=workspace_id, level=level, index=index, root=root, hashes=b"".join(hashes))
