"""Changes of the signing key, told in the ledger: each is a note that the old key and the new one signed.

So whoever kept the first key can follow to the newest one, and tell a change from a replacement.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from traces.ledger.append import format_instant, read_body
from traces.ledger.checkpoints import (
    NoteError,
    add_signature,
    format_verifier_key,
    is_signed_by,
    parse_note,
    parse_verifier_key,
)
from traces.ledger.checkpoints import SignedNote as Note
from traces.models import EntryKind, LedgerEntry

OUTCOME = "key_changed"
TITLE = "key change of "


@dataclass(frozen=True, slots=True)
class KeyChange:
    """A change that both keys signed: verifier keys as text, and the time that the note tells."""

    origin: str
    old: str
    new: str
    time: str
    note: str


def sign_key_change(origin: str, old: Ed25519PrivateKey, new: Ed25519PrivateKey, time: datetime) -> str:
    """Return the note, signed by the old key and, to show that it is held, by the new one."""
    keys = [format_verifier_key(origin, key.public_key()) for key in (old, new)]
    text = "\n".join([f"{TITLE}{origin}", *keys, format_instant(time)]) + "\n"
    return add_signature(add_signature(f"{text}\n", origin, old), origin, new)


def parse_key_change(note: str) -> KeyChange:
    """Raise NoteError unless both keys signed the note."""
    (title, old, new), signed_text, signatures = parse_note(note)
    time = signed_text.split("\n")[3]
    origin = title.removeprefix(TITLE)
    signed = Note(origin, 0, b"", signed_text, signatures)
    if title == origin or not all(_signs(signed, key) for key in (old, new)):
        raise NoteError("it is not a change of keys that both keys signed")
    return KeyChange(origin, old, new, time, note)


def list_key_changes(workspace_id: int) -> list[str]:
    """Return the notes in a workspace's ledger, oldest first. 1 query."""
    entries = LedgerEntry.objects.for_workspace(workspace_id).of_kind(EntryKind.POLICY)
    changes = entries.filter(outcome=OUTCOME).with_body().oldest_first()
    return [str(body["note"]) for entry in changes if (body := read_body(entry)) is not None]


def join_notes(notes: list[str]) -> str:
    """Return the notes as one text, as the stand-alone verifier reads it."""
    return "\n\n".join(notes)


def _signs(note: Note, verifier_key: str) -> bool:
    name, key = parse_verifier_key(verifier_key)
    return name == note.origin and is_signed_by(note, Ed25519PublicKey.from_public_bytes(key))
