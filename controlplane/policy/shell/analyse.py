"""Entry points: analyse a command of bash, PowerShell or cmd without running it.

The way of a bash command: `bash.parse` builds and verifies a syntax tree, `bash.interpreter` walks it as bash
would run it, `dispatch` finds the program of each simple command, and that program's entry in `programs`
tells the `recorder` what it reads, writes and runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

from controlplane.policy.effects import Effect, PartEffect
from controlplane.policy.model import Unknown
from controlplane.policy.paths.filesystem import Filesystem, UnknownFilesystem
from controlplane.policy.shell.bash.interpreter import Interpreter
from controlplane.policy.shell.bash.other_shells import check_other_shells
from controlplane.policy.shell.bash.parse import parse
from controlplane.policy.shell.bash.readings import list_readings, merge_analyses
from controlplane.policy.shell.command_text import CommandText, encode_command
from controlplane.policy.shell.dispatch import run_program
from controlplane.policy.shell.lexical_path import change_directory
from controlplane.policy.shell.program_call import ProgramCall
from controlplane.policy.shell.programs import windows
from controlplane.policy.shell.recorder import AnalysisContext, Recorder
from controlplane.policy.shell.result import ShellAnalysis, UnclearCommandError
from controlplane.policy.shell.shells import ONLY_BASH, Shells
from controlplane.policy.shell.state import State

MAX_NESTED = 2  # strings run as commands inside strings run as commands

Analyser = Callable[[str, AnalysisContext, State], ShellAnalysis]


def analyse(  # noqa: PLR0913  settings by name, each with a default
    command: str,
    *,
    cwd: str | None = "",
    root: str | None = None,
    safe_commands: tuple[str, ...] = (),
    filesystem: Filesystem | None = None,
    shells: Shells = ONLY_BASH,
) -> ShellAnalysis:
    """Return what a bash command would read, write and run. Never raises; time is bounded for any text.

    `cwd` is the workspace-relative directory that it starts in ("" is the root), None when unknown or
    outside. `root` is the workspace's absolute directory as the command would spell it. `safe_commands` are
    the workspace's own patterns (`pytest *`). `filesystem` tells which paths are directories and what
    wildcards match; without it, every answer that the disk could give is taken into account. `shells` are
    those that may run it: what one of them reads otherwise than bash is unknown.
    """
    context = AnalysisContext(root, filesystem or UnknownFilesystem(), safe_commands, shells)
    return _analyse(_analyse_bash, command, cwd, context)


def analyse_powershell(
    command: str,
    *,
    cwd: str | None = "",
    root: str | None = None,
    safe_commands: tuple[str, ...] = (),
    filesystem: Filesystem | None = None,
) -> ShellAnalysis:
    """Analyse a PowerShell command: a pipeline of a few read-only cmdlets; anything else is unknown."""
    return _analyse(
        _analyse_powershell,
        command,
        cwd,
        AnalysisContext(root, filesystem or UnknownFilesystem(), safe_commands),
    )


def analyse_cmd(
    command: str,
    *,
    cwd: str | None = "",
    root: str | None = None,
    safe_commands: tuple[str, ...] = (),
    filesystem: Filesystem | None = None,
) -> ShellAnalysis:
    """Analyse a cmd.exe command: `dir`, `type`, `echo` and git's read-only commands; the rest is unknown."""
    return _analyse(
        _analyse_cmd, command, cwd, AnalysisContext(root, filesystem or UnknownFilesystem(), safe_commands)
    )


def _analyse(analyser: Analyser, command: str, cwd: str | None, context: AnalysisContext) -> ShellAnalysis:
    state = State(None if cwd is None else (change_directory("", cwd, context.root),))
    try:
        return analyser(command, context, state)
    except UnclearCommandError as error:
        unknown = _to_unknown(command, error)
        effect = PartEffect(unknown.text, "", Effect.UNKNOWN, unknown.reason, unknown.start, unknown.end)
        return ShellAnalysis(safe=False, unknown=(unknown,), effects=(effect,))


def _to_unknown(command: str, error: UnclearCommandError) -> Unknown:
    """Mark the piece that cannot be judged, or the complete command where the error names none."""
    data = command.encode() if error.span else b""
    start, end = (len(data[:at].decode(errors="ignore")) for at in error.span or (0, 0))
    if start == end:
        start, end = 0, len(command)
    return Unknown(command[start:end], error.reason, start, end)


def _analyse_bash(command: str, context: AnalysisContext, state: State, depth: int = 0) -> ShellAnalysis:
    @cache  # the readings of one command mostly run the same strings
    def nested(text: str, directory: str, shells: Shells) -> ShellAnalysis:
        if depth >= MAX_NESTED:
            raise UnclearCommandError("strings run as commands inside of such strings")
        # What the workspace lists as safe is a command, not a string that becomes one.
        own = replace(context, shells=shells, safe_commands=())
        return _analyse_bash(text, own, State((directory,)), depth + 1)

    tree = parse(command)
    found = []
    for reading in list_readings(tree, context.shells):
        recorder = Recorder(tree, replace(context, reading=reading), nested)
        check_other_shells(tree, recorder)
        outcome = Interpreter(recorder, tree).walk_statement(tree.root, state)
        found.append(replace(recorder.build_analysis(), directories=outcome.after.directories))
    return merge_analyses(found)


def _analyse_powershell(command: str, context: AnalysisContext, state: State) -> ShellAnalysis:
    return _analyse_windows(command, context, state, "powershell")


def _analyse_cmd(command: str, context: AnalysisContext, state: State) -> ShellAnalysis:
    return _analyse_windows(command, context, state, "cmd")


def _analyse_windows(command: str, context: AnalysisContext, state: State, dialect: str) -> ShellAnalysis:
    """Analyse a pipeline of read-only commands; raises UnclearCommandError for anything else."""
    recorder = Recorder(
        CommandText(command, encode_command(command)),
        context,
        lambda _text, _directory, _shells: ShellAnalysis(safe=False),
    )
    for words in windows.split_pipeline(command):
        span = (words[0].start, words[-1].end)
        mark = recorder.mark()
        name = windows.resolve_alias(words[0].prefix, dialect)
        if name != "git" and windows.find_cmdlet(name) is None:
            raise UnclearCommandError(f"{name} is not a known command")
        run_program(ProgramCall(name, tuple(words[1:]), span, state, recorder, run_program))
        recorder.add_part(span, mark)
    return recorder.build_analysis()
