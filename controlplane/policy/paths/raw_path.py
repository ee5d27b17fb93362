"""Paths as an agent spells them, before anything is resolved."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from controlplane.policy.calls.toolsets.kinds import AgentTool
from controlplane.policy.model import Policy, ToolCall, Unknown
from controlplane.policy.paths.filesystem import Filesystem


@dataclass(frozen=True, slots=True)
class RawPath:
    """A path as the agent spelled it. `cwd` is the folder it is relative to, in the form of
    `ToolCall.cwd`; `before` and `after` are the texts taken out and put in, where they are known, and
    `pieces` the single replacements in their order."""

    raw: Any
    cwd: str | None
    op: str = "write"  # as in `Target.op`
    recursive: bool = False
    before: str = ""
    after: str | None = None
    is_full_text: bool = False  # `after` is all that the file will hold
    is_move_destination: bool = False  # the place that a move leads to
    replacements: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class RawTargets:
    """What the input of a call names, gathered piece by piece. `aims` are names that wildcards among the
    reads may stand for: they are held against `.intentignore` only."""

    writes: list[RawPath] = field(default_factory=list)
    reads: list[RawPath] = field(default_factory=list)
    unknown: list[Unknown] = field(default_factory=list)
    wildcard_names: list[RawPath] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ToolInput:
    """A call that is to be read: its tool, and the input that the tool gets, out of any wrapping."""

    call: ToolCall
    tool: AgentTool
    data: dict[str, Any]
    policy: Policy
    filesystem: Filesystem


def strip_trailing_slash(raw: Any) -> Any:
    """A spelling without the closing slash that a folder may have; the top of the disk stays a path."""
    if not isinstance(raw, str) or not raw.endswith("/"):
        return raw
    return raw.rstrip("/") or "/."
