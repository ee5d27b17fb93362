"""From a decoded simple command to its effects."""

from __future__ import annotations

from dataclasses import replace

from controlplane.policy.shell.command import Call
from controlplane.policy.shell.programs.builtins import BUILTINS
from controlplane.policy.shell.programs.registry import PROGRAMS, program_name
from controlplane.policy.shell.programs.windows import CMDLETS
from controlplane.policy.shell.programs.wrappers import WRAPPERS
from controlplane.policy.shell.result import UnclearError
from controlplane.policy.shell.safe_commands import is_listed
from controlplane.policy.shell.state import Outcome, always

SPECIAL = {**WRAPPERS, **BUILTINS}


def run(call: Call) -> Outcome:
    """Judge one command; raises UnclearError for what is not known to be understood."""
    call = replace(call, name=program_name(call.name))
    if not call.scene.passes_variables and is_listed(call.name, call.args, call.scene.safe_commands):
        return _listed(call)
    return _dispatch(call)


def _listed(call: Call) -> Outcome:
    """The workspace vouches for this command; files that it is known to write still count."""
    scene = call.scene
    mark = scene.mark()
    try:
        outcome = _dispatch(call)
    except UnclearError:
        outcome = always(call.state)
    scene.forget_unknown(mark)
    scene.ran = True
    return outcome


def _dispatch(call: Call) -> Outcome:
    special = SPECIAL.get(call.name)
    if special is not None:
        return special(call)
    entry = PROGRAMS.get(call.name) or CMDLETS.get(call.name.lower())
    if entry is None:
        call.scene.ran = True
        raise UnclearError(f"what {call.name[:40]} does is not known")
    if entry.verdict == "runs":
        call.scene.ran = True
    entry.judge(call)
    return always(call.state)
