"""All programs that the analysis knows: the rows of the table, and what no row can say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from controlplane.policy.shell.program_call import ProgramCall
from controlplane.policy.shell.programs.archives import run_tar
from controlplane.policy.shell.programs.awk import run_awk
from controlplane.policy.shell.programs.copy import COPIERS
from controlplane.policy.shell.programs.git.subcommands import run_git
from controlplane.policy.shell.programs.jq import run_jq
from controlplane.policy.shell.programs.mktemp import run_mktemp
from controlplane.policy.shell.programs.network import NETWORK_PROGRAMS
from controlplane.policy.shell.programs.package_managers import run_query
from controlplane.policy.shell.programs.python.program import PYTHON
from controlplane.policy.shell.programs.readers import READERS, run_test
from controlplane.policy.shell.programs.roles import CustomProgram, Handler, KnownProgram, Program
from controlplane.policy.shell.programs.sed import run_sed
from controlplane.policy.shell.programs.writers import WRITERS
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.table.load import load_table
from controlplane.policy.shell.word import Word

HANDLERS: Mapping[str, Handler] = {
    **READERS,
    **WRITERS,
    **COPIERS,
    "awk": run_awk,
    "sed": run_sed,
    "mktemp": run_mktemp,
}
CUSTOM_PROGRAMS: Mapping[str, CustomProgram] = {
    **NETWORK_PROGRAMS,
    "git": CustomProgram(run_git),
    "jq": CustomProgram(run_jq),
    "python": PYTHON,
    "python3": PYTHON,
    "tar": CustomProgram(run_tar),
    "test": CustomProgram(run_test, is_option_safe=True),
}
SYSTEM_DIRECTORIES = ("/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/opt/homebrew/bin/")
# They print the names that they are given, and open no file.
ECHOES = frozenset({"echo", "printf", "basename", "dirname", "ls", "true", "test"})


@cache
def load_programs() -> Mapping[str, KnownProgram]:
    """Return every program by name, once the table is needed."""
    table = load_table()
    rows = {name: row for name, row in table.files.items() if " " not in name}
    return {
        **dict.fromkeys(table.words["asks --version"], CustomProgram(run_query, "runs")),
        **{name: Program(row, HANDLERS.get(row.name)) for name, row in rows.items()},
        **CUSTOM_PROGRAMS,
    }


def program_name(name: str) -> str:
    """Return `rm` for `/bin/rm`. A program of any other directory keeps its path, which no table holds."""
    directory, slash, last = name.rpartition("/")
    return last if directory + slash in SYSTEM_DIRECTORIES else name


def run_with_file_names(call: ProgramCall, words: Sequence[Word]) -> None:
    """Run a command with file names that are not known: its program must be `option_safe`."""
    name = program_name(words[0].value or "") if words else "echo"
    program = load_programs().get(name)
    if program is None or not program.is_option_safe:
        raise UnclearCommandError(f"{call.name} passes arguments to {name or 'a program'} that are not known")
    call.recorder.reads_listed |= name not in ECHOES
    program.record_effects(replace(call, name=name, args=tuple(words[1:])))
