"""`test` and `[`: the files that they check, and the words that could make them run code.

`test -v 'a[$(cmd)]'` runs cmd, as bash evaluates the subscript. A word that is not known may turn out to be
that `-v`, and an unquoted one to be several words.
"""

from __future__ import annotations

from collections.abc import Sequence

from controlplane.policy.shell.program_call import ProgramCall
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.word import Word

FILE_TESTS = frozenset(f"-{letter}" for letter in "abcdefghkprstuwxGLNOS")
PAIR_TESTS = frozenset({"-nt", "-ot", "-ef"})
RUNNING = ("-v", "-R")


def check_test_words(words: Sequence[Word]) -> None:
    """Raise UnclearCommandError where words that are not known may become `-v` and a subscript."""
    for index, word in enumerate(words):
        may_be_option = any(name.startswith(word.prefix) for name in RUNNING)
        if word.may_split or (word.has_wildcard and word.prefix[:1] in ("*", "?", "[", "-")):
            raise UnclearCommandError("its value could be a test that runs code", word.span)
        if word.value is None and may_be_option and _may_run(words[index + 1 : index + 2]):
            raise UnclearCommandError("its value could be a test that runs code", word.span)


def _may_run(next_word: Sequence[Word]) -> bool:
    """Return whether the next word may hold a subscript."""
    return any(word.value is None or "[" in word.value for word in next_word)


def read_tested_files(call: ProgramCall, words: Sequence[Word]) -> None:
    """Record the files that are checked, as far as their names are known."""
    for index, word in enumerate(words):
        next_word = words[index + 1] if index + 1 < len(words) else None
        if word.value in RUNNING and next_word is not None:
            raise UnclearCommandError("a test of a variable may run code", word.span)
        if word.value in FILE_TESTS | PAIR_TESTS and next_word is not None and next_word.value:
            call.read(next_word)
        if word.value in PAIR_TESTS and index and words[index - 1].value:
            call.read(words[index - 1])
