"""From a decoded simple command to its effects."""

from __future__ import annotations

from dataclasses import replace

from controlplane.policy.shell.command import ProgramCall
from controlplane.policy.shell.programs.builtins import BUILTINS
from controlplane.policy.shell.programs.registry import PROGRAMS, program_name
from controlplane.policy.shell.programs.windows import CMDLETS
from controlplane.policy.shell.programs.wrappers import WRAPPERS
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.safe_commands import is_safe_command
from controlplane.policy.shell.state import CommandOutcome, always

SHELL_COMMANDS = {**WRAPPERS, **BUILTINS}


def run_program(call: ProgramCall) -> CommandOutcome:
    """Judge one command; raises UnclearError for what is not known to be understood."""
    call = replace(call, name=program_name(call.name))
    if not call.recorder.exports_variables and is_safe_command(
        call.name, call.args, call.recorder.safe_commands
    ):
        return _run_safe_command(call)
    return _dispatch(call)


def _run_safe_command(call: ProgramCall) -> CommandOutcome:
    """The workspace vouches for this command; files that it is known to write still count."""
    scene = call.recorder
    mark = scene.mark()
    try:
        outcome = _dispatch(call)
    except UnclearCommandError:
        outcome = always(call.state)
    scene.drop_unknown(mark)
    scene.has_run_program = True
    return outcome


def _dispatch(call: ProgramCall) -> CommandOutcome:
    special = SHELL_COMMANDS.get(call.name)
    if special is not None:
        return special(call)
    entry = PROGRAMS.get(call.name) or CMDLETS.get(call.name.lower())
    if entry is None:
        call.recorder.has_run_program = True
        raise UnclearCommandError(f"what {call.name[:40]} does is not known")
    if entry.verdict == "runs":
        call.recorder.has_run_program = True
    entry.record_effects(call)
    return always(call.state)
