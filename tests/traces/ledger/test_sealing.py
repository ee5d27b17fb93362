"""Sealing: every entry once, in batches, into a tree that proves it."""

from __future__ import annotations

import multiprocessing
import threading

import pytest
from django.db import connection, transaction

from tests.traces.builders import AWAY, HOME, append, append_many, decision
from traces.ledger import merkle, proofs, sealing
from traces.ledger.checkpoints import is_signed_by, load_public_key, parse_checkpoint
from traces.ledger.sealing import Sealer, SealResult, seal
from traces.models import Checkpoint, LedgerEntry, LedgerLeaf, LedgerTile
from traces.verification.verify import verify

pytestmark = pytest.mark.django_db


def leaves(workspace_id=HOME):
    return proofs.load_leaf_hashes(workspace_id, 0, 10**9)


def test_an_empty_ledger_has_no_head_and_nothing_to_seal(django_assert_max_num_queries):
    with django_assert_max_num_queries(3):
        assert seal(HOME) == SealResult(0, 0)
    assert proofs.find_head(HOME) is None


def test_entries_are_sealed_once_and_apart_from_other_workspaces():
    append_many(3)
    append(decision(workspace_id=AWAY))
    assert seal(HOME) == SealResult(3, 3)
    assert seal(HOME) == SealResult(0, 3)
    append()
    assert seal(HOME, wait=False) == SealResult(1, 4)
    assert [leaf.seq for leaf in LedgerLeaf.objects.filter(workspace_id=HOME).order_by("entry_id")] == [
        0,
        1,
        2,
        3,
    ]
    assert not LedgerLeaf.objects.filter(workspace_id=AWAY).exists()


def test_every_head_is_signed_over_the_root_of_its_size():
    for _ in range(5):
        append()
        seal(HOME)
    for row in Checkpoint.objects.all():
        note = parse_checkpoint(row.note)
        assert is_signed_by(note, load_public_key())
        root = merkle.compute_range_root(proofs.StoredNodes(HOME), 0, row.size)
        assert note.root == bytes(row.root) == root
        assert note.size == row.size


def test_full_tiles_are_written_on_every_level(monkeypatch):
    monkeypatch.setattr(proofs, "TILE_BITS", 2)
    monkeypatch.setattr(proofs, "TILE_WIDTH", 4)
    monkeypatch.setattr(sealing, "TILE_WIDTH", 4)
    for count in (1, 2, 6, 30, 33):
        append_many(count)
        seal(HOME)
    assert LedgerTile.objects.filter(level=0).count() == 72 // 4
    assert LedgerTile.objects.filter(level=1).count() == 72 // 16
    assert LedgerTile.objects.filter(level=2).count() == 72 // 64
    known = leaves()
    nodes = proofs.StoredNodes(HOME)
    for seq, entry in enumerate(LedgerEntry.objects.order_by("leaf__seq")):
        for size in (seq + 1, 64, 72):
            if seq < size:
                proof = proofs.prove_inclusion(entry, size)
                assert merkle.verify_inclusion(known[seq], seq, size, proof.hashes, proof.root)
    for old in range(0, 73, 5):
        proof = proofs.prove_consistency(HOME, old, 72)
        assert merkle.verify_consistency(old, 72, proof.hashes, proof.old_root, proof.new_root)
    assert nodes(6, 0) == merkle.fold_complete_subtree(known[:64])


def test_a_batch_is_bounded_and_all_is_sealed(monkeypatch):
    monkeypatch.setattr(sealing, "BATCH_SIZE", 256)
    append_many(600)
    assert seal(HOME) == SealResult(600, 600)
    assert list(Checkpoint.objects.order_by("size").values_list("size", flat=True)) == [256, 512, 600]
    assert LedgerTile.objects.filter(level=0).count() == 2
    assert verify(HOME).ok


def test_a_late_commit_below_a_sealed_id_is_found_by_a_thorough_search():
    append_many(2)
    seal(HOME)
    late = append()
    Checkpoint.objects.create(
        workspace_id=HOME,
        size=2**40,  # newest by size: as if the search already began above the late entry
        root=b"",
        frontier=b"",
        note="",
        sealed_through=late.id,
        created_at="2020-01-01T00:00:00Z",
    )
    assert sealing.find_sealed_floor(HOME) == late.id
    assert not sealing._find_unsealed(HOME, late.id, 1)
    assert sealing._find_unsealed(HOME, 0, 1)


def test_the_sealer_finds_every_workspace_that_waits():
    append_many(2)
    append(decision(workspace_id=AWAY))
    sealer = Sealer()
    assert sealer.run_once() == 3
    assert sealer.run_once() == 0
    append(decision(workspace_id=AWAY))
    assert sealer.run_once() == 1
    assert verify(AWAY).checked == 2


@pytest.mark.django_db(transaction=True)
def test_many_post_while_one_seals_and_nothing_is_lost_or_forked():
    posters, each = 8, 40
    stop = threading.Event()
    sealer = threading.Thread(target=Sealer().run, args=(stop, 0.01))
    threads = [threading.Thread(target=_post, args=(each,)) for _ in range(posters)]
    sealer.start()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stop.set()
    sealer.join()
    seal(HOME, after=0)
    report = verify(HOME)
    assert report.ok, report.problems
    assert report.checked == LedgerEntry.objects.count() == posters * each
    assert report.unsealed == 0


@pytest.mark.deep
@pytest.mark.django_db(transaction=True)
def test_sixteen_processes_post_two_thousand_entries_while_one_seals():
    connection.close()
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_post, args=(125,)) for _ in range(16)]
    for process in processes:
        process.start()
    sealer = Sealer()
    while any(process.is_alive() for process in processes):
        sealer.run_once()
    assert [process.exitcode for process in processes] == [0] * 16
    seal(HOME, after=0)
    report = verify(HOME)
    assert report.ok, report.problems
    assert (report.checked, report.unsealed) == (2000, 0)


def _post(count):
    try:
        for _ in range(count):
            append()
    finally:
        connection.close()


@pytest.mark.deep
@pytest.mark.django_db(transaction=True)
def test_two_sealers_never_give_the_same_place():
    append_many(3000)
    threads = [threading.Thread(target=_seal) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert verify(HOME).checked == 3000
    assert verify(HOME).ok


def _seal():
    try:
        seal(HOME, wait=True)
    finally:
        connection.close()


def test_appending_inside_a_rolled_back_transaction_leaves_nothing():
    with transaction.atomic():
        append()
        transaction.set_rollback(True)
    assert seal(HOME) == SealResult(0, 0)


def test_a_thorough_search_looks_at_every_part_of_the_ledger_once(monkeypatch, django_assert_max_num_queries):
    monkeypatch.setattr(sealing, "BATCH_SIZE", 4)
    append_many(20)
    assert seal(HOME, after=0) == SealResult(20, 20)
    assert verify(HOME).ok
    with django_assert_max_num_queries(2):
        assert seal(HOME, after=0) == SealResult(0, 20)
