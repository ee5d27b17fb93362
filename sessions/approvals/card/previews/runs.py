"""Preview what a contained run changed and what of it waits: the real diffs, by the client's word."""

from __future__ import annotations

from typing import Any

from sessions.approvals.card.previews.patches import parse_patch_files
from sessions.approvals.card.previews.values import FilePreview, Preview
from sessions.models import Approval

COMPLETE = "The command has run already. These are all its changes that wait, as its client reported them."
INCOMPLETE = "For some of the files there is no diff: they are binary or large."
NOTES = {
    "created": "new file",
    "modified": "",
    "deleted": "deleted",
    "mode": "other permissions",
    "link": "symbolic link",
}


def preview_run(approval: Approval) -> Preview:
    """Show each change that waits, with what landed already. 0 queries."""
    call = approval.call
    files = tuple(_preview_file(file) for file in call.get("files", []))
    missing = any(
        file.get("diff") is None and file["change"] in {"created", "modified"} for file in call["files"]
    )
    return Preview(
        complete=not missing,
        sentence=INCOMPLETE if missing else COMPLETE,
        note=_describe_run(call),
        files=files,
        input=call.get("command", ""),
    )


def _preview_file(file: dict[str, Any]) -> FilePreview:
    parsed = parse_patch_files(file["diff"]) if file.get("diff") else []
    note = NOTES.get(file["change"], "")
    if file.get("target"):
        note = f"{note} to {file['target']}"
    return FilePreview(file["path"], note, parsed[0].hunks if parsed else ())


def _describe_run(call: dict[str, Any]) -> str:
    """Return e.g. `exit status 0 after 1.2 s; 3 files landed already`."""
    seconds = (call.get("duration_ms") or 0) / 1000
    parts = [f"exit status {call.get('exit_code')} after {seconds:.1f} s"]
    landed = len(call.get("landed", []))
    if landed:
        parts.append(f"{landed} file{'s' if landed > 1 else ''} landed already")
    return "; ".join(parts)
