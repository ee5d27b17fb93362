"""What a shell call would touch: its command lines, and the folder they run in."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from controlplane.policy.calls import input_fields
from controlplane.policy.calls.patch_targets import extract_patch, find_patch_targets
from controlplane.policy.calls.raw_targets import RawTargets, ToolInput
from controlplane.policy.model import Reason, Unknown
from controlplane.policy.paths.canonical import CanonicalPath, InvalidPath, canonicalize, to_printable
from controlplane.policy.paths.raw_path import RawPath, strip_trailing_slash
from controlplane.policy.shell import ShellAnalysis, ShellPath, analyse, analyse_powershell
from controlplane.policy.shell.programs.registry import program_name
from controlplane.policy.shell.variables import is_harmless

_LISTS_OF_COMMANDS = frozenset({"commands"})
_SHELLS = frozenset({"bash", "sh", "dash", "zsh", "ksh"})

# A command line, and the patch that it is as a whole, if it is one.
_Line = tuple[str, str | None]


def find_shell_targets(ask: ToolInput) -> RawTargets | str:
    """What the commands of a call touch, or why there is no command to analyse. A client listens to one of
    the keys for the folder, and nobody knows to which: each that is given counts."""
    commands = _command_lines(ask)
    if isinstance(commands, str):
        return commands
    found = RawTargets(unknown=list(_strange(ask)))
    for own in input_fields.get_all(ask.data, input_fields.FOLDER_KEYS) or ["."]:
        start = canonicalize(own, root=ask.call.root, cwd=ask.call.cwd, writing=False)
        if isinstance(start, InvalidPath) and start.reason is not Reason.OUTSIDE_WORKSPACE:
            return start.message
        _run(commands, own, start, ask, found)
    return found


def _run(
    commands: list[_Line], own: str, start: CanonicalPath | InvalidPath, ask: ToolInput, found: RawTargets
) -> None:
    """Add what the commands do when they start in a folder."""
    analyser = analyse_powershell if _is_powershell(ask) else analyse
    folder = start.path if isinstance(start, CanonicalPath) else _outside(own, ask.call.cwd)
    for command, patch in commands:
        if patch is not None:
            _join(found, find_patch_targets([patch], folder))
            continue
        analysis = analyser(
            command,
            cwd=folder,
            root=ask.call.root,
            safe_commands=ask.policy.safe_commands,
            filesystem=ask.filesystem,
        )
        _add(found, analysis, command)
    if isinstance(start, InvalidPath):  # looked at like a file that is read, so that the refusal is told
        found.reads.append(RawPath(own, ask.call.cwd, op="read"))


def _strange(ask: ToolInput) -> Iterator[Unknown]:
    """Settings of the call itself that decide what its command runs: the shell, and variables for it."""
    shell, env = ask.data.get("shell"), ask.data.get("env")
    if not (shell is None or isinstance(shell, bool)):
        known = isinstance(shell, str) and program_name(shell) in _SHELLS
        if not known and not ask.tool.powershell:
            yield Unknown(to_printable(str(shell)), "the shell that the command runs in is not known")
    if env is not None and not (
        isinstance(env, dict)
        and all(isinstance(name, str) and is_harmless(name, value) for name, value in env.items())
    ):
        yield Unknown(to_printable(str(env)), "programs may listen to the variables that the call sets")


def _outside(own: str, cwd: str | None) -> str:
    """A folder outside the workspace as it is spelled, so that what is named in it is found to be
    outside as well."""
    return own if own.startswith(("/", "~")) or not cwd else f"{cwd}/{own}"


def _is_powershell(ask: ToolInput) -> bool:
    """PowerShell runs under its own name, and on a Windows machine wherever the tool is not bash."""
    root = ask.call.root or ""
    windows = root[1:2] == ":" or root.startswith("\\\\")
    return ask.tool.powershell or (windows and ask.call.tool != "Bash")


def _join(found: RawTargets, more: RawTargets) -> None:
    found.writes.extend(more.writes)
    found.reads.extend(more.reads)
    found.unknown.extend(more.unknown)


def _command_lines(ask: ToolInput) -> list[_Line] | str:
    """The command lines of a shell call. A list is one command as a vector of arguments, except where
    the tool takes a list of commands."""
    lines: list[_Line] = []
    for key in dict.fromkeys((*ask.tool.command, *input_fields.COMMAND_KEYS)):
        value = ask.data.get(key)
        if value is None:
            continue
        texts = input_fields.to_text_list(value)
        if texts is None or not texts[0].strip():
            return "A command must be a text that is not empty."
        several = not isinstance(value, list) or key in _LISTS_OF_COMMANDS
        patch = extract_patch(value, ask.call.agent)
        lines.extend((text, patch) for text in (texts if several else [shlex.join(texts)]))
    return lines or "The input holds no command."


def _add(found: RawTargets, analysis: ShellAnalysis, command: str) -> None:
    found.unknown.extend(analysis.unknown)
    found.writes.extend(_named(path, command) for path in analysis.writes)
    for path in analysis.reads:
        found.reads.append(_named(path, command))
        aims = input_fields.list_wildcard_names(path.pattern) if path.pattern else ()
        found.wildcard_names.extend(RawPath(name, path.cwd, op="read") for name in aims)
    if not (analysis.safe or analysis.writes or analysis.unknown):
        found.unknown.append(Unknown(command, "what this command changes is not known"))


def _named(path: ShellPath, command: str) -> RawPath:
    """The command itself stands for the text that it writes: nobody can tell the two apart."""
    return RawPath(
        strip_trailing_slash(path.raw), path.cwd, op=path.op, recursive=path.recursive, after=command
    )
