"""Find the program of a simple command and let it record its effects."""

from __future__ import annotations

from dataclasses import replace

from controlplane.policy.shell.program_call import ProgramCall
from controlplane.policy.shell.programs.builtins import BUILTINS
from controlplane.policy.shell.programs.registry import PROGRAMS, program_name
from controlplane.policy.shell.programs.windows import CMDLETS
from controlplane.policy.shell.programs.wrappers import WRAPPERS
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.safe_commands import is_safe_command
from controlplane.policy.shell.state import CommandOutcome

SHELL_COMMANDS = {**WRAPPERS, **BUILTINS}


def run_program(call: ProgramCall) -> CommandOutcome:
    """Record what one command does; raises UnclearCommandError for a program or usage that is not known."""
    call = replace(call, name=program_name(call.name))
    if not call.recorder.exports_variables and is_safe_command(
        call.name, call.args, call.recorder.safe_commands
    ):
        return _run_safe_command(call)
    return _dispatch(call)


def _run_safe_command(call: ProgramCall) -> CommandOutcome:
    """Trust a command that the workspace's policy lists; the files that it is known to write still count."""
    recorder = call.recorder
    mark = recorder.mark()
    try:
        outcome = _dispatch(call)
    except UnclearCommandError:
        outcome = CommandOutcome.from_state(call.state)
    recorder.trust(mark)
    recorder.has_run_program = True
    return outcome


def _dispatch(call: ProgramCall) -> CommandOutcome:
    # Builtins first, as in bash. A function cannot take their place: a command that defines one is unknown.
    shell_command = SHELL_COMMANDS.get(call.name)
    if shell_command is not None:
        return shell_command(call)
    program = PROGRAMS.get(call.name) or CMDLETS.get(call.name.lower())
    if program is None:
        call.recorder.has_run_program = True
        raise UnclearCommandError(f"{call.name[:40] or 'an empty name'} is not a known command")
    if program.verdict == "runs":
        call.recorder.has_run_program = True
    program.record_effects(call)
    return CommandOutcome.from_state(call.state)
