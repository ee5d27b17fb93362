"""The table of all programs that the analysis knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from controlplane.policy.shell.program_call import KnownProgram, ProgramCall
from controlplane.policy.shell.programs.archives import ARCHIVES
from controlplane.policy.shell.programs.git.subcommands import GIT
from controlplane.policy.shell.programs.mktemp import MKTEMP
from controlplane.policy.shell.programs.network import NETWORK_PROGRAMS
from controlplane.policy.shell.programs.package_managers import PACKAGE_MANAGERS
from controlplane.policy.shell.programs.python.program import PYTHON
from controlplane.policy.shell.programs.readers import READERS
from controlplane.policy.shell.programs.writers import WRITERS
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.word import Word

PROGRAMS: Mapping[str, KnownProgram] = {
    **PACKAGE_MANAGERS,
    **READERS,
    **WRITERS,
    **ARCHIVES,
    **NETWORK_PROGRAMS,
    "git": GIT,
    "mktemp": MKTEMP,
    "python": PYTHON,
    "python3": PYTHON,
}
SYSTEM_DIRECTORIES = ("/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/opt/homebrew/bin/")


# They print the names that they are given, and open no file.
ECHOES = frozenset({"echo", "printf", "basename", "dirname", "ls", "true", "test"})


def program_name(name: str) -> str:
    """Return `rm` for `/bin/rm`. A program of any other directory keeps its path, which no table holds."""
    directory, slash, last = name.rpartition("/")
    return last if directory + slash in SYSTEM_DIRECTORIES else name


def run_with_file_names(call: ProgramCall, words: Sequence[Word]) -> None:
    """Run a command with file names that are not known: its program must be `option_safe`."""
    name = program_name(words[0].value or "") if words else "echo"
    program = PROGRAMS.get(name)
    if program is None or not program.is_option_safe:
        raise UnclearCommandError(f"{call.name} passes arguments to {name or 'a program'} that are not known")
    call.recorder.reads_listed |= name not in ECHOES
    program.record_effects(replace(call, name=name, args=tuple(words[1:])))
