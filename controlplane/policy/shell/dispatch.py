"""Find the program of a simple command and let it record its effects."""

from __future__ import annotations

from dataclasses import replace

from controlplane.policy.effects import LOOKING, Effect
from controlplane.policy.shell.command_kinds.classify import classify
from controlplane.policy.shell.command_kinds.words import CommandKind
from controlplane.policy.shell.program_call import ProgramCall
from controlplane.policy.shell.programs.builtins import BUILTINS
from controlplane.policy.shell.programs.registry import load_programs, program_name
from controlplane.policy.shell.programs.windows import find_cmdlet
from controlplane.policy.shell.programs.wrappers import find_wrapper
from controlplane.policy.shell.result import UnclearCommandError, UnknownUsageError
from controlplane.policy.shell.safe_commands import is_safe_command
from controlplane.policy.shell.state import CommandOutcome
from controlplane.policy.shell.table.load import load_table


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
    shell_command = BUILTINS.get(call.name) or find_wrapper(call.name)
    if shell_command is not None:
        try:
            return shell_command(call)
        except UnknownUsageError as error:
            return _claim_kind(call, error, is_known=True)
    program = load_programs().get(call.name) or find_cmdlet(call.name)
    if program is None:
        call.recorder.has_run_program = True
        reason = f"{call.name[:40] or 'an empty name'} is not a known command"
        return _claim_kind(call, UnknownUsageError(reason), is_known=call.name in load_table().kinds)
    if program.verdict == "runs":
        call.recorder.has_run_program = True
    try:
        program.record_effects(call)
    except UnknownUsageError as error:
        return _claim_kind(call, error, is_known=True)
    return CommandOutcome.from_state(call.state)


def _claim_kind(call: ProgramCall, error: UnknownUsageError, *, is_known: bool) -> CommandOutcome:
    """Record the kind and effect of a command that is no list of paths. Raise the error where it has none."""
    recorder = call.recorder
    finding = classify(call.name, call.args, recorder.root or "", is_known=is_known)
    if finding is None:
        raise error
    if recorder.exports_variables:
        # `export GOFLAGS=-exec=…`: what the options say is not all that the program is told.
        finding = CommandKind(
            "", Effect.UNKNOWN, f"{call.name[:40]} with exported variables that it may listen to"
        )
    if finding.effect not in LOOKING:
        recorder.has_run_program = True
    recorder.claim(finding.kind, finding.effect, finding.why)
    call.read_all(finding.reads)
    for word in finding.writes:
        directory = any(recorder.may_be_directory(path) for path in call.resolve(word))
        call.write(word, recursive=directory)
    for word in finding.makes:
        call.write(word, recursive=True)
    return CommandOutcome.from_state(call.state)
