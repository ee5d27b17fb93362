"""A COSE receipt proves its entry to a reader that has the log's key and a CBOR decoder, and nothing of ours."""

from __future__ import annotations

import base64
import hashlib

import cbor2
import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from tests.traces.builders import tamper
from traces.models import LedgerEntry

pytestmark = pytest.mark.django_db

SIZE = 7


@pytest.fixture
def log(agent):
    """(agent, the log's name, the id of its key, its public key) of a ledger of seven traces."""
    rows = [
        {"id": f"e-{n}", "timestamp": "2026-02-21T12:00:00Z", "files": [{"relative_path": f"src/{n}.py"}]}
        for n in range(SIZE)
    ]
    assert agent.post("traces", rows).status_code == 201
    name, key_id, key = agent.get("ledger").json()["verifier_key"].split("+", 2)
    return agent, name, key_id, Ed25519PublicKey.from_public_bytes(base64.b64decode(key)[1:])


def receipt_of(agent, entry_id):
    answer = agent.get(f"ledger/entries/{entry_id}/receipt", headers={"Accept": "application/cose"})
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/cose"), answer.content
    return answer.content


def envelope_of(entry_id):
    return bytes(LedgerEntry.objects.get(entry_id=entry_id).envelope)


def parts_of(receipt):
    """(protected headers as signed, tree size, place of the leaf, path, signature) of a receipt."""
    message = cbor2.loads(receipt)
    protected, unprotected, payload, signature = message.value
    assert (message.tag, payload) == (18, None)
    (inclusion,) = unprotected[396][-1]
    return protected, *cbor2.loads(inclusion), signature


def compute_root(leaf, place, size, path):
    """The root that a path leads to (RFC 9162, section 2.1.3.2)."""
    assert place < size
    last, root = size - 1, leaf
    for node in path:
        assert last > 0
        if place % 2 or place == last:
            root = hashlib.sha256(b"\x01" + node + root).digest()
            while not place % 2 and place:
                place, last = place >> 1, last >> 1
        else:
            root = hashlib.sha256(b"\x01" + root + node).digest()
        place, last = place >> 1, last >> 1
    assert last == 0
    return root


def verify(receipt, envelope, key):
    """Return the protected headers of a receipt that proves the envelope. Raise InvalidSignature."""
    protected, size, place, path, signature = parts_of(receipt)
    root = compute_root(hashlib.sha256(b"\x00" + envelope).digest(), place, size, path)
    key.verify(signature, cbor2.dumps(["Signature1", protected, b"", root]))
    return cbor2.loads(protected)


def changed(receipt, **fields):
    """The receipt with other protected headers, size, place or path."""
    protected, size, place, path, signature = parts_of(receipt)
    inclusion = [fields.get("size", size), fields.get("place", place), fields.get("path", path)]
    headers = cbor2.dumps(cbor2.loads(protected) | fields.get("headers", {}))
    return cbor2.dumps(cbor2.CBORTag(18, [headers, {396: {-1: [cbor2.dumps(inclusion)]}}, None, signature]))


def test_a_receipt_proves_each_entry_and_names_log_and_key(log):
    agent, name, key_id, key = log
    for number in range(SIZE):
        entry_id = f"e-{number}"
        headers = verify(receipt_of(agent, entry_id), envelope_of(entry_id), key)
        claims = {1: name, 2: entry_id}
        assert headers == {1: -8, 4: bytes.fromhex(key_id), 15: claims, 395: 1}


def test_a_receipt_proves_nothing_else(log):
    agent, _, _, key = log
    receipt, envelope = receipt_of(agent, "e-3"), envelope_of("e-3")
    verify(changed(receipt), envelope, key)
    path = parts_of(receipt)[3]
    with pytest.raises(InvalidSignature):
        verify(receipt, envelope.replace(b"e-3", b"e-4"), key)
    for fields in (
        {"place": 2},
        {"path": [path[1], path[0], *path[2:]]},
        {"headers": {15: {1: "another/log", 2: "e-3"}}},
        {"headers": {395: 2}},
    ):
        with pytest.raises(InvalidSignature):
            verify(changed(receipt, **fields), envelope, key)


def test_the_first_entry_is_its_own_root(agent):
    agent.post("sessions", {"session_id": "s-1", "agent": {"name": "claude-code"}})
    entry = LedgerEntry.objects.get()
    protected, size, place, path, signature = parts_of(receipt_of(agent, entry.entry_id))
    assert (size, place, path) == (1, 0, [])
    key = base64.b64decode(agent.get("ledger").json()["verifier_key"].split("+", 2)[2])[1:]
    signed = cbor2.dumps(["Signature1", protected, b"", bytes(entry.leaf_hash)])
    Ed25519PublicKey.from_public_bytes(key).verify(signature, signed)


def test_an_entry_is_found_by_its_place_and_an_unknown_one_is_404(log):
    agent, *_ = log
    assert parts_of(receipt_of(agent, "%233"))[2] == 3
    assert agent.get("ledger/entries/none/receipt").status_code == 404


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE traces_ledgerentry SET envelope = %s WHERE entry_id = 'e-3'",
        "UPDATE traces_ledgerentry SET leaf_hash = %s WHERE entry_id = 'e-2'",
        "UPDATE traces_checkpoint SET frontier = %s",
    ],
)
def test_a_tree_that_contradicts_its_signed_head_is_not_signed_again(log, statement):
    agent, *_ = log
    tamper(statement, [bytes(96)])
    answer = agent.get("ledger/entries/e-3/receipt")
    assert (answer.status_code, answer.json()["error_type"]) == (409, "NOT_PROVABLE")
    assert "verify_ledger" in answer.json()["error"]


def test_a_head_of_another_key_is_not_signed_again(log, tmp_path, settings):
    agent, *_ = log
    settings.LEDGER_KEY_FILE = tmp_path / "ledger_key.pem"
    assert agent.get("ledger/entries/e-3/receipt").json()["error_type"] == "NOT_PROVABLE"
