"""What the page of a file shows of its lines: whose they are, what it was called, how it ended."""

from __future__ import annotations

from typing import Any

from controlplane.models import Workspace
from traces.blame.blame import Blame, blame_with_history, find_deletion, find_on_disk, read_from_disk
from traces.entry_schema import to_canonical_path
from traces.ranges.file_history import FileHistory, read_file_history
from traces.ranges.lineage import OriginRange

MAX_SPANS = 200


def build_current_lines(
    workspace: Workspace, path: str, *, whole: bool, deleted: bool = True
) -> dict[str, Any] | None:
    """The context of `traces/_lines_now.html`; None where neither the file nor its end is known here.

    Without `whole` the repository is left alone, so that the page waits for nothing. 1 query; none for a file
    that is not at hand, where the caller knows that no entry `deleted` it.
    """
    root = workspace.local_root if _is_canonical(path) else ""
    history = read_file_history(root, path) if root and whole else FileHistory()
    content = read_from_disk(root, path)
    shown: dict[str, Any] = {
        "there": find_on_disk(root, path) is not None,
        "read": content is not None,
        "gone": find_deletion(workspace.pk, path, root, history, recorded=deleted),
        "fetches": bool(root) and not whole,
        "names": history.renames,
        "note": history.note,
        "spans": [],
    }
    if content is not None:
        return shown | _lines(blame_with_history(workspace.pk, path, content, history))
    return shown if root or shown["gone"] else None


def _lines(found: Blame) -> dict[str, Any]:
    spans = found.lineage.ranges
    return {
        "spans": [_span(span, found) for span in spans[:MAX_SPANS]],
        "more": max(0, len(spans) - MAX_SPANS),
        "changed": len(found.lineage.changed),
        "unchecked": len(found.lineage.unchecked),
        "truncated": found.truncated,
        "cut": found.history.is_truncated,
        "note": found.note,
    }


def _span(span: OriginRange, found: Blame) -> dict[str, Any]:
    return {
        "start": span.start,
        "end": span.end,
        "state": span.state,
        "author": None if span.key is None else found.authors[span.key],
        "commit": found.find_commit(span.version),
        "new": found.is_uncommitted(span.version),
        "by": None if span.reformatted_by is None else found.authors[span.reformatted_by],
    }


def _is_canonical(path: str) -> bool:
    try:
        return to_canonical_path(path) == path
    except ValueError:
        return False
