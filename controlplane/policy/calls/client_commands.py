"""Recognise the one command of our own client that an agent may run unasked: waiting for a decision.

It only reads, and it is known by where it lies, not by its name. The path comes from the hook that sends the
call, so neither `PATH`, `HOME` nor a file of that name in the workspace can stand for it.
"""

from __future__ import annotations

import re

PROGRAM = re.compile(r"(?:/[\w.-]+)+/\.config/icp/bin/icp\.py")
APPROVAL_ID = re.compile(r"[0-9a-f]{32}")


def is_wait_command(command: str, program: str, root: str | None) -> bool:
    """Return whether a command line is the program's `wait APPROVAL`, and nothing else."""
    words = command.split(" ")
    if len(words) != 3 or words[:2] != [program, "wait"] or not APPROVAL_ID.fullmatch(words[2]):
        return False
    return is_trusted_program(program, root)


def is_trusted_program(program: str, root: str | None) -> bool:
    """Return whether a path can be that of the installed client: no shell reads it otherwise, and no agent
    of this workspace may write it."""
    if not PROGRAM.fullmatch(program) or "/../" in program or "/./" in program:
        return False
    return root is not None and not program.startswith(f"{root.rstrip('/')}/")
