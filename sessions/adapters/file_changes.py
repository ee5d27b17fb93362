"""Derive traces from the payload of a tool that has run.

The targets come from the gate's own reading of the call. A file is recorded only where its full content or
its hash is known, because the next write to it is compared with the ledger's newest hash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from controlplane.policy.calls.resolve_tool import resolve_tool
from controlplane.policy.calls.targets import find_targets
from controlplane.policy.calls.toolsets.kinds import ToolKind
from controlplane.policy.model import Policy, ToolCall
from controlplane.policy.paths.canonical import InvalidPath, canonicalize
from controlplane.policy.paths.filesystem import Filesystem
from controlplane.policy.paths.raw_path import RawPath
from sessions.adapters.hook_call import FileContent, HookCall, mapping
from sessions.previous_text import ReportedTexts
from traces.entries.record import find_newest_hashes

REMOVING_OPERATIONS = frozenset({"delete", "move"})
DELETED = "DELETED"
Trace = dict[str, Any]


def build_traces(call: ToolCall, hook: HookCall, disk: Filesystem | None) -> list[Trace]:
    """Return one trace a file, in the form of `POST /sessions/{id}/traces`. `disk` needs a local root.

    The range is that of the texts before and after where both are known, else the one that the hook client
    found, else none.
    """
    by_path = {_workspace_path(content.path, call, call.cwd): content for content in hook.contents}
    traces: dict[str, Trace] = {}
    for target in find_targets(call, Policy()).writes:
        path = _workspace_path(target.raw, call, target.cwd)
        trace = _build_trace(path, target, call, by_path.get(path), disk) if path else None
        if trace is not None:
            sent = hook.line_changes.get(path)
            changes = {} if sent is None else {"line_changes": sent}
            traces[path] = _range_fields(hook.changed_lines.get(path)) | changes | trace
    return list(traces.values())


def build_failed_traces(call: ToolCall, workspace_id: int) -> list[Trace]:
    """Return a trace of each file that a failed command had written before it failed. 1 query.

    Our hook client sends hashes of files only that were changed meanwhile; what the ledger has is not news.
    """
    tool = resolve_tool(call).tool
    if tool is None or tool.kind is not ToolKind.SHELL or not call.current_content_hashes:
        return []
    writes = [target for target in find_targets(call, Policy()).writes if target.op == "write"]
    paths = {_workspace_path(target.raw, call, target.cwd) for target in writes}
    hashes = {
        path: call.current_content_hashes[path] for path in paths if call.current_content_hashes.get(path)
    }
    newest = find_newest_hashes(workspace_id, hashes)
    return [
        {"path": path, "content_hash": content_hash}
        for path, content_hash in sorted(hashes.items())
        if newest.get(path) != content_hash
    ]


def read_previous_texts(call: ToolCall, contents: tuple[FileContent, ...]) -> ReportedTexts:
    """Return what the payload says of the files before the tool ran."""
    before = {
        _workspace_path(content.path, call, call.cwd): content.before
        for content in contents
        if content.before is not None
    }
    return ReportedTexts(mapping(call.input), before)


def _workspace_path(raw: object, call: ToolCall, cwd: str | None) -> str:
    """Return the workspace-relative path; "" for one outside."""
    resolved = canonicalize(raw, root=call.root, cwd=cwd, writing=True)
    return "" if isinstance(resolved, InvalidPath) else resolved.path


def _build_trace(
    path: str, target: RawPath, call: ToolCall, content: FileContent | None, disk: Filesystem | None
) -> Trace | None:
    if target.op in REMOVING_OPERATIONS:
        return {"path": path, "content_hash": DELETED}
    if target.op != "write":
        return None
    content = content or _content_in_call(path, target, call)
    known_hash = _hash_after_call(path, call.current_content_hashes, disk)
    if content is not None and (not known_hash or known_hash == _compute_hash(content.after)):
        return {"path": path, "content": content.after, **_changed_lines(content)}
    return {"path": path, "content_hash": known_hash} if known_hash else None


def _content_in_call(path: str, target: RawPath, call: ToolCall) -> FileContent | None:
    """Return the full text in the call's own input. A patch omits the line feed that ends the last line."""
    if not target.is_full_text or target.after is None:
        return None
    tool = resolve_tool(call).tool
    is_patch = tool is not None and tool.kind is ToolKind.PATCH
    return FileContent(path, f"{target.after}\n" if is_patch and target.after else target.after)


def _hash_after_call(path: str, hashes: Mapping[str, str], disk: Filesystem | None) -> str:
    """Return the hash that the hook client computed after the tool, else that of the file on disk."""
    if hashes.get(path):
        return hashes[path]
    return (disk.content_hash(path) or "") if disk is not None else ""


def _compute_hash(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _changed_lines(content: FileContent) -> dict[str, int]:
    """Return the range of lines that differ; empty, for the whole file, where the text before is unknown."""
    if content.before is None:
        return {}
    before, after = content.before.splitlines(), content.after.splitlines()
    head = _count_common_lines(iter(before), iter(after))
    tail = _count_common_lines(reversed(before[head:]), reversed(after[head:]))
    start = min(head + 1, max(1, len(after)))
    return _range_fields((start, max(start, len(after) - tail)))


def _range_fields(lines: tuple[int, int] | None) -> dict[str, int]:
    return {"start_line": lines[0], "end_line": lines[1]} if lines else {}


def _count_common_lines(one: Iterator[str], other: Iterator[str]) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count
