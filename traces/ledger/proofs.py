"""Build inclusion and consistency proofs from the stored tiles.

At a million leaves a proof reads a handful of tiles, all full ones in one query.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db import connection

from traces.ledger import merkle
from traces.models import Checkpoint, LedgerEntry, LedgerLeaf, LedgerTile

TILE_BITS = 8
TILE_WIDTH = 1 << TILE_BITS
FULL_TILES = f"""
    WITH wanted(level, place) AS (VALUES {{places}})
    SELECT tile.level, tile."index", tile.hashes FROM wanted JOIN {LedgerTile._meta.db_table} tile
    ON tile.workspace_id = %s AND tile.level = wanted.level AND tile."index" = wanted.place
"""  # noqa: S608 - names of tables


@dataclass(frozen=True, slots=True)
class InclusionProof:
    """Proof that `leaf_hash` is at `seq` under `root` in a tree of `size`. Hashes go from leaf to root."""

    seq: int
    size: int
    leaf_hash: bytes
    root: bytes
    hashes: list[bytes]

    def to_document(self, entry: LedgerEntry, log: str) -> dict[str, Any]:
        """Return what the stand-alone verifier needs, apart from a signed head of `size`."""
        return {
            "log": log,
            "entry_id": entry.entry_id,
            "seq": self.seq,
            "size": self.size,
            "leaf_hash": self.leaf_hash.hex(),
            "root": self.root.hex(),
            "hashes": [node.hex() for node in self.hashes],
            "envelope": bytes(entry.envelope).decode(),
        }


@dataclass(frozen=True, slots=True)
class ConsistencyProof:
    old_size: int
    new_size: int
    old_root: bytes
    new_root: bytes
    hashes: list[bytes]

    def to_document(self, log: str) -> dict[str, Any]:
        """Return what the stand-alone verifier needs, apart from the two signed heads."""
        return {
            "log": log,
            "old_size": self.old_size,
            "new_size": self.new_size,
            "old_root": self.old_root.hex(),
            "new_root": self.new_root.hex(),
            "hashes": [node.hex() for node in self.hashes],
        }


class StoredNodes:
    """The `Nodes` of a workspace's tree: read from tiles and, at its right edge, from rows."""

    def __init__(self, workspace_id: int) -> None:
        self.workspace_id = workspace_id
        self._tiles: dict[tuple[int, int], list[bytes]] = {}
        self._roots: dict[tuple[int, int], bytes] = {}
        self._not_full: set[tuple[int, int]] = set()

    def __call__(self, level: int, index: int) -> bytes:
        key = (level, index)
        if key not in self._roots:
            self._roots[key] = self._root(level, index)
        return self._roots[key]

    def prefetch(self, ranges: Iterable[merkle.LeafRange], sizes: Iterable[int] = ()) -> None:
        """Load what the roots over these ranges and trees need. 1 query for signed heads, 1 for tiles.

        A signed head stores the complete subtrees of its tree, so the right edge is not read again.
        """
        trees = set(sizes)
        for checkpoint in Checkpoint.objects.filter(workspace_id=self.workspace_id, size__in=trees):
            subtrees = merkle.find_complete_subtrees(0, checkpoint.size)
            self._roots |= zip(subtrees, split_hashes(bytes(checkpoint.frontier)), strict=True)
        all_ranges = [*ranges, *((0, size) for size in trees)]
        nodes = (node for leaf_range in all_ranges for node in merkle.find_complete_subtrees(*leaf_range))
        self._fetch({_find_tile(*node) for node in nodes if node not in self._roots})

    def _root(self, level: int, index: int) -> bytes:
        height = level % TILE_BITS
        hashes = self.tile(*_find_tile(level, index))
        first = (index << height) % TILE_WIDTH
        return merkle.fold_complete_subtree(hashes[first : first + (1 << height)])

    def tile(self, level: int, index: int) -> list[bytes]:
        """Return the hashes of a tile; fewer than 256 at the right edge of the tree. 0 to 3 queries."""
        key = (level, index)
        if key not in self._tiles and key not in self._not_full:
            self._fetch({key})
        if key not in self._tiles:
            self._tiles[key] = self._edge(level, index)
        return self._tiles[key]

    def _fetch(self, tiles: set[tuple[int, int]]) -> None:
        """Load those of the tiles that are full; only full tiles are stored."""
        if not tiles:
            return
        values = ", ".join(["(%s, %s)"] * len(tiles))
        params = [number for tile in sorted(tiles) for number in tile]
        with connection.cursor() as cursor:
            cursor.execute(FULL_TILES.replace("{places}", values), [*params, self.workspace_id])
            rows = cursor.fetchall()
        self._tiles |= {(level, index): split_hashes(bytes(hashes)) for level, index, hashes in rows}
        self._not_full |= tiles - self._tiles.keys()

    def _edge(self, level: int, index: int) -> list[bytes]:
        start, end = index << TILE_BITS, (index + 1) << TILE_BITS
        if level == 0:
            return load_leaf_hashes(self.workspace_id, start, end)
        return load_tile_roots(self.workspace_id, level - 1, start, end)


def _find_tile(level: int, index: int) -> tuple[int, int]:
    """Return (level, index) of the tile that holds the hashes below a node."""
    tile_level, height = divmod(level, TILE_BITS)
    return tile_level, index << height >> TILE_BITS


def split_hashes(hashes: bytes) -> list[bytes]:
    return [hashes[at : at + merkle.HASH_SIZE] for at in range(0, len(hashes), merkle.HASH_SIZE)]


def load_leaf_hashes(workspace_id: int, start: int, end: int) -> list[bytes]:
    """Return the leaf hashes of [start, end), as far as sealed.

    2 queries, each by one index: PostgreSQL plans a join badly while the tables have no statistics.
    """
    leaves = LedgerLeaf.objects.filter(workspace_id=workspace_id, seq__gte=start, seq__lt=end).order_by("seq")
    rows = list(leaves.values_list("entry_id", flat=True))
    hashes = dict(LedgerEntry.objects.filter(pk__in=rows).values_list("pk", "leaf_hash")) if rows else {}
    return [bytes(hashes[row]) for row in rows]


def load_tile_roots(workspace_id: int, level: int, start: int, end: int) -> list[bytes]:
    """Return the roots of the full tiles of a level with an index in [start, end). 1 query."""
    tiles = LedgerTile.objects.filter(
        workspace_id=workspace_id, level=level, index__gte=start, index__lt=end
    ).order_by("index")
    return [bytes(root) for root in tiles.values_list("root", flat=True)]


def find_head(workspace_id: int) -> Checkpoint | None:
    """Return the newest checkpoint; None before the first entry is sealed. 1 query."""
    return Checkpoint.objects.filter(workspace_id=workspace_id).order_by("-size").first()


def prove_inclusion(entry: LedgerEntry, size: int) -> InclusionProof:
    """Prove that an entry is in the tree of `size`. 3 queries, and 1 or 2 for each tile that is not full yet.

    Raise LedgerLeaf.DoesNotExist while the entry is unsealed, ValueError when its position is beyond `size`.
    """
    leaf = LedgerLeaf.objects.get(entry=entry)
    ranges = merkle.find_inclusion_ranges(leaf.seq, size)
    nodes = StoredNodes(entry.workspace_id)
    nodes.prefetch(ranges, [size])
    hashes = merkle.compute_proof(nodes, ranges)
    return InclusionProof(
        leaf.seq, size, bytes(entry.leaf_hash), merkle.compute_range_root(nodes, 0, size), hashes
    )


def prove_consistency(workspace_id: int, old_size: int, new_size: int) -> ConsistencyProof:
    """Prove that the tree of `new_size`, which must be sealed, begins with that of `old_size`.

    Raise ValueError unless 0 ≤ old_size ≤ new_size.
    """
    ranges = merkle.find_consistency_ranges(old_size, new_size)
    nodes = StoredNodes(workspace_id)
    nodes.prefetch(ranges, [old_size, new_size])
    hashes = merkle.compute_proof(nodes, ranges)
    roots = [merkle.compute_range_root(nodes, 0, size) for size in (old_size, new_size)]
    return ConsistencyProof(old_size, new_size, roots[0], roots[1], hashes)
