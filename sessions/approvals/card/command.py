"""Lay out a shell command for review: one line per part, targets marked, a table of effects."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from controlplane.policy.calls import input_fields
from controlplane.policy.calls.resolve_tool import ResolvedTool
from controlplane.policy.globs.scope import Scope
from controlplane.policy.paths.canonical import CanonicalPath, canonicalize
from controlplane.policy.paths.filesystem import Filesystem
from controlplane.policy.shell import CommandPart, ShellAnalysis, ShellPath, analyse, analyse_powershell

# What a target's operation is called as a mark in the command.
OP_LABELS: Mapping[str, str] = {"delete": "deletes", "move": "moves"}
PART_CLASSES: Mapping[str, str] = {
    "reads": "Safe",
    "writes": "Destructive",
    "deletes": "Destructive",
    "moves": "Destructive",
    "runs": "Runs a program",
    "unknown": "Destructive",
}


@dataclass(frozen=True, slots=True)
class CommandSetting:
    """Where the command would run, and the scope and policy it is compared with."""

    root: str | None = None  # the session's folder on the agent's machine
    cwd: str | None = None
    scope: tuple[str, ...] = ()
    safe_commands: tuple[str, ...] = ()
    ignore_case: bool = False
    filesystem: Filesystem | None = (
        None  # the files, as the gate saw them: what a wildcard matches, where a copy lands
    )


@dataclass(frozen=True, slots=True)
class CommandSegment:
    """A stretch of the command's text with one mark; whitespace between parts is left out."""

    text: str
    mark: str = ""  # deletes | writes | moves | runs | unknown | operator


@dataclass(frozen=True, slots=True)
class CommandRow:
    number: int
    what: str
    target: str = ""
    note: str = ""
    in_scope: str = ""  # yes | no | unknown | "" where nobody asks
    pattern: str = ""


@dataclass(frozen=True, slots=True)
class CommandView:
    text: str
    lines: tuple[tuple[CommandSegment, ...], ...]
    parts: tuple[CommandRow, ...]
    deletes: bool = False
    unknown: tuple[str, ...] = ()  # why it cannot be known, one sentence each
    folder: str = ""


@dataclass(frozen=True, slots=True)
class _Highlight:
    start: int
    end: int
    label: str


def extract_command(resolved: ResolvedTool) -> str:
    """Return the command line of a shell call, "" without one."""
    return "\n".join(list_commands(resolved))


def list_commands(resolved: ResolvedTool) -> list[str]:
    """Return the commands of a shell call.

    A list is one argument vector, except where the tool takes a list of commands.
    """
    data, tool = resolved.input, resolved.tool
    if tool is None or not isinstance(data, Mapping):
        return []
    lines: list[str] = []
    for value in input_fields.get_all(data, tool.command):
        texts = input_fields.to_text_list(value) or []
        is_list_of_commands = not isinstance(value, list) or tool.command == ("commands",)
        lines += texts if is_list_of_commands else [shlex.join(texts)]
    return lines


def build_command_view(resolved: ResolvedTool, setting: CommandSetting) -> CommandView:
    """Analyse the command as it is stored, so masked or truncated text shows as such."""
    command = extract_command(resolved)
    cwd = _resolve_cwd(resolved.input, setting)
    analysis = _analyse_command(resolved.tool, command, cwd, setting)
    parts = _drop_nested_parts(analysis.parts, len(command))
    return CommandView(
        text=command,
        lines=tuple(_split_lines(command, parts, _find_highlights(analysis))),
        parts=tuple(_build_rows(command, parts, analysis, setting)),
        deletes=any(path.op == "delete" for path in analysis.writes),
        unknown=tuple(dict.fromkeys(unknown.reason for unknown in analysis.unknown)),
        folder=cwd or "",
    )


def _resolve_cwd(data: Any, setting: CommandSetting) -> str | None:
    """Return the workspace-relative working directory; None when it is outside or unknown."""
    directory = (
        input_fields.get_first(data, input_fields.DIRECTORY_KEYS) if isinstance(data, Mapping) else None
    )
    start = canonicalize(
        "." if directory is None else directory, root=setting.root, cwd=setting.cwd, writing=False
    )
    return start.path if isinstance(start, CanonicalPath) else None


def _analyse_command(tool: Any, command: str, cwd: str | None, setting: CommandSetting) -> ShellAnalysis:
    analyser = analyse_powershell if tool is not None and tool.powershell else analyse
    return analyser(
        command,
        cwd=cwd,
        root=setting.root,
        safe_commands=setting.safe_commands,
        filesystem=setting.filesystem,
    )


def _drop_nested_parts(parts: Iterable[CommandPart], length: int) -> list[CommandPart]:
    """Keep the outermost parts: a command substitution belongs to the part around it."""
    outer: list[CommandPart] = []
    for part in sorted(parts, key=lambda part: (part.start, -part.end)):
        if not outer or part.start >= outer[-1].end:
            outer.append(part)
    return outer or [CommandPart("", 0, length, "unknown")]


def _find_highlights(analysis: ShellAnalysis) -> list[_Highlight]:
    """Return the ranges to mark, by start. Where two overlap, a target wins over an unknown part."""
    candidates = [
        _Highlight(path.start, path.end, OP_LABELS.get(path.op, "writes")) for path in analysis.writes
    ]
    runs = [(part.start, part.end) for part in analysis.parts if part.verdict == "runs"]
    for unknown in analysis.unknown:
        if unknown.start is not None and unknown.end is not None:
            in_run = any(start <= unknown.start and unknown.end <= end for start, end in runs)
            candidates.append(_Highlight(unknown.start, unknown.end, "runs" if in_run else "unknown"))
    # Targets come first in the list, so they are kept where an unknown part overlaps them.
    highlights: list[_Highlight] = []
    for mark in candidates:
        if mark.start < mark.end and not any(mark.start < k.end and k.start < mark.end for k in highlights):
            highlights.append(mark)
    return sorted(highlights, key=lambda mark: mark.start)


def _split_lines(
    command: str, parts: list[CommandPart], highlights: list[_Highlight]
) -> Iterable[tuple[CommandSegment, ...]]:
    """Yield one line per part. A redirection ends the line of its part, an operator starts the next."""
    starts = [0, *(_find_part_end(part, following, highlights) for part, following in pairwise(parts))]
    for part, start, end in zip(parts, starts, [*starts[1:], len(command)], strict=True):
        operator = command[start : part.start].strip()
        prefix = [CommandSegment(f"{operator} ", "operator")] if operator else []
        yield (*prefix, *_split_segments(command, part.start, max(part.start, end), highlights))


def _find_part_end(part: CommandPart, following: CommandPart, highlights: list[_Highlight]) -> int:
    """Return the end of a part with the redirections behind it."""
    return max(
        (mark.end for mark in highlights if part.end <= mark.start and mark.end <= following.start),
        default=part.end,
    )


def _split_segments(
    command: str, start: int, end: int, highlights: list[_Highlight]
) -> Iterable[CommandSegment]:
    position = start
    for mark in highlights:
        left, right = max(mark.start, position), min(mark.end, end)
        if left >= right:
            continue
        if position < left:
            yield CommandSegment(command[position:left])
        yield CommandSegment(command[left:right], mark.label)
        position = right
    if position < end:
        yield CommandSegment(command[position:end])


# --- the table ----------------------------------------------------------------------------------


def _build_rows(
    command: str, parts: list[CommandPart], analysis: ShellAnalysis, setting: CommandSetting
) -> Iterable[CommandRow]:
    for number, part in enumerate(parts, 1):
        following = parts[number].start if number < len(parts) else len(command) + 1
        interval = range(0 if number == 1 else part.start, following)
        rows = [
            _build_target_row(number, path, setting) for path in analysis.writes if path.start in interval
        ]
        rows += [
            CommandRow(number, PART_CLASSES[part.verdict], unknown.text, unknown.reason, "unknown")
            for unknown in analysis.unknown
            if (unknown.start or 0) in interval
        ]
        yield from rows or [_build_row_without_target(number, part, command)]


def _build_row_without_target(number: int, part: CommandPart, command: str) -> CommandRow:
    if part.verdict == "reads":
        return CommandRow(number, PART_CLASSES["reads"], note="reads only")
    text = command[part.start : part.end]
    return CommandRow(number, PART_CLASSES[part.verdict], text, "its effect is unknown", "unknown")


def _build_target_row(number: int, path: ShellPath, setting: CommandSetting) -> CommandRow:
    resolved = canonicalize(path.raw, root=setting.root, cwd=path.cwd, writing=not path.recursive)
    if not isinstance(resolved, CanonicalPath):
        return CommandRow(number, "Destructive", path.raw, resolved.message.partition(". ")[0], "no")
    pattern = find_matching_pattern(
        resolved.path, setting.scope, recursive=path.recursive, ignore_case=setting.ignore_case
    )
    note = "and everything below it" if path.recursive else ""
    return CommandRow(number, "Destructive", resolved.path, note, "yes" if pattern else "no", pattern)


def find_matching_pattern(
    path: str, scope: tuple[str, ...], *, recursive: bool = False, ignore_case: bool = False
) -> str:
    """Return the pattern of the scope that covers the path, "" when none does."""
    full_scope = Scope.from_patterns(scope, case_insensitive=ignore_case)
    if not (full_scope.covers_below(path) if recursive else full_scope.matches(path)):
        return ""
    for pattern in scope:
        single = Scope.from_patterns((pattern,), case_insensitive=ignore_case)
        if single.covers_below(path) if recursive else single.matches(path):
            return pattern
    return "several patterns together"
