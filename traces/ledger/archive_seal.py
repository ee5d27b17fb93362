"""The signed note that ends an archive: which entries of which ledger it holds, and their digest."""

from __future__ import annotations

from dataclasses import dataclass

from traces.ledger.checkpoints import (
    NoteError,
    SignedNote,
    decode_base64,
    encode_base64,
    is_signed_by_installation,
    parse_note,
    sign_note,
)

PREFIX = "archive of "


@dataclass(frozen=True, slots=True)
class ArchiveSeal:
    """A parsed seal. `digest` is the SHA-256 of the lines before it, `ours` whether our key signed it."""

    log: str
    first: int
    end: int
    digest: bytes
    note: str
    ours: bool


def parse_seal(text: str) -> ArchiveSeal:
    """Parse the note that ends an archive. Raise NoteError."""
    (title, range_text, digest), signed_text, signatures = parse_note(text)
    first, _, end = range_text.partition("-")
    if not title.startswith(PREFIX) or not all(
        number.isascii() and number.isdigit() for number in (first, end)
    ):
        raise NoteError("this is not the seal of an archive")
    log = title.removeprefix(PREFIX)
    note = SignedNote(log, int(end), decode_base64(digest), signed_text, signatures)
    return ArchiveSeal(log, int(first), int(end), note.root, text, is_signed_by_installation(note))


def sign_seal(log: str, first: int, end: int, digest: bytes) -> str:
    """Return the note over the entries [first, end) of `log` and the digest of the lines before it."""
    return sign_note(log, f"{PREFIX}{log}\n{first}-{end}\n{encode_base64(digest)}\n")
