"""Proofs from the stored tree: few queries, and the same with and without a signed head."""

from __future__ import annotations

import pytest

from tests.traces.builders import HOME, append_many
from traces.ledger import merkle, proofs, sealing
from traces.ledger.sealing import seal
from traces.models import LedgerEntry

pytestmark = pytest.mark.django_db


def test_a_proof_reads_its_full_tiles_at_once(monkeypatch, django_assert_max_num_queries):
    monkeypatch.setattr(sealing, "BATCH_SIZE", 1024)
    made = append_many(2000)
    seal(HOME)
    for entry, most in ((made[700], 4), (made[1990], 6)):
        found = LedgerEntry.objects.get(pk=entry.id)
        with django_assert_max_num_queries(most):
            proof = proofs.prove_inclusion(found, 2000)
        assert proof.root == bytes(proofs.find_head(HOME).root)
        assert merkle.verify_inclusion(proof.leaf_hash, proof.seq, 2000, proof.hashes, proof.root)


def test_a_proof_in_a_tree_without_a_signed_head_reads_more_and_says_the_same():
    made = append_many(600)
    seal(HOME)
    proof = proofs.prove_inclusion(LedgerEntry.objects.get(pk=made[3].id), 555)
    assert merkle.verify_inclusion(proof.leaf_hash, 3, 555, proof.hashes, proof.root)
    grown = proofs.prove_consistency(HOME, 555, 600)
    assert (grown.old_root, grown.new_root) == (proof.root, bytes(proofs.find_head(HOME).root))
    assert merkle.verify_consistency(555, 600, grown.hashes, grown.old_root, grown.new_root)
