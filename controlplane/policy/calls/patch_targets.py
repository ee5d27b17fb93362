"""Find the files that patches name, and the patches that come as a shell command."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from controlplane.policy.calls import patch_formats
from controlplane.policy.calls.raw_targets import RawTargets
from controlplane.policy.model import Unknown
from controlplane.policy.paths.canonical import to_printable
from controlplane.policy.paths.raw_path import RawPath

# Codex takes a command of these forms for its own patch tool, before any shell sees it.
_AGENT = "codex"
_HEREDOC = re.compile(r"\s*apply_patch\s*<<\s*(['\"])(\w+)\1[ \t]*\n(.*)\n\2\s*", re.DOTALL)
_SHELLS = (["bash", "-lc"], ["bash", "-c"], ["sh", "-c"], ["zsh", "-lc"])


def extract_patch(command: Any, agent: str) -> str | None:
    """Return the patch where a command of Codex is a patch and nothing else; None for any other command."""
    if agent != _AGENT:
        return None
    if isinstance(command, list) and len(command) == 2 and command[0] == "apply_patch":
        return command[1] if isinstance(command[1], str) else None
    if isinstance(command, list) and len(command) == 3 and command[:2] in _SHELLS:
        command = command[2]
    match = _HEREDOC.fullmatch(command) if isinstance(command, str) else None
    # A line that is the delimiter ends the heredoc early, and a shell runs what follows it.
    return None if match is None or match[2] in match[3].split("\n") else match[3]


def find_patch_targets(patches: Iterable[str], cwd: str | None) -> RawTargets:
    """Return the files of patches, and each patch that cannot be read as unknown."""
    targets = RawTargets()
    for text in patches:
        patch = patch_formats.parse(text)
        follows_move = False
        for file in patch.files:
            raw_path = RawPath(
                file.path,
                cwd,
                op=file.op,
                before="\n".join(file.before),
                after="\n".join(file.after),
                is_full_text=file.is_full_text,
                is_move_destination=follows_move,
                replacements=file.replacements,
            )
            (targets.reads if file.op == "read" else targets.writes).append(raw_path)
            follows_move = file.op == "move"
        if patch.unreadable_reason:
            targets.unknown.append(Unknown(to_printable(text), patch.unreadable_reason))
    return targets
