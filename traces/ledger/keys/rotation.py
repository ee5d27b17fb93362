"""Replace the signing key so that nobody can mistake it for a forgery.

In each ledger an entry tells the change, signed by both keys, and the head that covers it is signed by both.
A rotation that was interrupted goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.db import transaction
from django.utils import timezone

from traces.ledger import checkpoints, proofs
from traces.ledger.append import NewEntry, append
from traces.ledger.keys.changes import OUTCOME, sign_key_change
from traces.ledger.log_name import log_origin
from traces.ledger.sealing import seal
from traces.models import EntryKind


def rotate_key(workspace_ids: Iterable[int], *, actor: str) -> Path:
    """Tell the change in the ledger of each workspace that has a head, then take the new key into use.

    Return the path of the old key, which still verifies.
    """
    new = checkpoints.prepare_next_key()
    for workspace_id in workspace_ids:
        if seal(workspace_id).size:
            _tell(workspace_id, new, actor)
    return checkpoints.replace_key()


def _tell(workspace_id: int, new: Ed25519PrivateKey, actor: str) -> None:
    origin, old = log_origin(workspace_id), checkpoints.load_signing_key()
    keys = [checkpoints.format_verifier_key(origin, key.public_key()) for key in (old, new)]
    note = sign_key_change(origin, old, new, timezone.now())
    entry = NewEntry(
        workspace_id,
        EntryKind.POLICY,
        {"what": "signing key", "old_key": keys[0], "new_key": keys[1], "note": note},
        idempotency_key=f"key:{keys[1].split('+')[1]}",
        outcome=OUTCOME,
        actor=actor,
    )
    with transaction.atomic():
        append(entry)
    seal(workspace_id)
    head = proofs.find_head(workspace_id)
    assert head is not None  # the entry is sealed
    _require_both(head.note, [old, new])


def _require_both(note: str, keys: list[Ed25519PrivateKey]) -> None:
    head = checkpoints.parse_checkpoint(note)
    if not all(checkpoints.is_signed_by(head, key.public_key()) for key in keys):
        raise checkpoints.KeyFileError(
            "The newest head is not signed by both keys: a process of an earlier version seals this ledger. "
            "Stop it, and run this again."
        )
