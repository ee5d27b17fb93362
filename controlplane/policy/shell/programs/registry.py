"""All programs that the analysis knows, in one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from controlplane.policy.shell.command import KnownProgram, ProgramCall
from controlplane.policy.shell.programs.archives import ARCHIVES
from controlplane.policy.shell.programs.git.subcommands import GIT
from controlplane.policy.shell.programs.network import PARTIAL
from controlplane.policy.shell.programs.package_managers import VERSIONS
from controlplane.policy.shell.programs.readers import READERS
from controlplane.policy.shell.programs.writers import WRITERS
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.word import Word

PROGRAMS: Mapping[str, KnownProgram] = {
    **VERSIONS,
    **READERS,
    **WRITERS,
    **ARCHIVES,
    **PARTIAL,
    "git": GIT,
}
SYSTEM_FOLDERS = ("/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/opt/homebrew/bin/")


def program_name(name: str) -> str:
    """`rm` for `/bin/rm`; a program of any other folder keeps its path, which no table holds."""
    folder, slash, last = name.rpartition("/")
    return last if folder + slash in SYSTEM_FOLDERS else name


def run_with_file_names(call: ProgramCall, words: Sequence[Word]) -> None:
    """A command that is given names which are not known: its program must be one that no option can turn."""
    name = program_name(words[0].value or "") if words else "echo"
    entry = PROGRAMS.get(name)
    if entry is None or not entry.is_option_safe:
        raise UnclearCommandError(f"{call.name} passes arguments to {name or 'a program'} that are not known")
    entry.record_effects(replace(call, name=name, args=tuple(words[1:])))
