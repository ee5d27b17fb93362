"""Match commands with the policy's safe commands: `pytest`, `npm test`, `pytest *`."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from controlplane.policy.shell.word import Word


def is_safe_command(name: str, args: Sequence[Word], patterns: Sequence[str]) -> bool:
    """Return whether one of the patterns matches this simple command.

    A pattern is compared with the expanded arguments word by word, each word a glob of its own; a last
    word `*` matches any rest, an empty one too. Separators, redirects and substitutions are never part of
    a word's value, so a `*` cannot match any.
    """
    texts = [name]
    for word in args:
        if word.value is None or word.has_tilde:
            return False
        texts.append(word.value)
    return any(_matches(pattern.split(), texts) for pattern in patterns)


def _matches(pattern: list[str], texts: list[str]) -> bool:
    if not pattern or "*" in pattern[0]:
        return False  # it would let any program through
    if pattern[-1] == "*":
        pattern = pattern[:-1]
        texts = texts[: len(pattern)]
    pairs = zip(texts, pattern, strict=False)
    return len(texts) == len(pattern) and all(fnmatchcase(text, glob) for text, glob in pairs)
