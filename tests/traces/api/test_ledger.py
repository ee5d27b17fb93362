"""The ledger over REST: its head, its proofs, its verification."""

from __future__ import annotations

import pytest

from tests.traces.api.samples import entry
from traces.ledger import checkpoints, merkle
from traces.models import LedgerEntry

pytestmark = pytest.mark.django_db


def test_the_head_and_its_checkpoint(agent):
    empty = agent.get("ledger").json()
    assert (empty["size"], empty["checkpoint"], empty["root"]) == (0, None, merkle.EMPTY_ROOT.hex())
    assert agent.get("ledger/checkpoint").status_code == 404
    agent.post("traces", entry("a"))
    head = agent.get("ledger").json()
    assert (head["size"], head["waiting"]) == (1, 0)
    text = agent.get("ledger/checkpoint").content.decode()
    note = checkpoints.parse_checkpoint(text)
    assert (note.size, note.root.hex(), text) == (1, head["root"], head["checkpoint"])


def test_an_inclusion_proof_holds_for_whoever_checks_it(agent):
    agent.post("traces", [entry(f"e-{n}") for n in range(7)])
    proof = agent.get("ledger/proof/inclusion", entry="e-3").json()
    leaf = bytes.fromhex(proof["leaf_hash"])
    hashes = [bytes.fromhex(one) for one in proof["hashes"]]
    assert merkle.leaf_hash(proof["envelope"].encode()) == leaf
    assert merkle.verify_inclusion(leaf, proof["seq"], proof["size"], hashes, bytes.fromhex(proof["root"]))
    assert checkpoints.parse_checkpoint(proof["checkpoint"]).root.hex() == proof["root"]
    assert agent.get("ledger/proof/inclusion", entry="#3").json()["entry_id"] == proof["entry_id"]
    assert agent.get("ledger/proof/inclusion", entry="e-3", size=5).json()["checkpoint"] is None
    assert agent.get("ledger/proof/inclusion", entry="none").status_code == 404
    assert agent.get("ledger/proof/inclusion", entry="e-3", size=2).status_code == 400
    assert agent.get("ledger/proof/inclusion", entry="e-3", size=8).status_code == 400


def test_only_reviewers_get_the_bodies_of_decisions_with_a_proof(agent, reviewer):
    agent.gate("Read", file_path="a.ts")
    decision = LedgerEntry.objects.get(kind="decision").entry_id
    assert agent.get("ledger/proof/inclusion", entry=decision).json()["body"] is None
    assert "a.ts" in reviewer.get("ledger/proof/inclusion", entry=decision).json()["body"]


def test_a_consistency_proof_holds_for_whoever_checks_it(agent):
    agent.post("traces", [entry(f"e-{n}") for n in range(7)])
    proof = agent.get("ledger/proof/consistency", **{"from": 3}).json()
    hashes = [bytes.fromhex(one) for one in proof["hashes"]]
    roots = (bytes.fromhex(proof["old_root"]), bytes.fromhex(proof["new_root"]))
    assert merkle.verify_consistency(proof["old_size"], proof["new_size"], hashes, *roots)
    assert agent.get("ledger/proof/consistency").status_code == 400
    assert agent.get("ledger/proof/consistency", **{"from": 8}).status_code == 400
    assert agent.get("ledger/proof/consistency", **{"from": 4, "to": 2}).status_code == 400


def test_verification_over_rest(agent):
    agent.post("traces", entry("a"))
    found = agent.get("ledger/verify").json()
    assert (found["ok"], found["checked"], found["problems"]) == (True, 1, [])


def test_a_proof_of_nothing_named_asks_for_a_name(agent):
    answer = agent.get("ledger/proof/inclusion")
    assert (answer.status_code, answer.json()["error_type"]) == (400, "INVALID_INPUT")
    assert answer.json()["error"].startswith("entry is missing")
