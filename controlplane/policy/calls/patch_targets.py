"""What the texts of patches name, and the patches that come as a shell command."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from controlplane.policy.calls import patch_formats
from controlplane.policy.model import Unknown
from controlplane.policy.paths.canonical import shown
from controlplane.policy.paths.raw_path import Found, Named

# Codex takes these for its own tool before any shell sees them.
_AGENT = "codex"
_HEREDOC = re.compile(r"\s*apply_patch\s*<<\s*(['\"])(\w+)\1[ \t]*\n(.*)\n\2\s*", re.DOTALL)
_SHELLS = (["bash", "-lc"], ["bash", "-c"], ["sh", "-c"], ["zsh", "-lc"])


def patch_in(command: Any, agent: str) -> str | None:
    """The patch that a command of Codex is, as a whole; None for any other command."""
    if agent != _AGENT:
        return None
    if isinstance(command, list) and len(command) == 2 and command[0] == "apply_patch":
        return command[1] if isinstance(command[1], str) else None
    if isinstance(command, list) and len(command) == 3 and command[:2] in _SHELLS:
        command = command[2]
    match = _HEREDOC.fullmatch(command) if isinstance(command, str) else None
    return None if match is None or match[2] in match[3].split("\n") else match[3]


def of_patches(given: Iterable[str], cwd: str | None) -> Found:
    found = Found()
    for text in given:
        patch = patch_formats.parse(text)
        moving = False
        for file in patch.files:
            named = Named(
                file.path,
                cwd,
                op=file.op,
                before="\n".join(file.before),
                after="\n".join(file.after),
                whole=file.whole,
                arrives=moving,
                pieces=file.pieces,
            )
            (found.reads if file.op == "read" else found.writes).append(named)
            moving = file.op == "move"
        if patch.why_unknown:
            found.unknown.append(Unknown(shown(text), patch.why_unknown))
    return found
