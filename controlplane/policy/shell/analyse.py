"""The way in: a command and where it runs, out comes what it would do."""

from __future__ import annotations

from collections.abc import Callable

from controlplane.policy.model import Unknown
from controlplane.policy.paths.filesystem import Filesystem, UnknownFilesystem
from controlplane.policy.shell.bash.interpreter import Interpreter
from controlplane.policy.shell.bash.parse import parse
from controlplane.policy.shell.command import Call
from controlplane.policy.shell.dispatch import run
from controlplane.policy.shell.lexical_path import enter
from controlplane.policy.shell.programs import windows
from controlplane.policy.shell.recorder import Scene, Surroundings
from controlplane.policy.shell.result import ShellAnalysis, UnclearError
from controlplane.policy.shell.source import Source, encode
from controlplane.policy.shell.state import State

MAX_NESTED = 2  # strings run as commands inside strings run as commands

Analyser = Callable[[str, Surroundings, State], ShellAnalysis]


def analyse(
    command: str,
    *,
    cwd: str | None = "",
    root: str | None = None,
    safe_commands: tuple[str, ...] = (),
    world: Filesystem | None = None,
) -> ShellAnalysis:
    """What a bash command would read, write and run. Never raises; time is bounded for any text.

    `cwd` is the workspace-relative folder that it starts in ("" is the root), None when unknown or
    outside. `root` is the workspace's absolute folder as the command would spell it. `safe_commands` are
    the workspace's own patterns (`pytest *`). `world` is asked which paths are folders and what
    wildcards match; without a disk both are guessed with care.
    """
    return _analyse(_bash, command, cwd, Surroundings(root, world or UnknownFilesystem(), safe_commands))


def analyse_powershell(
    command: str,
    *,
    cwd: str | None = "",
    root: str | None = None,
    safe_commands: tuple[str, ...] = (),
    world: Filesystem | None = None,
) -> ShellAnalysis:
    """`analyse` for PowerShell: a pipeline of a few commands that only look, or unknown."""
    return _analyse(
        _powershell, command, cwd, Surroundings(root, world or UnknownFilesystem(), safe_commands)
    )


def analyse_cmd(
    command: str,
    *,
    cwd: str | None = "",
    root: str | None = None,
    safe_commands: tuple[str, ...] = (),
    world: Filesystem | None = None,
) -> ShellAnalysis:
    """`analyse` for cmd.exe: `dir`, `type`, `echo` and git's reading commands, or unknown."""
    return _analyse(_cmd, command, cwd, Surroundings(root, world or UnknownFilesystem(), safe_commands))


def _analyse(analyser: Analyser, command: str, cwd: str | None, around: Surroundings) -> ShellAnalysis:
    state = State(None if cwd is None else (enter("", cwd, around.root),))
    try:
        return analyser(command, around, state)
    except UnclearError as error:
        return ShellAnalysis(safe=False, unknown=(_marked(command, error),))


def _marked(command: str, error: UnclearError) -> Unknown:
    """The piece that cannot be judged; the whole command where no piece of it is known, or an empty one."""
    data = command.encode() if error.span else b""
    start, end = (len(data[:at].decode(errors="ignore")) for at in error.span or (0, 0))
    if start == end:
        start, end = 0, len(command)
    return Unknown(command[start:end], error.why, start, end)


def _bash(command: str, surroundings: Surroundings, state: State, depth: int = 0) -> ShellAnalysis:
    def nested(text: str, folder: str) -> ShellAnalysis:
        try:
            if depth < MAX_NESTED:
                return _bash(text, surroundings, State((folder,)), depth + 1)
        except UnclearError:
            pass  # whoever runs a string has called it unknown already
        return ShellAnalysis(safe=False)

    tree = parse(command)
    scene = Scene(tree, surroundings, nested)
    Interpreter(scene, tree).statement(tree.root, state)
    return scene.result()


def _powershell(command: str, surroundings: Surroundings, state: State) -> ShellAnalysis:
    return _windows(command, surroundings, state, "powershell")


def _cmd(command: str, surroundings: Surroundings, state: State) -> ShellAnalysis:
    return _windows(command, surroundings, state, "cmd")


def _windows(command: str, surroundings: Surroundings, state: State, dialect: str) -> ShellAnalysis:
    """A pipeline of commands that only look; raises UnclearError for anything else."""
    scene = Scene(
        Source(command, encode(command)), surroundings, lambda _text, _folder: ShellAnalysis(safe=False)
    )
    for words in windows.split(command):
        span = (words[0].start, words[-1].end)
        mark = scene.mark()
        name = windows.canonical_name(words[0].prefix, dialect)
        if name != "git" and name not in windows.CMDLETS:
            raise UnclearError(f"what {name} does is not known")
        run(Call(name, tuple(words[1:]), span, state, scene, run))
        scene.add_part(span, mark)
    return scene.result()
