"""Write the receipt of an entry as COSE Receipts describe it (RFC 9942), for tools of SCITT (RFC 9943).

A COSE_Sign1 over the root of the tree, with the proof that leads from the entry to it. The root itself is
left out, so that a reader has to compute it from the entry: the leaf is the hash of the envelope.
"""

from __future__ import annotations

from typing import Any

import cbor2

from traces.errors import NotProvableError
from traces.ledger import checkpoints, merkle, proofs
from traces.ledger.checkpoints import NoteError
from traces.ledger.log_name import is_log_name, log_origin
from traces.ledger.proofs import InclusionProof
from traces.models import LedgerEntry

CONTENT_TYPE = "application/cose"
COSE_SIGN1 = 18  # tag
ALGORITHM, KEY_ID, CLAIMS, TREE, PROOFS = 1, 4, 15, 395, 396  # labels of headers
EDDSA = -8  # RFC 9864 prefers -19 for Ed25519, which few readers know yet
RFC9162_SHA256 = 1
INCLUSION_PROOFS = -1
ISSUER, SUBJECT = 1, 2


def sign_cose_receipt(entry: LedgerEntry) -> bytes:
    """Return the receipt of a sealed entry under the newest head. 5 queries, as for its proof.

    Raise NotProvableError where the stored tree does not lead to a head that this installation signed: a
    signature over another root would testify to a second history.
    """
    head = proofs.find_head(entry.workspace_id)
    assert head is not None  # the entry is sealed
    proof = proofs.prove_inclusion(entry, head.size)
    if not _leads_to_signed_head(entry, proof, head.note):
        raise NotProvableError(
            f"Entry {entry.entry_id} does not lead to the newest signed head, so no receipt is signed. "
            "verify_ledger tells what was changed."
        )
    protected = _encode(_list_protected_headers(entry))
    signed = _encode(["Signature1", protected, b"", proof.root])
    signature = checkpoints.load_signing_key().sign(signed)
    inclusion = _encode([proof.size, proof.seq, proof.hashes])
    unprotected = {PROOFS: {INCLUSION_PROOFS: [inclusion]}}
    return _encode(cbor2.CBORTag(COSE_SIGN1, [protected, unprotected, None, signature]))


def _list_protected_headers(entry: LedgerEntry) -> dict[int, Any]:
    origin = log_origin(entry.workspace_id)
    return {
        ALGORITHM: EDDSA,
        KEY_ID: checkpoints.compute_key_id(origin, checkpoints.load_public_key()),
        CLAIMS: {ISSUER: origin, SUBJECT: entry.entry_id},
        TREE: RFC9162_SHA256,
    }


def _leads_to_signed_head(entry: LedgerEntry, proof: InclusionProof, note: str) -> bool:
    try:
        head = checkpoints.parse_checkpoint(note)
    except NoteError:
        return False
    leaf = merkle.leaf_hash(bytes(entry.envelope))
    return (
        is_log_name(head.origin, entry.workspace_id)
        and checkpoints.is_signed_by_installation(head)
        and (head.size, head.root) == (proof.size, proof.root)
        and merkle.verify_inclusion(leaf, proof.seq, proof.size, proof.hashes, proof.root)
    )


def _encode(value: Any) -> bytes:
    return cbor2.dumps(value, canonical=True)
