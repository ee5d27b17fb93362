"""The tree against a brute-force reading of RFC 6962, section 2.1."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from traces.ledger import merkle

# Leaves and roots of the reference log of RFC 6962 implementations (certificate-transparency test data).
REFERENCE_LEAVES = [
    "",
    "00",
    "10",
    "2021",
    "3031",
    "40414243",
    "5051525354555657",
    "606162636465666768696a6b6c6d6e6f",
]
REFERENCE_ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]


def tree_hash(leaves):
    """MTH of RFC 6962, word for word."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return merkle.node_hash(tree_hash(leaves[:split]), tree_hash(leaves[split:]))


def leaves_of(size):
    return [merkle.leaf_hash(str(n).encode()) for n in range(size)]


def nodes_over(leaves):
    return lambda level, index: tree_hash(leaves[index << level : (index + 1) << level])


@pytest.mark.parametrize("size", range(1, 9))
def test_roots_equal_the_reference_log(size):
    leaves = [merkle.leaf_hash(bytes.fromhex(leaf)) for leaf in REFERENCE_LEAVES[:size]]
    assert merkle.compute_range_root(nodes_over(leaves), 0, size).hex() == REFERENCE_ROOTS[size - 1]


def test_the_frontier_grows_to_the_root_of_every_size():
    frontier = []
    assert merkle.fold_roots(frontier) == merkle.EMPTY_ROOT
    leaves = leaves_of(70)
    for size, leaf in enumerate(leaves):
        merkle.extend_frontier(frontier, size, leaf)
        assert merkle.fold_roots(frontier) == tree_hash(leaves[: size + 1])
        assert len(frontier) == (size + 1).bit_count()


def test_every_leaf_of_every_small_tree_is_proven():
    for size in range(1, 34):
        leaves = leaves_of(size)
        root = tree_hash(leaves)
        for index in range(size):
            path = merkle.compute_proof(nodes_over(leaves), merkle.find_inclusion_ranges(index, size))
            assert merkle.verify_inclusion(leaves[index], index, size, path, root)
            assert not merkle.verify_inclusion(leaves[index], index, size, path, b"\x00" * 32)
            assert not merkle.verify_inclusion(merkle.leaf_hash(b"other"), index, size, path, root)
            assert not merkle.verify_inclusion(leaves[index], index, size, [*path, root], root)
            if size > 1:
                assert not merkle.verify_inclusion(leaves[index], index ^ 1, size, path, root)
                assert not merkle.verify_inclusion(leaves[index], index, size, path[:-1], root)


def test_every_small_tree_begins_with_every_smaller_one():
    for new in range(34):
        leaves = leaves_of(new)
        for old in range(new + 1):
            path = merkle.compute_proof(nodes_over(leaves), merkle.find_consistency_ranges(old, new))
            roots = tree_hash(leaves[:old]), tree_hash(leaves)
            assert merkle.verify_consistency(old, new, path, *roots)
            assert not merkle.verify_consistency(old, new, [*path, roots[1]], *roots)
            if 0 < old < new:
                assert not merkle.verify_consistency(old, new, path, roots[1], roots[0])
                assert not merkle.verify_consistency(old, new, path[:-1], *roots)
                assert not merkle.verify_consistency(old, new, path, b"\x00" * 32, roots[1])


@given(st.integers(0, 500), st.data())
def test_a_rewritten_leaf_breaks_consistency(new, data):
    leaves = leaves_of(new + 2)
    old = data.draw(st.integers(1, new + 1))
    rewritten = list(leaves)
    rewritten[data.draw(st.integers(0, old - 1))] = merkle.leaf_hash(b"rewritten")
    path = merkle.compute_proof(nodes_over(rewritten), merkle.find_consistency_ranges(old, new + 2))
    assert not merkle.verify_consistency(old, new + 2, path, tree_hash(leaves[:old]), tree_hash(rewritten))


@pytest.mark.parametrize(("index", "size"), [(0, 0), (3, 3), (-1, 2)])
def test_a_leaf_outside_the_tree_has_no_proof(index, size):
    with pytest.raises(ValueError, match="not in a tree"):
        merkle.find_inclusion_ranges(index, size)
    assert not merkle.verify_inclusion(b"", index, size, [], b"")


def test_a_tree_has_no_larger_past():
    with pytest.raises(ValueError, match="no past"):
        merkle.find_consistency_ranges(3, 2)
    assert not merkle.verify_consistency(3, 2, [b""], b"", b"")
