"""Cosignatures of witnesses (C2SP tlog-cosignature) on our signed heads, and which head may be published."""

from __future__ import annotations

from datetime import UTC, datetime

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from django.conf import settings
from django.db.models import Count

from traces.ledger.checkpoints import (
    COSIGNATURE,
    KEY_ID_SIZE,
    NoteError,
    compute_key_id,
    parse_note,
    parse_verifier_key,
)
from traces.ledger.proofs import find_head
from traces.models import Checkpoint, Cosignature

TIME_SIZE = 8


def find_cosigning_time(note: str, verifier_key: str) -> datetime | None:
    """Return when the witness with this key signed the note, None if it did not. Raise NoteError."""
    name, raw = parse_verifier_key(verifier_key, COSIGNATURE)
    key = Ed25519PublicKey.from_public_bytes(raw)
    _, signed_text, signatures = parse_note(note)
    key_id = compute_key_id(name, key, COSIGNATURE)
    for signer, blob in signatures:
        seconds, signature = blob[KEY_ID_SIZE:][:TIME_SIZE], blob[KEY_ID_SIZE + TIME_SIZE :]
        if signer == name and blob[:KEY_ID_SIZE] == key_id and len(seconds) == TIME_SIZE:
            time = int.from_bytes(seconds, "big")
            if _is_valid(key, signature, f"cosignature/v1\ntime {time}\n{signed_text}"):
                return datetime.fromtimestamp(time, UTC)
    return None


def store_cosignature(head: Checkpoint, lines: str, verifier_key: str) -> datetime:
    """Keep the witness's line for a head. Return when it signed. Raise NoteError if it did not."""
    for line in lines.splitlines(keepends=True):
        time = find_cosigning_time(head.note + line, verifier_key)
        if time is not None:
            Cosignature.objects.get_or_create(
                workspace_id=head.workspace_id,
                size=head.size,
                witness=parse_verifier_key(verifier_key, COSIGNATURE)[0],
                defaults={"line": line, "signed_at": time},
            )
            return time
    raise NoteError("The witness answered with no signature by its key.")


def find_cosigned_size(workspace_id: int, witness: str) -> int:
    """Return the size of the largest head that a witness signed. 1 query."""
    signed = Cosignature.objects.filter(workspace_id=workspace_id, witness=witness)
    return signed.order_by("-size").values_list("size", flat=True).first() or 0


def find_published_head(workspace_id: int) -> Checkpoint | None:
    """Return the newest head that as many witnesses signed as ICP_WITNESS_QUORUM says. 1 or 2 queries."""
    if not settings.WITNESS_QUORUM:
        return find_head(workspace_id)
    signed = Cosignature.objects.filter(workspace_id=workspace_id).values("size").order_by("-size")
    enough = signed.annotate(witnesses=Count("pk")).filter(witnesses__gte=settings.WITNESS_QUORUM)
    size = enough.values_list("size", flat=True).first()
    return Checkpoint.objects.filter(workspace_id=workspace_id, size=size).first() if size else None


def render_note(head: Checkpoint) -> str:
    """Return the signed head with the lines of its witnesses. 1 query."""
    signed = Cosignature.objects.filter(workspace_id=head.workspace_id, size=head.size).order_by("witness")
    return head.note + "".join(signed.values_list("line", flat=True))


def _is_valid(key: Ed25519PublicKey, signature: bytes, text: str) -> bool:
    try:
        key.verify(signature, text.encode())
    except InvalidSignature:
        return False
    return True
