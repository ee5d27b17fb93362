"""What a shell call would touch: its command lines, and the folder they run in."""

from __future__ import annotations

import shlex
from typing import Any

from controlplane.policy import fields
from controlplane.policy.model import Policy, ToolCall, Unknown
from controlplane.policy.named import Found, Named, bare
from controlplane.policy.paths import Canonical, canonical
from controlplane.policy.shell import ShellAnalysis, ShellPath, analyse, analyse_powershell
from controlplane.policy.toolsets.kinds import Tool

_LIST_OF_COMMANDS = ("commands",)


def of_shell(call: ToolCall, tool: Tool, data: Any, policy: Policy) -> Found | str:
    """What the commands of a call touch, or why there is no command to analyse."""
    commands = _command_lines(tool, data)
    if isinstance(commands, str):
        return commands
    own = fields.first(data, fields.FOLDER_KEYS)
    folder = "." if own is None else own
    start = canonical(folder, root=call.root, cwd=call.cwd, writing=False)
    cwd = start.path if isinstance(start, Canonical) else None
    found = Found()
    for command in commands:
        analyser = analyse_powershell if tool.powershell else analyse
        analysis = analyser(command, cwd=cwd, root=call.root, safe_commands=policy.safe_commands)
        _add(found, analysis, command)
    if cwd is None:  # looked at like a file that is read, so that the refusal is told
        found.reads.append(Named(folder, call.cwd, op="read"))
    return found


def _command_lines(tool: Tool, data: Any) -> list[str] | str:
    """The command lines of a shell call. A list is one command as a vector of arguments, except where
    the tool takes a list of commands."""
    lines: list[str] = []
    for value in fields.every(data, tool.command):
        texts = fields.texts(value)
        if texts is None or not texts[0].strip():
            return "A command must be a text that is not empty."
        several = not isinstance(value, list) or tool.command == _LIST_OF_COMMANDS
        lines.extend(texts if several else [shlex.join(texts)])
    return lines or "The input holds no command."


def _add(found: Found, analysis: ShellAnalysis, command: str) -> None:
    found.unknown.extend(analysis.unknown)
    for kept, paths in ((found.writes, analysis.writes), (found.reads, analysis.reads)):
        for path in paths:
            if path.cwd is None and not path.raw.startswith("/"):
                found.unknown.append(_adrift(path, command))
            else:
                kept.append(_named(path, command))
    if not (analysis.safe or analysis.writes or analysis.unknown):
        found.unknown.append(Unknown(command, "what this command changes is not known"))


def _adrift(path: ShellPath, command: str) -> Unknown:
    why = "the folder that this is relative to is not known"
    return Unknown(command[path.start : path.end], why, path.start, path.end)


def _named(path: ShellPath, command: str) -> Named:
    """The command itself stands for the text that it writes: nobody can tell the two apart."""
    raw = bare(path.raw) if path.recursive or path.op != "write" else path.raw
    return Named(raw, path.cwd, op=path.op, recursive=path.recursive, after=command)
