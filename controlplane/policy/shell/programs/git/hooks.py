"""Programs of the work tree that a reading git command runs: a hook on its index, a monitor of its files."""

from __future__ import annotations

from controlplane.policy.paths.git_config import find_programs
from controlplane.policy.shell.program_call import ProgramCall
from controlplane.policy.shell.result import UnclearCommandError

# `git status` writes the index, and runs this afterwards.
INDEX_HOOK = "post-index-change"


def check_hooks(call: ProgramCall) -> None:
    """Raise UnclearCommandError where git would run a file of the work tree: an agent may have written it."""
    recorder = call.recorder
    if not recorder.on_disk:
        return
    programs = find_programs(recorder.filesystem, recorder.root)
    if programs.monitor:
        raise UnclearCommandError(f"git runs {programs.monitor} of the work tree (core.fsmonitor)")
    if programs.hooks and recorder.may_exist(f"{programs.hooks}/{INDEX_HOOK}"):
        raise UnclearCommandError(f"git runs a hook of {programs.hooks} in the work tree (core.hooksPath)")
