"""Arguments of a command as the table looks at them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from controlplane.policy.effects import Effect
from controlplane.policy.shell.names import to_names
from controlplane.policy.shell.word import Word

# Names of options by which programs write elsewhere, or run what they are given.
_RISKY_OPTION = re.compile(
    r"exec|eval|command|script|config|output|^-?-?out|prefix|root|directory|cwd|shell|plugin|require|import|hook"
    r"|file|load|preload|init|include|run|editor|pager|proxy|socket|token|password|key|dest|target|store|save|log"
    r"|write|upload|data|env|path|^-[a-zA-Z]$",
    re.IGNORECASE,
)
PLAIN_FLAGS = to_names("-h -v -q -a -n -y -l -V")
_SCHEME = re.compile(r"[A-Za-z][\w+.-]*:")


@dataclass(frozen=True, slots=True)
class CommandKind:
    """What a command is. `kind` is "" for what only this very call can be approved as."""

    kind: str
    effect: Effect
    why: str
    writes: tuple[Word, ...] = ()  # files that it is known to write
    reads: tuple[Word, ...] = ()
    makes: tuple[Word, ...] = ()  # folders that it fills


@dataclass(frozen=True, slots=True)
class Arguments:
    """A program, its words and the root of the workspace on the agent's machine."""

    program: str
    words: tuple[Word, ...]
    root: str

    @property
    def values(self) -> Sequence[str | None]:
        return [word.value for word in self.words]

    def starts_with(self, words: Sequence[str]) -> bool:
        """Return whether these are the first words, the program's name among them."""
        own = [*self.program.split(), *(word.value for word in self.words[: len(words)])]
        return own[: len(words)] == list(words)

    def are_generic(self) -> bool:
        """Return whether no argument could be a path outside, or an option that writes or runs something."""
        for word in self.words:
            value = word.value
            if value is None or word.has_tilde or word.may_split or not is_plain(value):
                return False
            name, _, attached = value.partition("=")
            if value.startswith("-") and value not in {"-", "--"}:
                if _RISKY_OPTION.search(name) and name not in PLAIN_FLAGS:
                    return False
                value = attached
            if value and (_SCHEME.match(value) or not is_inner_path(value, self.root)):
                return False
        return True


def is_inner_path(value: str | None, root: str) -> bool:
    """Return whether a text, read as a path, stays in the workspace."""
    if not value or value.startswith("~") or "\\" in value or ":/" in value:
        return False
    if value.startswith("/"):
        if not root or (value != root and not value.startswith(f"{root}/")):
            return False
        value = value[len(root) :]
    return ".." not in value.split("/")


def is_plain(value: str) -> bool:
    """Return whether a text holds no control character."""
    return value.isprintable() or all(sign.isprintable() or sign in "\n\t" for sign in value)
