"""A shell command as a reviewer reads it: one line a part, its targets marked, a table of what each does."""

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
MARKS: Mapping[str, str] = {"delete": "deletes", "move": "moves"}
CLASSES: Mapping[str, str] = {
    "reads": "Safe",
    "writes": "Destructive",
    "deletes": "Destructive",
    "moves": "Destructive",
    "runs": "Runs a program",
    "unknown": "Destructive",
}


@dataclass(frozen=True, slots=True)
class Setting:
    """Where the command would run, and what it is measured by."""

    root: str | None = None  # the session's folder on the agent's machine
    cwd: str | None = None
    scope: tuple[str, ...] = ()
    safe_commands: tuple[str, ...] = ()
    ignore_case: bool = False
    world: Filesystem | None = (
        None  # the files, as the gate saw them: what a wildcard matches, where a copy lands
    )


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of the command's text; blanks between parts are left out."""

    text: str
    mark: str = ""  # deletes | writes | moves | runs | unknown | operator


@dataclass(frozen=True, slots=True)
class Row:
    number: int
    what: str
    target: str = ""
    note: str = ""
    in_scope: str = ""  # yes | no | unknown | "" where nobody asks
    pattern: str = ""


@dataclass(frozen=True, slots=True)
class CommandView:
    text: str
    lines: tuple[tuple[Piece, ...], ...]
    parts: tuple[Row, ...]
    deletes: bool = False
    unknown: tuple[str, ...] = ()  # why it cannot be known, one sentence each
    folder: str = ""


@dataclass(frozen=True, slots=True)
class _Mark:
    start: int
    end: int
    word: str


def command_of(resolved: ResolvedTool) -> str:
    """The command line of a shell call, "" when there is none. A list is one vector of arguments, except
    where the tool takes a list of commands."""
    data, tool = resolved.input, resolved.tool
    if tool is None or not isinstance(data, Mapping):
        return ""
    lines: list[str] = []
    for value in input_fields.get_all(data, tool.command):
        texts = input_fields.to_text_list(value) or []
        many = not isinstance(value, list) or tool.command == ("commands",)
        lines += texts if many else [shlex.join(texts)]
    return "\n".join(lines)


def command_view(resolved: ResolvedTool, setting: Setting) -> CommandView:
    """Analysed anew, from the text as it is stored: masked or cut texts show as what they are."""
    command = command_of(resolved)
    folder = _folder(resolved.input, setting)
    analysis = _analysed(resolved.tool, command, folder, setting)
    outer = _outer(analysis.parts, len(command))
    return CommandView(
        text=command,
        lines=tuple(_lines(command, outer, _marks(analysis))),
        parts=tuple(_rows(command, outer, analysis, setting)),
        deletes=any(path.op == "delete" for path in analysis.writes),
        unknown=tuple(dict.fromkeys(unknown.reason for unknown in analysis.unknown)),
        folder=folder or "",
    )


def _folder(data: Any, setting: Setting) -> str | None:
    """The workspace-relative folder that it starts in; None when that is outside or not known."""
    own = input_fields.get_first(data, input_fields.DIRECTORY_KEYS) if isinstance(data, Mapping) else None
    start = canonicalize("." if own is None else own, root=setting.root, cwd=setting.cwd, writing=False)
    return start.path if isinstance(start, CanonicalPath) else None


def _analysed(tool: Any, command: str, folder: str | None, setting: Setting) -> ShellAnalysis:
    analyser = analyse_powershell if tool is not None and tool.powershell else analyse
    return analyser(
        command, cwd=folder, root=setting.root, safe_commands=setting.safe_commands, filesystem=setting.world
    )


def _outer(parts: Iterable[CommandPart], length: int) -> list[CommandPart]:
    """The parts that stand beside each other; what runs inside another one belongs to it."""
    outer: list[CommandPart] = []
    for part in sorted(parts, key=lambda part: (part.start, -part.end)):
        if not outer or part.start >= outer[-1].end:
            outer.append(part)
    return outer or [CommandPart("", 0, length, "unknown")]


def _marks(analysis: ShellAnalysis) -> list[_Mark]:
    """Spans to mark, by start. Of two that overlap the one saying more stays: a target before the unknown."""
    marks = [_Mark(path.start, path.end, MARKS.get(path.op, "writes")) for path in analysis.writes]
    runs = [(part.start, part.end) for part in analysis.parts if part.verdict == "runs"]
    for unknown in analysis.unknown:
        if unknown.start is not None and unknown.end is not None:
            inside = any(start <= unknown.start and unknown.end <= end for start, end in runs)
            marks.append(_Mark(unknown.start, unknown.end, "runs" if inside else "unknown"))
    kept: list[_Mark] = []
    for mark in marks:
        if mark.start < mark.end and not any(mark.start < k.end and k.start < mark.end for k in kept):
            kept.append(mark)
    return sorted(kept, key=lambda mark: mark.start)


def _lines(command: str, parts: list[CommandPart], marks: list[_Mark]) -> Iterable[tuple[Piece, ...]]:
    """One line a part. Redirections end the line of their part, an operator begins that of the next."""
    starts = [0, *(_end(part, following, marks) for part, following in pairwise(parts))]
    for part, start, end in zip(parts, starts, [*starts[1:], len(command)], strict=True):
        operator = command[start : part.start].strip()
        lead = [Piece(f"{operator} ", "operator")] if operator else []
        yield (*lead, *_pieces(command, part.start, max(part.start, end), marks))


def _end(part: CommandPart, following: CommandPart, marks: list[_Mark]) -> int:
    """Where a part ends with what is redirected behind it."""
    return max(
        (mark.end for mark in marks if part.end <= mark.start and mark.end <= following.start),
        default=part.end,
    )


def _pieces(command: str, start: int, end: int, marks: list[_Mark]) -> Iterable[Piece]:
    at = start
    for mark in marks:
        left, right = max(mark.start, at), min(mark.end, end)
        if left >= right:
            continue
        if at < left:
            yield Piece(command[at:left])
        yield Piece(command[left:right], mark.word)
        at = right
    if at < end:
        yield Piece(command[at:end])


# --- the table ----------------------------------------------------------------------------------


def _rows(command: str, parts: list[CommandPart], analysis: ShellAnalysis, setting: Setting) -> Iterable[Row]:
    for number, part in enumerate(parts, 1):
        following = parts[number].start if number < len(parts) else len(command) + 1
        span = range(0 if number == 1 else part.start, following)
        found = [_target(number, path, setting) for path in analysis.writes if path.start in span]
        found += [
            Row(number, CLASSES[part.verdict], unknown.text, unknown.reason, "unknown")
            for unknown in analysis.unknown
            if (unknown.start or 0) in span
        ]
        yield from found or [_plain_row(number, part, command)]


def _plain_row(number: int, part: CommandPart, command: str) -> Row:
    if part.verdict == "reads":
        return Row(number, CLASSES["reads"], note="reads only")
    text = command[part.start : part.end]
    return Row(number, CLASSES[part.verdict], text, "what this changes is not known", "unknown")


def _target(number: int, path: ShellPath, setting: Setting) -> Row:
    placed = canonicalize(path.raw, root=setting.root, cwd=path.cwd, writing=not path.recursive)
    if not isinstance(placed, CanonicalPath):
        return Row(number, "Destructive", path.raw, placed.message.partition(". ")[0], "no")
    pattern = pattern_for(
        placed.path, setting.scope, recursive=path.recursive, ignore_case=setting.ignore_case
    )
    note = "and all below it" if path.recursive else ""
    return Row(number, "Destructive", placed.path, note, "yes" if pattern else "no", pattern)


def pattern_for(
    path: str, scope: tuple[str, ...], *, recursive: bool = False, ignore_case: bool = False
) -> str:
    """The pattern of a scope that lets a path through; "" when none does."""
    whole = Scope.from_patterns(scope, case_insensitive=ignore_case)
    if not (whole.covers_below(path) if recursive else whole.matches(path)):
        return ""
    for pattern in scope:
        one = Scope.from_patterns((pattern,), case_insensitive=ignore_case)
        if one.covers_below(path) if recursive else one.matches(path):
            return pattern
    return "the scope as a whole"
