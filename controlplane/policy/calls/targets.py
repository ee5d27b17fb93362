"""Find what a call would touch: paths written and read, as the agent spelled them, and what is unknown.

Nothing is resolved here; `paths.resolve` makes targets of the raw paths.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from controlplane.policy.calls.external_tools import WEB_TOOLS, describe_tool, names_output
from controlplane.policy.calls.input_readers import (
    INPUT_READERS,
    describe_unknown_tool,
    read_unknown_tool,
)
from controlplane.policy.calls.raw_targets import (
    MAX_PATHS,
    TOO_MANY_PATHS,
    TOO_MANY_VALUES,
    RawTargets,
    ToolInput,
    has_too_many_values,
)
from controlplane.policy.calls.resolve_tool import (
    ResolvedTool,
    classify_without_input,
    find_declared_class,
    resolve_tool,
)
from controlplane.policy.calls.settings import list_effects
from controlplane.policy.calls.toolsets.kinds import READING_KINDS, ToolKind
from controlplane.policy.effects import LOOKING, Effect, PartEffect
from controlplane.policy.model import Policy, ToolCall, ToolClass, Unknown
from controlplane.policy.paths.canonical import to_printable
from controlplane.policy.paths.filesystem import Filesystem, UnknownFilesystem
from controlplane.policy.paths.raw_path import RawPath, RawPattern

_UNKNOWN_FILESYSTEM = UnknownFilesystem()
_NO_HINTS: Mapping[str, bool] = {}
_EXTERNAL_KINDS = frozenset({ToolKind.OPAQUE, ToolKind.EXTERNAL})


@dataclass(frozen=True, slots=True)
class CallTargets:
    """What a call would touch. `input_error` says why its input cannot be understood at all."""

    tool_class: ToolClass
    writes: tuple[RawPath, ...] = ()
    reads: tuple[RawPath, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    wildcard_names: tuple[RawPath, ...] = ()  # as in `RawTargets`
    patterns: tuple[RawPattern, ...] = ()
    left_in: tuple[RawPath, ...] = ()
    effects: tuple[PartEffect, ...] = ()
    input_error: str | None = None
    input: Any = None  # what the tool gets, out of any MCP wrapper


def classify(call: ToolCall, policy: Policy) -> ToolClass:
    """Return the class of a call; that of a shell depends on its command."""
    return find_targets(call, policy).tool_class


def find_targets(
    call: ToolCall,
    policy: Policy,
    filesystem: Filesystem = _UNKNOWN_FILESYSTEM,
    read_only_hints: Mapping[str, bool] = _NO_HINTS,
) -> CallTargets:
    """Return class and targets of a call; a shell whose input cannot be understood is destructive."""
    resolved = resolve_tool(call)
    tool_class = classify_without_input(resolved, policy)
    targets = _read_within_limits(call, resolved, policy, filesystem)
    if isinstance(targets, RawTargets) and targets.is_unread and tool_class is not ToolClass.HANDSHAKE:
        tool_class = ToolClass.DESTRUCTIVE
    if isinstance(targets, str):
        tool_class = tool_class or ToolClass.DESTRUCTIVE
        return CallTargets(tool_class, input_error=targets, input=resolved.input)
    settings = tuple(list_effects(resolved.name, resolved.input))
    if settings and tool_class in {None, ToolClass.SAFE}:
        tool_class = ToolClass.DESTRUCTIVE
    if tool_class is None:
        tool_class = ToolClass.SAFE if _only_looks(targets) else ToolClass.DESTRUCTIVE
    if tool_class is ToolClass.DESTRUCTIVE and _is_reader(resolved) and not settings:
        # The workspace declared a reading tool destructive: what it names may be what it changes.
        writes = [replace(raw_path, op="write") for raw_path in targets.reads]
        targets = RawTargets(writes, [], [describe_unknown_tool(resolved)])
    if _is_external(resolved):
        tool_class = _add_tool_effect(targets, resolved, tool_class, policy, read_only_hints)
    return CallTargets(
        tool_class,
        tuple(targets.writes),
        tuple(targets.reads),
        tuple(targets.unknown),
        tuple(targets.wildcard_names),
        tuple(targets.patterns),
        tuple(targets.left_in),
        (*(tuple(targets.effects) if _is_external(resolved) else _complete_effects(targets)), *settings),
        input=resolved.input,
    )


def _only_looks(targets: RawTargets) -> bool:
    is_known = not (targets.writes or targets.unknown)
    return is_known and all(each.effect in LOOKING or each.is_listed for each in targets.effects)


def _is_external(resolved: ResolvedTool) -> bool:
    """Return whether a tool leaves the machine, or no table knows it."""
    tool = resolved.tool
    return isinstance(resolved.name, str) and (
        tool is None or tool.kind in _EXTERNAL_KINDS or resolved.name in WEB_TOOLS
    )


def _add_tool_effect(
    targets: RawTargets,
    resolved: ResolvedTool,
    tool_class: ToolClass,
    policy: Policy,
    hints: Mapping[str, bool],
) -> ToolClass:
    """Add the effect of the tool itself, and return the class of the call.

    Where a tool only looks, what it names is read. The word of its server makes it safe; its name alone does
    not.
    """
    effect = describe_tool(resolved.name, resolved.input, hints, policy.hosts)
    if resolved.tool is None:
        is_declared = tool_class is ToolClass.SAFE
        only_looks = effect.effect is Effect.FETCHES and (
            hints.get(effect.kind, False) or not names_output(resolved.input)
        )
        if is_declared or only_looks:
            targets.reads = [replace(raw_path, op="read") for raw_path in targets.writes]
            targets.writes = []
            effect = replace(effect, is_listed=is_declared)
        elif effect.effect is Effect.FETCHES:
            effect = replace(effect, effect=Effect.UNKNOWN, why="it may store what it reads in a file")
        if only_looks or is_declared:
            targets.unknown = []
        if only_looks and hints.get(effect.kind, False) and tool_class is not ToolClass.HANDSHAKE:
            tool_class = find_declared_class(resolved.name, policy) or ToolClass.SAFE
    elif resolved.tool.kind in _EXTERNAL_KINDS:
        known = Effect.SENDS if resolved.tool.kind is ToolKind.EXTERNAL else Effect.UNKNOWN
        is_declared = tool_class is ToolClass.SAFE
        effect = replace(effect, effect=known, why=targets.unknown[0].reason, is_listed=is_declared)
    targets.effects.append(effect)
    return tool_class


def _complete_effects(targets: RawTargets) -> tuple[PartEffect, ...]:
    """Return the effects with one for each unknown part that has none."""
    known = {(each.part, each.why) for each in targets.effects}
    missing = (
        PartEffect(part.text, "", Effect.UNKNOWN, part.reason, part.start, part.end)
        for part in targets.unknown
        if (part.text, part.reason) not in known
    )
    return (*targets.effects, *missing)


def _count_paths(targets: RawTargets) -> int:
    named = len(targets.writes) + len(targets.reads)
    return named + len(targets.wildcard_names) + len(targets.patterns)


def _is_reader(resolved: ResolvedTool) -> bool:
    return resolved.tool is not None and resolved.tool.kind in READING_KINDS


def _read_within_limits(
    call: ToolCall, resolved: ResolvedTool, policy: Policy, filesystem: Filesystem
) -> RawTargets | str:
    """Read the input; one that is too large to be judged is unknown as a whole."""
    too_many = TOO_MANY_VALUES if has_too_many_values(resolved.input) else ""
    targets = RawTargets() if too_many else _read_input(call, resolved, policy, filesystem)
    if targets == TOO_MANY_PATHS or (isinstance(targets, RawTargets) and _count_paths(targets) > MAX_PATHS):
        too_many = TOO_MANY_PATHS
    if not too_many:
        return targets
    return RawTargets(unknown=[Unknown(to_printable(str(resolved.name)), too_many)], is_unread=True)


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
