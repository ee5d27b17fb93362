"""Create directories, with their parents."""

from __future__ import annotations

from controlplane.policy.shell.program_call import ProgramCall
from controlplane.policy.shell.word import Word


def make_directory(call: ProgramCall, word: Word, *, parents: bool) -> None:
    """Record a directory, and with `parents` those above it that may be missing."""
    if parents:
        make_parents(call, word)
    call.write(word, "folder")
    call.recorder.created_directories.update(path.key for path in call.resolve(word))


def make_parents(call: ProgramCall, word: Word) -> None:
    """Record the directories above a path that may be missing."""
    for parent in list_parents(word):
        for path in call.resolve(parent):
            if call.recorder.may_be_missing(path):
                call.recorder.add_write(path, "folder", word.span)
                call.recorder.created_directories.add(path.key)


def list_parents(word: Word) -> list[Word]:
    """Return the parents of a path: `a/b`, then `a`, for `a/b/c`."""
    segments = (word.value or "").rstrip("/").split("/")
    texts = ["/".join(segments[:count]) for count in range(len(segments) - 1, 0, -1)]
    return [
        Word(text, text, word.start, word.end, word.has_wildcard, word.has_tilde)
        for text in texts
        if text.rpartition("/")[2] not in ("", ".", "..")
    ]
