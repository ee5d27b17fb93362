"""The shells that may run a command. What they read differently is unknown, as far as it could matter."""

from __future__ import annotations

from collections.abc import Mapping

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
