"""Builtins that change the shell itself: its folder, its variables, whether it goes on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from controlplane.policy.shell.command import ProgramCall
from controlplane.policy.shell.lexical_path import change_directory, is_inside
from controlplane.policy.shell.options import build_spec
from controlplane.policy.shell.programs.wrappers import ShellCommand
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.state import CommandOutcome, always
from controlplane.policy.shell.variables import check_inert
from controlplane.policy.shell.word import Word

CD = build_spec("-L", "-*", marks="option_safe")
READ = build_spec("-rs -p= -t= -n= -N= -d= -u= -a=", "-*")
LINES = build_spec("-t -n= -s= -d= -u=", "-*")
NAME = re.compile(r"[A-Za-z_]\w*")
SET_FLAG = re.compile(r"[-+]([eux]+o?|o)")
SET_NAMES = frozenset({"pipefail", "errexit", "nounset", "xtrace"})


def _cd(call: ProgramCall) -> CommandOutcome:
    operands = call.parse_options(CD).operands
    if len(operands) > 1:
        raise UnclearCommandError("cd with several folders")
    target = operands[0] if operands else Word("~", "~", *call.span, has_tilde=True)
    folders = _entered(call, target)
    return CommandOutcome(replace(call.state, directories=folders), call.state, _is_certain(call, folders))


def _entered(call: ProgramCall, target: Word) -> tuple[str, ...] | None:
    """Where `cd target` leads from every possible folder; None when that cannot be known."""
    if target.value in (None, "", "-") or target.has_wildcard or call.state.directories is None:
        return None
    found = (change_directory(folder, target.value, call.recorder.root) for folder in call.state.directories)
    return tuple(dict.fromkeys(found))


def _is_certain(call: ProgramCall, folders: tuple[str, ...] | None) -> bool:
    """Whether the folders are there: on disk, and nothing in this command has removed any."""
    scene = call.recorder
    if not folders or not scene.on_disk or scene.has_removed or scene.has_unknown:
        return False
    return all(is_inside(folder) and scene.filesystem.is_dir(folder) for folder in folders)


def _pushd(call: ProgramCall) -> CommandOutcome:
    operands = call.parse_options(CD).operands
    if len(operands) != 1 or operands[0].prefix.startswith("+"):
        raise UnclearCommandError("the folder stack is not known")
    old = call.state.directories
    folders = _entered(call, operands[0])
    stack = (*call.state.directory_stack, old) if old is not None else ()
    inside = replace(call.state, directories=folders, directory_stack=stack)
    return CommandOutcome(inside, call.state, _is_certain(call, folders))


def _popd(call: ProgramCall) -> CommandOutcome:
    if call.args:
        raise UnclearCommandError("the folder stack is not known")
    *stack, folders = call.state.directory_stack or (None,)
    outside = replace(call.state, directories=folders, directory_stack=tuple(stack))
    return CommandOutcome(outside, call.state, cannot_fail=folders is not None)


def _exit(call: ProgramCall) -> CommandOutcome:
    """An argument that is not one number may keep the shell alive."""
    leaves = not call.args or (len(call.args) == 1 and re.fullmatch(r"\d+", call.args[0].value or ""))
    return always(call.state.after_exit() if leaves else call.state)


def _jump(call: ProgramCall) -> CommandOutcome:
    """`break` and `continue`: what follows in the loop may be left out."""
    call.recorder.jump_count += 1
    return always(call.state)


def _read(call: ProgramCall) -> CommandOutcome:
    """`read 'a[$(cmd)]'` runs cmd, so only plain names will do."""
    parsed = call.parse_options(READ)
    return _filled(call, (*parsed.operands, *parsed.values("-a")))


def _mapfile(call: ProgramCall) -> CommandOutcome:
    """Lines into an array; `-C` runs a command."""
    return _filled(call, call.parse_options(LINES).operands)


def _filled(call: ProgramCall, names: Sequence[Word]) -> CommandOutcome:
    state = call.state
    for word in names:
        if word.value is None or not NAME.fullmatch(word.value):
            raise UnclearCommandError("a variable name that may run code", word.span)
        check_inert(word.value, word.span)
        call.recorder.filled_variables.add(word.value)
        state = state.with_constant(word.value, None)
    return always(state)


def _set(call: ProgramCall) -> CommandOutcome:
    """Only the options that make a script stricter, or tell what it does."""
    given = [word.value or "?" for word in call.args]
    if not given or not all(SET_FLAG.fullmatch(one) or one in SET_NAMES for one in given):
        raise UnclearCommandError("changes how the shell works")
    return always(call.state)


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
