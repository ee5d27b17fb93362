"""What an edit changed in a file, line by line: hashes of what each hunk brought and took, no text."""

from __future__ import annotations

import hashlib
import os

from controlplane.client.call_changes import count_common, list_edits, read_edited_text, revert

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_DIFF_LINES = 4000  # lines of each text, without those that they share at both ends
MAX_HUNKS = 200  # hunks of a file


def find_line_changes(payload: dict[str, Any], root: str) -> dict[str, list[dict[str, Any]]]:
    """Return the hunks of each file of the repository whose edits can be undone."""
    base = payload.get("cwd")
    base = base if isinstance(base, str) else root
    top = os.path.realpath(root)
    changes: dict[str, list[dict[str, Any]]] = {}
    for name, edits in list_edits(payload):
        path = os.path.realpath(os.path.join(base, name))
        after = read_edited_text(path) if path.startswith(top + os.sep) else None
        before = revert(after, edits) if after is not None else None
        hunks = _find_hunks(before, after) if before is not None and after is not None else None
        if hunks is not None:
            changes[os.path.relpath(path, top)] = hunks
    return changes


def _find_hunks(before: str, after: str) -> list[dict[str, Any]] | None:
    """Return the hunks; None where there is too much to compare."""
    from difflib import SequenceMatcher  # here: it costs time that most hooks have no use for

    old, new = _split_lines(before), _split_lines(after)
    head = count_common(old, new)
    tail = count_common(old[head:][::-1], new[head:][::-1])
    a, b = old[head : len(old) - tail], new[head : len(new) - tail]
    if max(len(a), len(b)) > MAX_DIFF_LINES:
        return None
    codes = SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    hunks = [
        _describe_hunk(a[a0:a1], b[b0:b1], head + b0 + 1) for kind, a0, a1, b0, b1 in codes if kind != "equal"
    ]
    return hunks if len(hunks) <= MAX_HUNKS else None


def _describe_hunk(old: list[str], new: list[str], start: int) -> dict[str, Any]:
    return {
        "start_line": start,
        "line_count": len(new),
        "content_hash": _hash_lines(new),
        "previous_line_count": len(old),
        "previous_hash": _hash_lines(old),
    }


def _split_lines(text: str) -> list[str]:
    parts = text.split("\n")
    lines = [part + "\n" for part in parts[:-1]]
    return [*lines, parts[-1]] if parts[-1] else lines


def _hash_lines(lines: list[str]) -> str:
    return "sha256:" + hashlib.sha256("".join(lines).encode()).hexdigest()
