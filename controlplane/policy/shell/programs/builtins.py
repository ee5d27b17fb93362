"""Shell builtins that change the shell itself: its directory, its variables, whether it goes on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from controlplane.policy.shell.lexical_path import change_directory, is_inside
from controlplane.policy.shell.program_call import ProgramCall
from controlplane.policy.shell.programs.wrappers import ShellCommand
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.shells import DASH
from controlplane.policy.shell.state import CommandOutcome
from controlplane.policy.shell.table.load import load_table
from controlplane.policy.shell.variables import check_inert
from controlplane.policy.shell.word import Word

NAME = re.compile(r"[A-Za-z_]\w*")
STACK_ENTRY = re.compile(r"\+\d+")
SET_FLAGS = re.compile(r"[-+]([eux]+o?|o)")
SET_OPTION_NAMES = frozenset({"pipefail", "errexit", "nounset", "xtrace"})


def _cd(call: ProgramCall) -> CommandOutcome:
    operands = call.parse_options(load_table().special["cd"]).operands
    if len(operands) > 1:
        raise UnclearCommandError("cd with several directories")
    target = operands[0] if operands else Word("~", "~", *call.span, has_tilde=True)
    directories = _resolve_target(call, target)
    return CommandOutcome(
        replace(call.state, directories=directories), call.state, _exist_for_certain(call, directories)
    )


def _resolve_target(call: ProgramCall, target: Word) -> tuple[str, ...] | None:
    """Return where `cd target` leads from every possible directory; None where that is not known."""
    if target.value in (None, "", "-") or target.has_wildcard or call.state.directories is None:
        return None
    if STACK_ENTRY.fullmatch(target.value):  # zsh goes to an entry of its directory stack
        return None
    targets = (
        change_directory(directory, target.value, call.recorder.root) for directory in call.state.directories
    )
    return tuple(dict.fromkeys(targets))


def _exist_for_certain(call: ProgramCall, directories: tuple[str, ...] | None) -> bool:
    """Return whether the directories exist for certain: on disk, and not removed by this command."""
    recorder = call.recorder
    if not directories or not recorder.on_disk or recorder.has_removed or recorder.has_unknown:
        return False
    return all(is_inside(directory) and recorder.filesystem.is_dir(directory) for directory in directories)


def _pushd(call: ProgramCall) -> CommandOutcome:
    operands = call.parse_options(load_table().special["cd"]).operands
    if len(operands) != 1 or operands[0].prefix.startswith("+"):
        raise UnclearCommandError("the directory stack is not known")
    current = call.state.directories
    directories = _resolve_target(call, operands[0])
    stack = (*call.state.directory_stack, current) if current is not None else ()
    state = replace(call.state, directories=directories, directory_stack=stack)
    is_known = DASH not in call.recorder.shells  # which has no pushd
    return CommandOutcome(state, call.state, is_known and _exist_for_certain(call, directories))


def _popd(call: ProgramCall) -> CommandOutcome:
    if call.args:
        raise UnclearCommandError("the directory stack is not known")
    *stack, directories = call.state.directory_stack or (None,)
    state = replace(call.state, directories=directories, directory_stack=tuple(stack))
    is_known = directories is not None and DASH not in call.recorder.shells
    return CommandOutcome(state, call.state, cannot_fail=is_known)


def _exit(call: ProgramCall) -> CommandOutcome:
    """Run `exit`. With anything but one number behind it the shell may report an error and go on."""
    exits = not call.args or (len(call.args) == 1 and re.fullmatch(r"\d+", call.args[0].value or ""))
    return CommandOutcome.from_state(call.state.after_exit() if exits else call.state)


def _jump(call: ProgramCall) -> CommandOutcome:
    """Run `break` or `continue`: the rest of the loop may be skipped."""
    call.recorder.jump_count += 1
    return CommandOutcome.from_state(call.state)


def _read(call: ProgramCall) -> CommandOutcome:
    """Run `read NAME…`. `read 'a[$(cmd)]'` runs cmd, so only plain names are allowed."""
    parsed = call.parse_options(load_table().special["read"])
    return _fill_variables(call, (*parsed.operands, *parsed.values("-a")))


def _mapfile(call: ProgramCall) -> CommandOutcome:
    """Run `mapfile NAME`; its option `-C`, which runs a command, is not known."""
    return _fill_variables(call, call.parse_options(load_table().special["mapfile"]).operands)


def _fill_variables(call: ProgramCall, names: Sequence[Word]) -> CommandOutcome:
    state = call.state
    for word in names:
        if word.value is None or not NAME.fullmatch(word.value):
            raise UnclearCommandError("a variable name that may run code", word.span)
        check_inert(word.value, word.span)
        call.recorder.filled_variables.add(word.value)
        state = state.with_constant(word.value, None)
    return CommandOutcome.from_state(state)


def _set(call: ProgramCall) -> CommandOutcome:
    """Run `set` with the options that make a script stricter or verbose."""
    arguments = [word.value or "?" for word in call.args]
    if not arguments or not all(
        SET_FLAGS.fullmatch(argument) or argument in SET_OPTION_NAMES for argument in arguments
    ):
        raise UnclearCommandError("changes options of the shell")
    return CommandOutcome.from_state(call.state)


BUILTINS: Mapping[str, ShellCommand] = {
    "cd": _cd,
    "pushd": _pushd,
    "popd": _popd,
    "exit": _exit,
    "break": _jump,
    "continue": _jump,
    "read": _read,
    **dict.fromkeys(("mapfile", "readarray"), _mapfile),
    "set": _set,
}
