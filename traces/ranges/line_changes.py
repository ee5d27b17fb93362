"""Describe a change of a text line by line: what each hunk brought and took, with the hash of both."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from traces.change_fields import MAX_LINE_CHANGES
from traces.ranges.line_diff import DiffHunk, WorkLimit, find_common_runs, list_hunks
from traces.ranges.lineage import split_lines

MAX_COMPARED_LINES = 100_000


def compute_line_changes(before: str, after: str) -> list[dict[str, Any]] | None:
    """Return the hunks between two texts; None where they cannot be told within the limits.

    A hunk that only deletes has a `line_count` of 0 and stands before its `start_line`.
    """
    old, new = split_lines(before.encode()), split_lines(after.encode())
    work_limit = WorkLimit(MAX_COMPARED_LINES)
    hunks = list(list_hunks(find_common_runs(old, new, work_limit), len(old), len(new)))
    # What was not compared would count as brought by the change.
    if work_limit.is_exhausted or len(hunks) > MAX_LINE_CHANGES:
        return None
    return [_describe_hunk(hunk, old, new) for hunk in hunks]


def confirm_line_changes(changes: Sequence[dict[str, Any]], after: str) -> bool:
    """Whether the lines that a sender says it brought stand in the text after the change."""
    lines = split_lines(after.encode())
    return all(
        change["content_hash"]
        == _hash_lines(lines[change["start_line"] - 1 : change["start_line"] - 1 + change["line_count"]])
        for change in changes
    )


def _describe_hunk(hunk: DiffHunk, old: Sequence[bytes], new: Sequence[bytes]) -> dict[str, Any]:
    return {
        "start_line": hunk.b0 + 1,
        "line_count": hunk.b1 - hunk.b0,
        "content_hash": _hash_lines(new[hunk.b0 : hunk.b1]),
        "previous_line_count": hunk.a1 - hunk.a0,
        "previous_hash": _hash_lines(old[hunk.a0 : hunk.a1]),
    }


def _hash_lines(lines: Sequence[bytes]) -> str:
    return f"sha256:{hashlib.sha256(b''.join(lines)).hexdigest()}"
