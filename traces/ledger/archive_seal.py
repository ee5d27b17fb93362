"""The signed note that ends an archive: which entries of which ledger it holds, and their digest."""

from __future__ import annotations

from dataclasses import dataclass

from traces.ledger.checkpoints import Note, NoteError, decoded, encoded, is_ours, sign_note, three_lines

PREFIX = "archive of "


@dataclass(frozen=True, slots=True)
class Seal:
    """The signed end of an archive: `digest` is the SHA-256 of the lines before it."""

    log: str
    first: int
    end: int
    digest: bytes
    note: str
    ours: bool


def read_seal(text: str) -> Seal:
    """Parse the note that ends an archive. Raises NoteError."""
    (title, span, digest), signed, signatures = three_lines(text)
    first, _, end = span.partition("-")
    if not title.startswith(PREFIX) or not all(one.isascii() and one.isdigit() for one in (first, end)):
        raise NoteError("this is not the seal of an archive")
    log = title.removeprefix(PREFIX)
    note = Note(log, int(end), decoded(digest), signed, signatures)
    return Seal(log, int(first), int(end), note.root, text, is_ours(note))


def sign_seal(log: str, first: int, end: int, digest: bytes) -> str:
    """Return the note over the entries [first, end) of `log` and the digest of the lines before it."""
    return sign_note(log, f"{PREFIX}{log}\n{first}-{end}\n{encoded(digest)}\n")
