"""Find what a call would touch: paths written and read, as the agent spelled them, and what is unknown.

Nothing is resolved here; `paths.resolve` makes targets of the raw paths.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from controlplane.policy.calls.input_readers import (
    INPUT_READERS,
    describe_unknown_tool,
    read_unknown_tool,
)
from controlplane.policy.calls.raw_targets import MAX_PATHS, TOO_MANY_PATHS, RawTargets, ToolInput
from controlplane.policy.calls.resolve_tool import ResolvedTool, classify_without_input, resolve_tool
from controlplane.policy.calls.toolsets.kinds import READING_KINDS, ToolKind
from controlplane.policy.model import Policy, ToolCall, ToolClass, Unknown
from controlplane.policy.paths.filesystem import Filesystem, UnknownFilesystem
from controlplane.policy.paths.raw_path import RawPath

_UNKNOWN_FILESYSTEM = UnknownFilesystem()


@dataclass(frozen=True, slots=True)
class CallTargets:
    """What a call would touch. `input_error` says why its input cannot be understood at all."""

    tool_class: ToolClass
    writes: tuple[RawPath, ...] = ()
    reads: tuple[RawPath, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    wildcard_names: tuple[RawPath, ...] = ()  # as in `RawTargets`
    input_error: str | None = None
    input: Any = None  # what the tool gets, out of any MCP wrapper


def classify(call: ToolCall, policy: Policy) -> ToolClass:
    """Return the class of a call; that of a shell depends on its command."""
    return find_targets(call, policy).tool_class


def find_targets(call: ToolCall, policy: Policy, filesystem: Filesystem = _UNKNOWN_FILESYSTEM) -> CallTargets:
    """Return class and targets of a call; a shell whose input cannot be understood is destructive."""
    resolved = resolve_tool(call)
    tool_class = classify_without_input(resolved, policy)
    targets = _read_input(call, resolved, policy, filesystem)
    if isinstance(targets, RawTargets) and _count_paths(targets) > MAX_PATHS:
        targets = TOO_MANY_PATHS
    if isinstance(targets, str):
        tool_class = tool_class or ToolClass.DESTRUCTIVE
        return CallTargets(tool_class, input_error=targets, input=resolved.input)
    if tool_class is None:
        is_destructive = targets.writes or targets.unknown
        tool_class = ToolClass.DESTRUCTIVE if is_destructive else ToolClass.SAFE
    if tool_class is ToolClass.DESTRUCTIVE and _is_reader(resolved):
        # The workspace declared a reading tool destructive: what it names may be what it changes.
        writes = [replace(raw_path, op="write") for raw_path in targets.reads]
        targets = RawTargets(writes, [], [describe_unknown_tool(resolved)])
    elif tool_class is ToolClass.SAFE and resolved.tool is None:
        targets = RawTargets([], [replace(raw_path, op="read") for raw_path in targets.writes], [])
    return CallTargets(
        tool_class,
        tuple(targets.writes),
        tuple(targets.reads),
        tuple(targets.unknown),
        tuple(targets.wildcard_names),
        input=resolved.input,
    )


def _count_paths(targets: RawTargets) -> int:
    return len(targets.writes) + len(targets.reads) + len(targets.wildcard_names)


def _is_reader(resolved: ResolvedTool) -> bool:
    return resolved.tool is not None and resolved.tool.kind in READING_KINDS


def _read_input(
    call: ToolCall, resolved: ResolvedTool, policy: Policy, filesystem: Filesystem
) -> RawTargets | str:
    data, tool = resolved.input, resolved.tool
    if not isinstance(resolved.name, str) or not resolved.name:
        return "The tool's name must be a non-empty string."
    if isinstance(data, str) and tool is not None and tool.kind is ToolKind.PATCH:
        data = {tool.patch[0]: data}
    if not isinstance(data, dict):
        return "The tool's input must be a JSON object."
    if tool is None:
        is_trusted = classify_without_input(resolved, policy) is ToolClass.SAFE
        return read_unknown_tool(call, resolved, data, is_trusted=is_trusted)
    return INPUT_READERS[tool.kind](ToolInput(call, tool, data, policy, filesystem))
