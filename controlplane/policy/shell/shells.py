"""The shells that may run a command. What they read differently is unknown, as far as it could matter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

BASH, DASH, ZSH = "bash", "dash", "zsh"
Shells = frozenset[str]
ANY_SHELL: Shells = frozenset({BASH, DASH, ZSH})
ONLY_BASH: Shells = frozenset({BASH})
# `sh` is dash on Debian, and bash or zsh on a Mac.
SHELLS_BY_NAME: Mapping[str, Shells] = {
    "bash": ONLY_BASH,
    "dash": frozenset({DASH}),
    "zsh": frozenset({ZSH}),
    "sh": ANY_SHELL,
}
# A tool of this name runs the user's own shell, which on a Mac is zsh.
SHELLS_OF_BASH_TOOL: Shells = frozenset({BASH, ZSH})


@dataclass(frozen=True, slots=True)
class Reading:
    """What a shell makes of two kinds of words. What it does not know is plain text for it."""

    braces: bool = True  # `src/{a,b}` is two words
    escapes: bool = True  # `$'a\\tb'` holds a tab


AS_BASH = Reading()
