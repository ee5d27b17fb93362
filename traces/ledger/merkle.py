"""The Merkle tree of RFC 6962, section 2.1: hashes, frontier, proofs and their verification.

`Nodes` stands for a tree: a function from (level, index) to the root of the complete subtree over the leaves
[index·2^level, (index + 1)·2^level). Hashes are 32 bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence

Nodes = Callable[[int, int], bytes]
LeafRange = tuple[int, int]  # leaves [start, end)
HASH_SIZE = 32
EMPTY_ROOT = hashlib.sha256(b"").digest()


def leaf_hash(data: bytes) -> bytes:
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


def find_complete_subtrees(start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield (level, index) of the largest complete subtrees that make up [start, end), left to right."""
    while start < end:
        aligned = (start & -start).bit_length() - 1 if start else 64
        level = min(aligned, (end - start).bit_length() - 1)
        yield level, start >> level
        start += 1 << level


def fold_roots(roots: Sequence[bytes]) -> bytes:
    """Return the root over complete subtrees, largest first."""
    if not roots:
        return EMPTY_ROOT
    root = roots[-1]
    for left in reversed(roots[:-1]):
        root = node_hash(left, root)
    return root


def fold_complete_subtree(hashes: Sequence[bytes]) -> bytes:
    """Return the root over 2^n adjacent hashes."""
    level = list(hashes)
    while len(level) > 1:
        level = [node_hash(level[at], level[at + 1]) for at in range(0, len(level), 2)]
    return level[0]


def compute_range_root(nodes: Nodes, start: int, end: int) -> bytes:
    return fold_roots([nodes(level, index) for level, index in find_complete_subtrees(start, end)])


def extend_frontier(frontier: list[bytes], size: int, leaf: bytes) -> None:
    """Add a leaf hash, in place, to the `frontier`: the roots of the complete subtrees of a tree of `size`.

    As in binary addition: each trailing 1 bit of `size` is a subtree that the new leaf completes.
    """
    while size & 1:
        leaf = node_hash(frontier.pop(), leaf)
        size >>= 1
    frontier.append(leaf)


def find_inclusion_ranges(index: int, size: int) -> list[LeafRange]:
    """Return the subtrees that prove leaf `index` in a tree of `size`, lowest first (RFC 6962, 2.1.1)."""
    if not 0 <= index < size:
        raise ValueError(f"leaf {index} is not in a tree of {size}")
    start, end = 0, size
    ranges: list[LeafRange] = []
    while end - start > 1:
        middle = start + _split(end - start)
        if index < middle:
            ranges.append((middle, end))
            end = middle
        else:
            ranges.append((start, middle))
            start = middle
    return ranges[::-1]


def find_consistency_ranges(old: int, new: int) -> list[LeafRange]:
    """Return the subtrees of a consistency proof between two sizes, lowest first (RFC 6962, 2.1.2)."""
    if not 0 <= old <= new:
        raise ValueError(f"a tree of {new} has no past of {old}")
    if old in {0, new}:
        return []
    start, end = 0, new
    ranges: list[LeafRange] = []
    while end != old:
        middle = start + _split(end - start)
        if old <= middle:
            ranges.append((middle, end))
            end = middle
        else:
            ranges.append((start, middle))
            start = middle
    if start:
        ranges.append((start, end))
    return ranges[::-1]


def compute_proof(nodes: Nodes, ranges: list[LeafRange]) -> list[bytes]:
    return [compute_range_root(nodes, start, end) for start, end in ranges]


def verify_inclusion(leaf: bytes, index: int, size: int, path: Sequence[bytes], root: bytes) -> bool:
    """Return whether `path` proves the leaf hash at `index` under `root` (RFC 9162, 2.1.3.2)."""
    if not 0 <= index < size:
        return False
    position, last, computed = index, size - 1, leaf
    for sibling in path:
        if last == 0:
            return False
        if position & 1 or position == last:
            computed = node_hash(sibling, computed)
            while not position & 1 and position:
                position, last = position >> 1, last >> 1
        else:
            computed = node_hash(computed, sibling)
        position, last = position >> 1, last >> 1
    return last == 0 and computed == root


def verify_consistency(old: int, new: int, path: Sequence[bytes], old_root: bytes, new_root: bytes) -> bool:
    """Return whether the tree of `new` leaves begins with the tree of `old` leaves (RFC 9162, 2.1.4.2)."""
    # An empty or equal tree needs no hashes. A path would be a malleable proof, so it is rejected.
    if old in {0, new}:
        return not path and (old == 0 or old_root == new_root)
    if not 0 < old < new or not path:
        return False
    # Where `old` is a power of two, its root is a node of the new tree and is left out of the path.
    hashes = list(path) if old & (old - 1) else [old_root, *path]
    index, last = old - 1, new - 1
    while index & 1:
        index, last = index >> 1, last >> 1
    first = second = hashes[0]
    for sibling in hashes[1:]:
        if last == 0:
            return False
        if index & 1 or index == last:
            first, second = node_hash(sibling, first), node_hash(sibling, second)
            while not index & 1 and index:
                index, last = index >> 1, last >> 1
        else:
            second = node_hash(second, sibling)
        index, last = index >> 1, last >> 1
    return last == 0 and first == old_root and second == new_root


def _split(size: int) -> int:
    """Return the largest power of two below `size`."""
    return 1 << ((size - 1).bit_length() - 1)
