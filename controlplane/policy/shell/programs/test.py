"""The words of `test` and `[`: which files they ask about, and which of them could turn it into a command.

`test -v 'a[$(cmd)]'` runs cmd, for bash evaluates the subscript. A word that is not known may turn out to be
that `-v`, and an unquoted one several words at once.
"""

from __future__ import annotations

from collections.abc import Sequence

from controlplane.policy.shell.command import ProgramCall
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.word import Word

FILE_TESTS = frozenset(f"-{letter}" for letter in "abcdefghkprstuwxGLNOS")
PAIR_TESTS = frozenset({"-nt", "-ot", "-ef"})
RUNNING = ("-v", "-R")


def check_test_words(words: Sequence[Word]) -> None:
    """Raises UnclearError where what is not known may become `-v` and a subscript."""
    for at, word in enumerate(words):
        turns = any(name.startswith(word.prefix) for name in RUNNING)
        if word.may_split or (word.has_wildcard and word.prefix[:1] in ("*", "?", "[", "-")):
            raise UnclearCommandError("may become a test that runs code", word.span)
        if word.value is None and turns and _may_run(words[at + 1 : at + 2]):
            raise UnclearCommandError("may become a test that runs code", word.span)


def _may_run(follower: Sequence[Word]) -> bool:
    """Whether what follows may hold a subscript: a known operator or name does not."""
    return any(word.value is None or "[" in word.value for word in follower)


def read_tested_files(call: ProgramCall, words: Sequence[Word]) -> None:
    """The files that `test` asks about. Whether a file that is not known exists tells little."""
    for at, word in enumerate(words):
        follower = words[at + 1] if at + 1 < len(words) else None
        if word.value in RUNNING and follower is not None:
            raise UnclearCommandError("a variable test may run code", word.span)
        if word.value in FILE_TESTS | PAIR_TESTS and follower is not None and follower.value:
            call.read(follower)
        if word.value in PAIR_TESTS and at and words[at - 1].value:
            call.read(words[at - 1])
