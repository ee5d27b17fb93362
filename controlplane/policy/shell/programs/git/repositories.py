"""Bare repositories that git may find where an agent could have planted one.

On its way up from the current directory, git takes any directory with `HEAD`, `objects` and `refs` for a
bare repository, and obeys its `config`, which names programs to run (git-config: `safe.bareRepository`).
The workspace's own `.git` is protected; a planted repository can have any name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from controlplane.policy.shell.program_call import ProgramCall
from controlplane.policy.shell.recorder import Recorder
from controlplane.policy.shell.result import UnclearCommandError


def check_repository(call: ProgramCall, directories: Iterable[str]) -> None:
    """Raise UnclearCommandError where git, run in one of these directories, may find a planted repository.

    A directory may hold `..`, which counts behind links.
    """
    for directory in directories:
        if any(call.recorder.may_exist(head) for head in _heads(directory, call.recorder)):
            raise UnclearCommandError(
                "git may find a planted repository here, whose configuration runs programs"
            )


def _heads(directory: str, recorder: Recorder) -> Iterator[str]:
    """Yield the files that would make a repository of a directory or of one above it."""
    return (f"{parent}/HEAD" for parent in recorder.walk_up(directory))
