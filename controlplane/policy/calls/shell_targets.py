"""Find what a shell call would touch: its command lines, and the directory they run in."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from controlplane.policy.calls import input_fields
from controlplane.policy.calls.client_commands import is_wait_command
from controlplane.policy.calls.patch_targets import extract_patch, find_patch_targets
from controlplane.policy.calls.raw_targets import RawTargets, ToolInput
from controlplane.policy.effects import Effect, PartEffect
from controlplane.policy.hosts import is_listed
from controlplane.policy.model import Reason, Unknown
from controlplane.policy.paths.canonical import (
    CanonicalPath,
    InvalidPath,
    canonicalize,
    to_printable,
)
from controlplane.policy.paths.raw_path import RawPath, strip_trailing_slash
from controlplane.policy.shell import ShellAnalysis, ShellPath, analyse, analyse_powershell
from controlplane.policy.shell.lexical_path import is_inside
from controlplane.policy.shell.programs.registry import program_name
from controlplane.policy.shell.shells import (
    ANY_SHELL,
    SHELLS_BY_NAME,
    SHELLS_OF_BASH_TOOL,
    Shells,
)
from controlplane.policy.shell.variables import is_harmless

_LISTS_OF_COMMANDS = frozenset({"commands"})

# A command line and, where the command is a patch and nothing else, that patch.
_CommandLine = tuple[str, str | None]


def find_shell_targets(tool_input: ToolInput) -> RawTargets | str:
    """Return what the commands of a call touch, or why there is no command to analyse."""
    commands = _list_command_lines(tool_input)
    if isinstance(commands, str):
        return commands
    call = tool_input.call
    targets = RawTargets(unknown=list(_check_settings(tool_input)))
    # A client reads the directory from one of these keys, and nobody knows from which: each counts.
    for directory in input_fields.get_all(tool_input.data, input_fields.DIRECTORY_KEYS) or ["."]:
        start = canonicalize(directory, root=call.root, cwd=call.cwd, writing=False)
        if isinstance(start, InvalidPath) and start.reason is not Reason.OUTSIDE_WORKSPACE:
            return start.message
        _analyse_commands(commands, directory, start, tool_input, targets)
    return targets


def _analyse_commands(
    commands: list[_CommandLine],
    directory: str,
    start: CanonicalPath | InvalidPath,
    tool_input: ToolInput,
    targets: RawTargets,
) -> None:
    """Add what the commands touch when they start in a directory."""
    call = tool_input.call
    if _is_powershell(tool_input):
        analyser = analyse_powershell
    else:
        analyser = partial(analyse, shells=_find_shells(tool_input))
    cwd = start.path if isinstance(start, CanonicalPath) else _join_outside(directory, call.cwd)
    for command, patch in commands:
        if patch is not None:
            _extend(targets, find_patch_targets([patch], cwd))
            continue
        if is_wait_command(command, call.client_program, call.root):
            continue
        analysis = analyser(
            command,
            cwd=cwd,
            root=call.root,
            safe_commands=tool_input.policy.safe_commands,
            filesystem=tool_input.filesystem,
        )
        _add_analysis(targets, analysis, command, tool_input.policy.hosts)
        outside = [each for each in analysis.directories or () if not is_inside(each)]
        if isinstance(start, CanonicalPath):
            targets.left_in.extend(RawPath(directory, None, op="read") for directory in outside)
    if isinstance(start, InvalidPath):
        # Like a file that is read, so that the directory outside the workspace is denied by itself.
        targets.reads.append(RawPath(directory, call.cwd, op="read"))


def _find_shells(tool_input: ToolInput) -> Shells:
    """Return the shells that may run the command: the one that the call names, else those that are likely."""
    shell = tool_input.data.get("shell")
    if isinstance(shell, str):
        return SHELLS_BY_NAME.get(program_name(shell), ANY_SHELL)
    return SHELLS_OF_BASH_TOOL if tool_input.call.tool == "Bash" else ANY_SHELL


def _check_settings(tool_input: ToolInput) -> Iterator[Unknown]:
    """Yield the settings of the call that may change what its command runs: the shell, and variables."""
    shell, env = tool_input.data.get("shell"), tool_input.data.get("env")
    if not (shell is None or isinstance(shell, bool)):
        is_known = isinstance(shell, str) and program_name(shell) in SHELLS_BY_NAME
        if not is_known and not tool_input.tool.powershell:
            yield Unknown(to_printable(str(shell)), "the shell that the command runs in is not known")
    # PATH, LD_PRELOAD, GIT_SSH_COMMAND and the like make a safe command run another program.
    if env is not None and not (
        isinstance(env, dict)
        and all(isinstance(name, str) and is_harmless(name, value) for name, value in env.items())
    ):
        yield Unknown(to_printable(str(env)), "programs may listen to the variables that the call sets")


def _join_outside(directory: str, cwd: str | None) -> str:
    """Return a directory outside the workspace as it is spelled, so that what a command names in it is
    found to be outside as well."""
    return directory if directory.startswith(("/", "~")) or not cwd else f"{cwd}/{directory}"


def _is_powershell(tool_input: ToolInput) -> bool:
    """PowerShell runs under its own name, and on a Windows machine wherever the tool is not bash."""
    root = tool_input.call.root or ""
    is_windows = root[1:2] == ":" or root.startswith("\\\\")
    return tool_input.tool.powershell or (is_windows and tool_input.call.tool != "Bash")


def _extend(targets: RawTargets, other: RawTargets) -> None:
    targets.writes.extend(other.writes)
    targets.reads.extend(other.reads)
    targets.unknown.extend(other.unknown)


def _list_command_lines(tool_input: ToolInput) -> list[_CommandLine] | str:
    """Return the command lines of a shell call, or what is wrong with them.

    A list is one command as an argument vector, except where the tool takes a list of commands.
    """
    lines: list[_CommandLine] = []
    for key in dict.fromkeys((*tool_input.tool.command, *input_fields.COMMAND_KEYS)):
        value = tool_input.data.get(key)
        if value is None:
            continue
        texts = input_fields.to_text_list(value)
        if texts is None or not texts[0].strip():
            return "A command must be a non-empty string."
        are_commands = not isinstance(value, list) or key in _LISTS_OF_COMMANDS
        patch = extract_patch(value, tool_input.call.agent)
        lines.extend((text, patch) for text in (texts if are_commands else [shlex.join(texts)]))
    return lines or "The input holds no command."


def _reads_listed_host(effect: PartEffect, hosts: tuple[str, ...]) -> bool:
    """Return whether a part is a request that only reads, from a host that policy lists."""
    is_read = effect.effect is Effect.BROWSES and effect.kind.startswith(("curl GET ", "curl HEAD "))
    return is_read and is_listed(effect.kind.rpartition(" ")[2], hosts)


def _add_analysis(targets: RawTargets, analysis: ShellAnalysis, command: str, hosts: tuple[str, ...]) -> None:
    listed = [effect for effect in analysis.effects if _reads_listed_host(effect, hosts)]
    fetched = {(effect.part, effect.why) for effect in listed}
    targets.unknown.extend(part for part in analysis.unknown if (part.text, part.reason) not in fetched)
    targets.effects.extend(
        replace(effect, effect=Effect.FETCHES) if effect in listed else effect for effect in analysis.effects
    )
    targets.writes.extend(_to_raw_path(path, command) for path in analysis.writes)
    targets.patterns.extend(analysis.patterns)
    for path in analysis.reads:
        targets.reads.append(_to_raw_path(path, command))

    if not (analysis.safe or analysis.writes or analysis.effects):
        targets.unknown.append(Unknown(command, "what this command changes is not known"))


def _to_raw_path(path: ShellPath, command: str) -> RawPath:
    # The command stands for the text that it writes: where one ends and the other begins nobody can tell.
    raw = strip_trailing_slash(path.raw)
    return RawPath(raw, path.cwd, op=path.op, recursive=path.recursive, after=command)
