"""What the readers of a tool's input take and return."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from controlplane.policy.calls.toolsets.kinds import AgentTool
from controlplane.policy.effects import PartEffect
from controlplane.policy.model import Policy, ToolCall, Unknown
from controlplane.policy.paths.filesystem import Filesystem
from controlplane.policy.paths.raw_path import RawPath, RawPattern

# What is above these is not judged, for the time that it would take: a person decides.
MAX_PATHS = 500  # of one call
MAX_VALUES = 5_000  # texts, numbers, lists and objects of an input
TOO_MANY_PATHS = f"the call names more than {MAX_PATHS} paths; make several calls of it"
TOO_MANY_VALUES = f"the input holds more than {MAX_VALUES} values; make several calls of it"


def has_too_many_values(value: Any) -> bool:
    """Return whether a JSON value holds more than `MAX_VALUES`, and look at no more than that."""
    pending, count = [value], 0
    while pending:
        current = pending.pop()
        count += 1
        if isinstance(current, dict):
            pending.extend(current.values())
        elif isinstance(current, list):
            pending.extend(current)
        if count + len(pending) > MAX_VALUES:
            return True
    return False


@dataclass(frozen=True, slots=True)
class ToolInput:
    """A call to be read: its tool, and `data`, the input that the tool gets, out of any MCP wrapper."""

    call: ToolCall
    tool: AgentTool
    data: dict[str, Any]
    policy: Policy
    filesystem: Filesystem


@dataclass(slots=True)
class RawTargets:
    """The paths that the input of a call names, collected while it is read.

    `wildcard_names` are names that wildcards among the reads may stand for: they are matched against
    `.intentignore` only. `effects` are those of the parts of a command, or of an external tool.
    """

    writes: list[RawPath] = field(default_factory=list)
    reads: list[RawPath] = field(default_factory=list)
    unknown: list[Unknown] = field(default_factory=list)
    effects: list[PartEffect] = field(default_factory=list)
    wildcard_names: list[RawPath] = field(default_factory=list)
    patterns: list[RawPattern] = field(default_factory=list)
    left_in: list[RawPath] = field(default_factory=list)  # where a command may leave its shell
    is_unread: bool = False  # too large to be read, so whatever the tool may do is possible
