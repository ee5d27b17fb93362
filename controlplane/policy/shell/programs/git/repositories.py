"""Repositories that git may find where an agent could have put one.

On its way up from the folder it runs in, git takes any folder that holds `HEAD`, `objects` and `refs` for a
repository without a work tree, and obeys the `config` in it, which names programs to run. The workspace's
own `.git` is protected; a folder like that has any name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from controlplane.policy.shell.command import ProgramCall
from controlplane.policy.shell.recorder import Recorder
from controlplane.policy.shell.result import UnclearCommandError


def check_repository(call: ProgramCall, folders: Iterable[str]) -> None:
    """Raises UnclearError where git, run in one of these folders, may find a repository of its own there or
    on the way up. A folder may hold `..`, which counts after links."""
    for folder in folders:
        if any(call.recorder.may_exist(head) for head in _heads(folder, call.recorder)):
            raise UnclearCommandError("git may find a repository of its own here")


def _heads(folder: str, scene: Recorder) -> Iterator[str]:
    """The files that would make a repository of a folder or of one above it, but for the workspace itself."""
    return (f"{place}/HEAD" for place in scene.walk_up(folder))
