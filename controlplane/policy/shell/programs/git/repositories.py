"""Repositories that git may find where an agent could have put one.

On its way up from the folder it runs in, git takes any folder that holds `HEAD`, `objects` and `refs` for a
repository without a work tree, and obeys the `config` in it, which names programs to run. The workspace's
own `.git` is protected; a folder like that has any name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from controlplane.policy.shell.command import Call
from controlplane.policy.shell.recorder import Scene
from controlplane.policy.shell.result import UnclearError


def vet_repository(call: Call, folders: Iterable[str]) -> None:
    """Raises UnclearError where git, run in one of these folders, may find a repository of its own there or
    on the way up. A folder may hold `..`, which counts after links."""
    for folder in folders:
        if any(call.scene.may_be_there(head) for head in _heads(folder, call.scene)):
            raise UnclearError("git may find a repository of its own here")


def _heads(folder: str, scene: Scene) -> Iterator[str]:
    """The files that would make a repository of a folder or of one above it, but for the workspace itself."""
    return (f"{place}/HEAD" for place in scene.folders_above(folder))
