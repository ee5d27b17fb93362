"""Making folders, and the folders on the way to them."""

from __future__ import annotations

from controlplane.policy.shell.command import Call
from controlplane.policy.shell.word import Word


def make_folder(call: Call, word: Word, *, parents: bool) -> None:
    """A folder, and the folders on the way to it that may be missing."""
    if parents:
        make_parents(call, word)
    call.write(word, "folder")
    call.scene.folders_made.update(path.key for path in call.places(word))


def make_parents(call: Call, word: Word) -> None:
    """The folders above a path that may be missing."""
    for parent in parents_of(word):
        for path in call.places(parent):
            if call.scene.may_be_missing(path):
                call.scene.add_write(path, "folder", (word.start, word.end))
                call.scene.folders_made.add(path.key)


def parents_of(word: Word) -> list[Word]:
    """`a/b`, then `a`, for `a/b/c`."""
    segments = (word.value or "").rstrip("/").split("/")
    texts = ["/".join(segments[:count]) for count in range(len(segments) - 1, 0, -1)]
    return [
        Word(text, text, word.start, word.end, word.wild, word.tilde)
        for text in texts
        if text.rpartition("/")[2] not in ("", ".", "..")
    ]
