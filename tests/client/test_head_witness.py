"""Every client is a witness: it keeps the last head beside its token, and shouts when the ledger contradicts it."""

from __future__ import annotations

import json

import pytest

from controlplane.client.head_witness import compute_entry_root, compute_roots
from tests.client.machine import Machine
from tests.traces.ledger.test_merkle import leaves_of, nodes_over, tree_hash
from traces.ledger import merkle


@pytest.fixture
def machine(tmp_path, server):
    """A machine whose agent works in a workspace of a real server."""
    made = Machine(tmp_path)
    made.token = server.workspace("witnessed")["agent"]
    done = made.icp("connect", "claude-code", "--url", server.url, ICP_TOKEN=made.token)
    assert done.returncode == 0, done.stderr
    return made


def test_a_session_start_keeps_the_head_and_a_later_one_shouts_on_a_fork(machine):
    start = {"session_id": "s-1", "hook_event_name": "SessionStart"}
    for _ in range(2):
        quiet = machine.hook("claude-code", "SessionStart", start)
        assert (quiet.returncode, quiet.stderr) == (0, "")
    file = machine.config / "heads.json"
    forged = {key: head | {"root": "00" * 32} for key, head in json.loads(file.read_text()).items()}
    assert machine.token not in file.read_text()
    file.write_text(json.dumps(forged))
    loud = machine.hook("claude-code", "SessionStart", start)
    assert "the ledger has another history" in loud.stderr
    assert "the ledger has another history" in json.loads(loud.stdout)["systemMessage"]
    assert json.loads(loud.stdout).items() >= json.loads(quiet.stdout).items()
    assert json.loads(file.read_text()) == forged


def test_a_file_of_heads_that_is_damaged_stops_no_session_and_fails_the_command(machine):
    file = machine.config / "heads.json"
    file.write_text("[]")
    assert machine.hook("claude-code", "SessionStart", {"session_id": "s-1"}).returncode == 0
    assert machine.icp("witness").returncode == 2
    file.unlink()
    done = machine.icp("witness")
    assert (done.returncode, done.stderr) == (0, "")


def test_it_agrees_with_the_server_on_every_small_tree():
    for new in range(1, 12):
        leaves = leaves_of(new)
        for index in range(new):
            path = merkle.compute_proof(nodes_over(leaves), merkle.find_inclusion_ranges(index, new))
            assert compute_entry_root(b"%d" % index, index, new, path) == tree_hash(leaves)
        for old in range(1, new + 1):
            path = merkle.compute_proof(nodes_over(leaves), merkle.find_consistency_ranges(old, new))
            roots = tree_hash(leaves[:old]), tree_hash(leaves)
            assert compute_roots(old, new, path, roots[0]) == roots
