"""Template context for the lines of a file: their origins, the file's former names, its deletion."""

from __future__ import annotations

from typing import Any

from controlplane.models import Workspace
from traces.blame.blame import Blame, blame_with_history, find_deletion, find_on_disk, read_from_disk
from traces.entry_schema import to_canonical_path
from traces.ranges.file_history import FileHistory, read_file_history
from traces.ranges.lineage import OriginRange

MAX_SPANS = 200


def build_current_lines(
    workspace: Workspace, path: str, *, with_history: bool, deleted: bool = True
) -> dict[str, Any] | None:
    """The context of `traces/_lines_now.html`; None where neither the file nor its end is known here.

    Without `whole` the repository is left alone, so that the page waits for nothing. 1 query; none for a file
    that is not at hand, where the caller knows that no entry `deleted` it.
    """
    root = workspace.local_root if _is_canonical(path) else ""
    history = read_file_history(root, path) if root and with_history else FileHistory()
    content = read_from_disk(root, path)
    context: dict[str, Any] = {
        "there": find_on_disk(root, path) is not None,
        "read": content is not None,
        "gone": find_deletion(workspace.pk, path, root, history, recorded=deleted),
        "fetches": bool(root) and not with_history,
        "names": history.renames,
        "note": history.note,
        "spans": [],
    }
    if content is not None:
        return context | _line_fields(blame_with_history(workspace.pk, path, content, history))
    return context if root or context["gone"] else None


def _line_fields(result: Blame) -> dict[str, Any]:
    ranges = result.lineage.ranges
    return {
        "spans": [_span_fields(line_range, result) for line_range in ranges[:MAX_SPANS]],
        "more": max(0, len(ranges) - MAX_SPANS),
        "changed": len(result.lineage.changed),
        "unchecked": len(result.lineage.unchecked),
        "truncated": result.truncated,
        "cut": result.history.is_truncated,
        "note": result.note,
    }


def _span_fields(line_range: OriginRange, result: Blame) -> dict[str, Any]:
    return {
        "start": line_range.start,
        "end": line_range.end,
        "state": line_range.state,
        "author": None if line_range.key is None else result.authors[line_range.key],
        "commit": result.find_commit(line_range.version),
        "new": result.is_uncommitted(line_range.version),
        "by": None if line_range.reformatted_by is None else result.authors[line_range.reformatted_by],
    }


def _is_canonical(path: str) -> bool:
    try:
        return to_canonical_path(path) == path
    except ValueError:
        return False
