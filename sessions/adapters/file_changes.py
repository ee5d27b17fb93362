"""What a tool that has run left in which file, as far as its payload says so.

The targets come from the same reading of the call as the gate's. A file is recorded only where its whole
content, or its hash, is known: the ledger's newest hash of a path is what the next write is held against.
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
from sessions.adapters.hook_call import FileText, mapping
from sessions.previous_text import Told

GONE = frozenset({"delete", "move"})
DELETED = "DELETED"
Trace = dict[str, Any]


def traces_of(call: ToolCall, texts: tuple[FileText, ...], disk: Filesystem | None) -> list[Trace]:
    """One simple trace a file, in the words of `POST /sessions/{id}/traces`. `disk` is None without one."""
    known = {path: text for text in texts if (path := _place(text.path, call, call.cwd))}
    found: dict[str, Trace] = {}
    for named in find_targets(call, Policy()).writes:
        path = _place(named.raw, call, named.cwd)
        trace = _trace(path, named, call, known.get(path), disk) if path else None
        if trace is not None:
            found[path] = trace
    return list(found.values())


def told_of(call: ToolCall, texts: tuple[FileText, ...]) -> Told:
    """What the payload says of the time before the tool."""
    before = {_place(text.path, call, call.cwd): text.before for text in texts if text.before is not None}
    return Told(mapping(call.input), before)


def _place(raw: object, call: ToolCall, cwd: str | None) -> str:
    """The path in the workspace; "" for one that is not in it."""
    where = canonicalize(raw, root=call.root, cwd=cwd, writing=True)
    return "" if isinstance(where, InvalidPath) else where.path


def _trace(
    path: str, named: RawPath, call: ToolCall, text: FileText | None, disk: Filesystem | None
) -> Trace | None:
    if named.op in GONE:
        return {"path": path, "content_hash": DELETED}
    if named.op != "write":
        return None
    text = text or _given(path, named, call)
    told = _hash_afterwards(path, call.current_content_hashes, disk)
    if text is not None and (not told or told == _hash_of(text.after)):
        return {"path": path, "content": text.after, **_changed_lines(text)}
    return {"path": path, "content_hash": told} if told else None


def _given(path: str, named: RawPath, call: ToolCall) -> FileText | None:
    """The text that the call itself brought; a patch leaves out the line feed that ends the last line."""
    if not named.is_full_text or named.after is None:
        return None
    tool = resolve_tool(call).tool
    patched = tool is not None and tool.kind is ToolKind.PATCH
    return FileText(path, f"{named.after}\n" if patched and named.after else named.after)


def _hash_afterwards(path: str, told: Mapping[str, str], disk: Filesystem | None) -> str:
    """What the hook's client measured after the tool, else what stands on the workspace's disk."""
    if told.get(path):
        return told[path]
    return (disk.content_hash(path) or "") if disk is not None else ""


def _hash_of(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _changed_lines(text: FileText) -> dict[str, int]:
    """The lines that differ, of a file whose text before is known; else the whole file is meant."""
    if text.before is None:
        return {}
    before, after = text.before.splitlines(), text.after.splitlines()
    head = _common(iter(before), iter(after))
    tail = _common(reversed(before[head:]), reversed(after[head:]))
    start = min(head + 1, max(1, len(after)))
    return {"start_line": start, "end_line": max(start, len(after) - tail)}


def _common(one: Iterator[str], other: Iterator[str]) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count
