"""What the page of a file shows of its lines: whose they are, what it was called, how it ended."""

from __future__ import annotations

from typing import Any

from controlplane.models import Workspace
from traces.blame.blame import Blame, blame_with, deletion, find_on_disk, on_disk
from traces.entry_schema import canonical_path
from traces.ranges.file_history import FileHistory, read_file_history
from traces.ranges.lineage import OriginRange

SPANS_SHOWN = 200


def lines_now(workspace: Workspace, path: str, *, whole: bool, deleted: bool = True) -> dict[str, Any] | None:
    """The context of `traces/_lines_now.html`; None where neither the file nor its end is known here.

    Without `whole` the repository is left alone, so that the page waits for nothing. 1 query; none for a file
    that is not at hand, where the caller knows that no entry `deleted` it.
    """
    root = workspace.local_root if _is_canonical(path) else ""
    history = read_file_history(root, path) if root and whole else FileHistory()
    content = on_disk(root, path)
    shown: dict[str, Any] = {
        "there": find_on_disk(root, path) is not None,
        "read": content is not None,
        "gone": deletion(workspace.pk, path, root, history, recorded=deleted),
        "fetches": bool(root) and not whole,
        "names": history.renames,
        "note": history.note,
        "spans": [],
    }
    if content is not None:
        return shown | _lines(blame_with(workspace.pk, path, content, history))
    return shown if root or shown["gone"] else None


def _lines(found: Blame) -> dict[str, Any]:
    spans = found.lineage.ranges
    return {
        "spans": [_span(span, found) for span in spans[:SPANS_SHOWN]],
        "more": max(0, len(spans) - SPANS_SHOWN),
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
        "commit": found.commit(span.version),
        "new": found.is_new(span.version),
        "by": None if span.reformatted_by is None else found.authors[span.reformatted_by],
    }


def _is_canonical(path: str) -> bool:
    try:
        return canonical_path(path) == path
    except ValueError:
        return False
