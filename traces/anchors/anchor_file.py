"""Anchor files: signed heads outside the database, out of reach for whoever can rewrite its rows.

An anchor file holds checkpoints one after another, of any ledgers of the installation, oldest first. It is
only appended to. Put it on append-only storage, or commit it to a repository.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from traces.ledger import proofs
from traces.ledger.checkpoints import SIGNATURE_MARK, NoteError, parse_checkpoint
from traces.ledger.log_name import is_log_name
from traces.ledger.sealing import seal


def anchor_to_file(workspace_id: int, path: Path) -> int | None:
    """Seal, then append the newest head to the file. Return its size; None where the file has it already.

    Raise OSError, and NoteError for a file with other content, which is left untouched.
    """
    seal(workspace_id)
    head = proofs.find_head(workspace_id)
    return head.size if head and append_head(head.note, path, workspace_id) else None


def append_head(note: str, path: Path, workspace_id: int) -> bool:
    """Append a head to the file. Return False where the file has it already. Raise OSError or NoteError."""
    if path.exists() and note in read_anchor_file(path, workspace_id):
        return False
    with path.open("a", encoding="utf-8") as file:
        file.write(note)
        file.flush()
        os.fsync(file.fileno())
    return True


def read_anchor_file(path: Path, workspace_id: int) -> list[str]:
    """Return the checkpoints of this ledger in a file, as text. Raise OSError or NoteError."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise NoteError("it is not UTF-8") from error
    return select_heads(text, workspace_id)


def select_heads(text: str, workspace_id: int) -> list[str]:
    """Return the checkpoints of this ledger in a text. Raise NoteError."""
    return [note for note in split_notes(text) if is_log_name(parse_checkpoint(note).origin, workspace_id)]


def split_notes(text: str) -> Iterator[str]:
    """Split a text into checkpoints. Each ends with its last signature line."""
    lines: list[str] = []
    for line in text.splitlines(keepends=True):
        if not lines and not line.strip():
            continue  # `git notes append` separates with an empty line
        if lines and lines[-1].startswith(SIGNATURE_MARK) and not line.startswith(SIGNATURE_MARK):
            yield "".join(lines)
            lines = []
            if not line.strip():
                continue
        lines.append(line)
    if lines:
        yield "".join(lines)
