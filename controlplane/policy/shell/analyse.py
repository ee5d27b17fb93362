"""The way in: a command and where it runs, out comes what it would do."""

from __future__ import annotations

from collections.abc import Callable

from controlplane.policy.model import Unknown
from controlplane.policy.paths.filesystem import Filesystem, UnknownFilesystem
from controlplane.policy.shell.bash.interpreter import Interpreter
from controlplane.policy.shell.bash.parse import parse
from controlplane.policy.shell.command import ProgramCall
from controlplane.policy.shell.dispatch import run_program
from controlplane.policy.shell.lexical_path import change_directory
from controlplane.policy.shell.programs import windows
from controlplane.policy.shell.recorder import AnalysisContext, Recorder
from controlplane.policy.shell.result import ShellAnalysis, UnclearCommandError
from controlplane.policy.shell.source import CommandText, encode_command
from controlplane.policy.shell.state import State

MAX_NESTED = 2  # strings run as commands inside strings run as commands

Analyser = Callable[[str, AnalysisContext, State], ShellAnalysis]


def analyse(
    command: str,
    *,
    cwd: str | None = "",
    root: str | None = None,
    safe_commands: tuple[str, ...] = (),
    filesystem: Filesystem | None = None,
) -> ShellAnalysis:
    """What a bash command would read, write and run. Never raises; time is bounded for any text.

    `cwd` is the workspace-relative folder that it starts in ("" is the root), None when unknown or
    outside. `root` is the workspace's absolute folder as the command would spell it. `safe_commands` are
    the workspace's own patterns (`pytest *`). `world` is asked which paths are folders and what
    wildcards match; without a disk both are guessed with care.
    """
    return _analyse(
        _analyse_bash, command, cwd, AnalysisContext(root, filesystem or UnknownFilesystem(), safe_commands)
    )


def analyse_powershell(
    command: str,
    *,
    cwd: str | None = "",
    root: str | None = None,
    safe_commands: tuple[str, ...] = (),
    filesystem: Filesystem | None = None,
) -> ShellAnalysis:
    """`analyse` for PowerShell: a pipeline of a few commands that only look, or unknown."""
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
    """`analyse` for cmd.exe: `dir`, `type`, `echo` and git's reading commands, or unknown."""
    return _analyse(
        _analyse_cmd, command, cwd, AnalysisContext(root, filesystem or UnknownFilesystem(), safe_commands)
    )


def _analyse(analyser: Analyser, command: str, cwd: str | None, around: AnalysisContext) -> ShellAnalysis:
    state = State(None if cwd is None else (change_directory("", cwd, around.root),))
    try:
        return analyser(command, around, state)
    except UnclearCommandError as error:
        return ShellAnalysis(safe=False, unknown=(_to_unknown(command, error),))


def _to_unknown(command: str, error: UnclearCommandError) -> Unknown:
    """The piece that cannot be judged; the whole command where no piece of it is known, or an empty one."""
    data = command.encode() if error.span else b""
    start, end = (len(data[:at].decode(errors="ignore")) for at in error.span or (0, 0))
    if start == end:
        start, end = 0, len(command)
    return Unknown(command[start:end], error.reason, start, end)


def _analyse_bash(command: str, surroundings: AnalysisContext, state: State, depth: int = 0) -> ShellAnalysis:
    def nested(text: str, folder: str) -> ShellAnalysis:
        try:
            if depth < MAX_NESTED:
                return _analyse_bash(text, surroundings, State((folder,)), depth + 1)
        except UnclearCommandError:
            pass  # whoever runs a string has called it unknown already
        return ShellAnalysis(safe=False)

    tree = parse(command)
    scene = Recorder(tree, surroundings, nested)
    Interpreter(scene, tree).statement(tree.root, state)
    return scene.build_analysis()


def _analyse_powershell(command: str, surroundings: AnalysisContext, state: State) -> ShellAnalysis:
    return _analyse_windows(command, surroundings, state, "powershell")


def _analyse_cmd(command: str, surroundings: AnalysisContext, state: State) -> ShellAnalysis:
    return _analyse_windows(command, surroundings, state, "cmd")


def _analyse_windows(
    command: str, surroundings: AnalysisContext, state: State, dialect: str
) -> ShellAnalysis:
    """A pipeline of commands that only look; raises UnclearError for anything else."""
    scene = Recorder(
        CommandText(command, encode_command(command)),
        surroundings,
        lambda _text, _folder: ShellAnalysis(safe=False),
    )
    for words in windows.split_pipeline(command):
        span = (words[0].start, words[-1].end)
        mark = scene.mark()
        name = windows.resolve_alias(words[0].prefix, dialect)
        if name != "git" and name not in windows.CMDLETS:
            raise UnclearCommandError(f"what {name} does is not known")
        run_program(ProgramCall(name, tuple(words[1:]), span, state, scene, run_program))
        scene.add_part(span, mark)
    return scene.build_analysis()
