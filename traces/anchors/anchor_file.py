"""Signed heads kept outside the database, where whoever can rewrite its rows cannot reach.

An anchor file holds checkpoints one after another, of any ledgers of the installation, oldest first. It is
only ever appended to; put it on storage that lets nobody do more, or commit it to a repository.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from traces.ledger import proofs
from traces.ledger.checkpoints import SIGNATURE_MARK, NoteError, log_origin, parse_checkpoint
from traces.ledger.sealing import seal


def anchor_to_file(workspace_id: int, path: Path) -> int | None:
    """Seal what waits and append the newest head to the file; its size, None where it stands there already.

    Raises OSError, and NoteError where the file holds something else: it is not touched then.
    """
    seal(workspace_id)
    head = proofs.find_head(workspace_id)
    return head.size if head and append_head(head.note, path, workspace_id) else None


def append_head(note: str, path: Path, workspace_id: int) -> bool:
    """Append a head to the file; False where it stands there already. Raises OSError or NoteError."""
    if path.exists() and note in read_anchor_file(path, workspace_id):
        return False
    with path.open("a", encoding="utf-8") as file:
        file.write(note)
        file.flush()
        os.fsync(file.fileno())
    return True


def read_anchor_file(path: Path, workspace_id: int) -> list[str]:
    """The checkpoints of this ledger in a file of one or many, as texts. Raises OSError or NoteError."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise NoteError("it is not UTF-8") from error
    return select_heads(text, workspace_id)


def select_heads(text: str, workspace_id: int) -> list[str]:
    """The checkpoints of this ledger in a text of one or many. Raises NoteError."""
    origin = log_origin(workspace_id)
    return [note for note in split_notes(text) if parse_checkpoint(note).origin == origin]


def split_notes(text: str) -> Iterator[str]:
    """Cut a text into checkpoints: each ends with its last line of signatures."""
    lines: list[str] = []
    for line in text.splitlines(keepends=True):
        if not lines and not line.strip():
            continue  # git puts an empty line between the parts of a note
        if lines and lines[-1].startswith(SIGNATURE_MARK) and not line.startswith(SIGNATURE_MARK):
            yield "".join(lines)
            lines = []
            if not line.strip():
                continue
        lines.append(line)
    if lines:
        yield "".join(lines)
