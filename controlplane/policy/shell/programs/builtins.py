"""Builtins that change the shell itself: its folder, its variables, whether it goes on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from controlplane.policy.shell.command import Call
from controlplane.policy.shell.lexical_path import enter, is_inside
from controlplane.policy.shell.options import spec
from controlplane.policy.shell.programs.wrappers import Special
from controlplane.policy.shell.result import UnclearError
from controlplane.policy.shell.state import Outcome, always
from controlplane.policy.shell.variables import vet_inert
from controlplane.policy.shell.word import Word

CD = spec("-L", "-*", marks="open")
READ = spec("-rs -p= -t= -n= -N= -d= -u= -a=", "-*")
LINES = spec("-t -n= -s= -d= -u=", "-*")
NAME = re.compile(r"[A-Za-z_]\w*")
SET_FLAG = re.compile(r"[-+]([eux]+o?|o)")
SET_NAMES = frozenset({"pipefail", "errexit", "nounset", "xtrace"})


def _cd(call: Call) -> Outcome:
    operands = call.parse(CD).operands
    if len(operands) > 1:
        raise UnclearError("cd with several folders")
    target = operands[0] if operands else Word("~", "~", *call.span, tilde=True)
    folders = _entered(call, target)
    return Outcome(replace(call.state, folders=folders), call.state, _is_certain(call, folders))


def _entered(call: Call, target: Word) -> tuple[str, ...] | None:
    """Where `cd target` leads from every possible folder; None when that cannot be known."""
    if target.value in (None, "", "-") or target.wild or call.state.folders is None:
        return None
    found = (enter(folder, target.value, call.scene.root) for folder in call.state.folders)
    return tuple(dict.fromkeys(found))


def _is_certain(call: Call, folders: tuple[str, ...] | None) -> bool:
    """Whether the folders are there: on disk, and nothing in this command has removed any."""
    scene = call.scene
    if not folders or not scene.on_disk or scene.removes or scene.has_unknown:
        return False
    return all(is_inside(folder) and scene.world.is_dir(folder) for folder in folders)


def _pushd(call: Call) -> Outcome:
    operands = call.parse(CD).operands
    if len(operands) != 1 or operands[0].prefix.startswith("+"):
        raise UnclearError("the folder stack is not known")
    old = call.state.folders
    folders = _entered(call, operands[0])
    stack = (*call.state.stack, old) if old is not None else ()
    inside = replace(call.state, folders=folders, stack=stack)
    return Outcome(inside, call.state, _is_certain(call, folders))


def _popd(call: Call) -> Outcome:
    if call.args:
        raise UnclearError("the folder stack is not known")
    *stack, folders = call.state.stack or (None,)
    outside = replace(call.state, folders=folders, stack=tuple(stack))
    return Outcome(outside, call.state, sure=folders is not None)


def _exit(call: Call) -> Outcome:
    """An argument that is not one number may keep the shell alive."""
    leaves = not call.args or (len(call.args) == 1 and re.fullmatch(r"\d+", call.args[0].value or ""))
    return always(call.state.gone() if leaves else call.state)


def _jump(call: Call) -> Outcome:
    """`break` and `continue`: what follows in the loop may be left out."""
    call.scene.jumps += 1
    return always(call.state)


def _read(call: Call) -> Outcome:
    """`read 'a[$(cmd)]'` runs cmd, so only plain names will do."""
    parsed = call.parse(READ)
    return _filled(call, (*parsed.operands, *parsed.values("-a")))


def _mapfile(call: Call) -> Outcome:
    """Lines into an array; `-C` runs a command."""
    return _filled(call, call.parse(LINES).operands)


def _filled(call: Call, names: Sequence[Word]) -> Outcome:
    state = call.state
    for word in names:
        if word.value is None or not NAME.fullmatch(word.value):
            raise UnclearError("a variable name that may run code", (word.start, word.end))
        vet_inert(word.value, (word.start, word.end))
        call.scene.filled_variables.add(word.value)
        state = state.with_constant(word.value, None)
    return always(state)


def _set(call: Call) -> Outcome:
    """Only the options that make a script stricter, or tell what it does."""
    given = [word.value or "?" for word in call.args]
    if not given or not all(SET_FLAG.fullmatch(one) or one in SET_NAMES for one in given):
        raise UnclearError("changes how the shell works")
    return always(call.state)


BUILTINS: Mapping[str, Special] = {
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
