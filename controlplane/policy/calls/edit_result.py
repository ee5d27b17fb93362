"""What a call does to the text of one file, as far as anybody can know before it runs."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import re2

from controlplane.policy.model import Target
from controlplane.policy.paths.filesystem import Filesystem
from controlplane.policy.paths.raw_path import RawPath
from controlplane.policy.paths.resolve import ResolvedTarget

# Replacing is done on the real text only within these limits, in characters; beyond, its pieces are judged.
_MAX_RESULT = 8 * 1024 * 1024
_MAX_WORK = 64 * 1024 * 1024

# Normalising takes time by the square of the marks in a row: an identifier bears a few.
_MARKS = re2.compile(r"([\p{M}\x{FF9E}\x{FF9F}]{30})[\p{M}\x{FF9E}\x{FF9F}]+")

# What puts no text anywhere.
_WORDLESS = frozenset({"delete", "move", "mode", "folder"})
# A folder that is changed so takes its content along.
_WITH_CONTENT = frozenset({"delete", "move", "mode"})


@dataclass(frozen=True, slots=True)
class FileChange:
    """What a call does to one file: `after` takes the place of `before`, or of all where it is `whole`.
    `after` is None when nobody knows the text. `pieces` are the replacements one by one, in order."""

    path: str
    op: str
    before: str
    after: str | None
    is_full_text: bool
    replacements: tuple[tuple[str, str], ...] = ()

    @classmethod
    def from_raw_path(cls, named: RawPath, target: Target) -> FileChange:
        after = None if target.op in _WORDLESS else named.after
        return cls(target.path, target.op, named.before, after, named.is_full_text, named.replacements)

    def find_full_texts(self, world: Filesystem) -> tuple[str, str] | None:
        """The text of the whole file before and after, without carriage returns; None when not both are
        known. Every place that holds what is replaced counts: nobody knows which one a tool takes."""
        old = world.read_text(self.path)
        if self.after is None or old is None:
            return None
        old = normalize_newlines(old)
        new = normalize_newlines(self.after) if self.is_full_text else _replaced(old, self.replacements)
        return None if new is None else (old, new)

    def list_text_pairs(self, world: Filesystem) -> Iterator[tuple[str, str]]:
        """What was there and what will be, in each form in which it may be read: the whole file where it
        is known, else the pieces; and as it was sent, where lines end in another way."""
        after = self.after or ""
        known = None if self.is_full_text else self.find_full_texts(world)
        before, plainly = known or (
            "" if self.is_full_text else normalize_newlines(self.before),
            normalize_newlines(after),
        )
        yield before, plainly
        if not plainly.isascii():  # Python, for one, reads look-alike letters in names as the plain ones
            yield _looks(before), _looks(plainly)
        if self.path.casefold().endswith(".ipynb"):
            yield _cells(before), _cells(plainly)
        if "\r" in after:
            yield "" if self.is_full_text else self.before, after

    def count_lines(self, world: Filesystem) -> int:
        """How many lines the file will have; of an edit of a file that nobody knows, those that it writes.
        An edit may replace what it names many times, so each place that holds it counts."""
        old = None if self.is_full_text or self.after is None else world.read_text(self.path)
        if old is None:
            return _lines(self.after)
        change = self.find_full_texts(world)
        if change is not None:
            return _lines(change[1])
        places = max(1, old.count(self.before)) if self.before else 1
        return _lines(old) + places * (_lines(self.after) - _lines(self.before))

    def list_files(self, world: Filesystem) -> set[str]:
        """The files that are changed: of a folder that goes, all that is in it, where it is known."""
        below = world.list_files(self.path) if self.op in _WITH_CONTENT and world.is_dir(self.path) else None
        return {self.path} if below is None else set(below)


def list_file_changes(placed: ResolvedTarget) -> Iterator[FileChange]:
    """All that a call does at one place. Where it comes there several times, one thing after the other
    as well, because only together they may make what neither does alone."""
    # The same reading of an input, for another spelling of the path, is the same thing.
    told = {
        (id(n.replacements), n.before, n.after, n.op, n.is_full_text): n
        for n in (placed.raw_path, *placed.repeats)
    }
    every = tuple(told.values())
    yield from (FileChange.from_raw_path(named, placed.target) for named in every)
    if len(every) > 1:
        pieces = tuple(piece for named in every for piece in named.replacements)
        yield FileChange.from_raw_path(
            replace(placed.raw_path, is_full_text=False, replacements=pieces), placed.target
        )


@lru_cache(maxsize=4)
def normalize_newlines(text: str) -> str:
    """Without a byte order mark, each line ending in a line feed."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


@lru_cache(maxsize=4)
def _looks(text: str) -> str:
    """A text with look-alike letters as the plain ones."""
    few = _MARKS.sub(rb"\1", text.encode("utf-8", "replace")).decode()
    return unicodedata.normalize("NFKC", few)


@lru_cache(maxsize=4)
def _cells(notebook: str) -> str:
    """The sources of a notebook's cells, as a reader of the notebook sees them; "" for what is none."""
    try:
        cells = json.loads(notebook)["cells"]
        sources = [cell["source"] for cell in cells]
        return "\n".join(text if isinstance(text, str) else "".join(text) for text in sources)
    except (ValueError, TypeError, KeyError, RecursionError):
        return ""


@lru_cache(maxsize=4)
def _replaced(text: str, pieces: tuple[tuple[str, str], ...]) -> str | None:
    if not pieces or len(pieces) * len(text) > _MAX_WORK:
        return None
    for old, new in ((normalize_newlines(old), normalize_newlines(new)) for old, new in pieces):
        places = text.count(old) if old else 0
        if not places or len(text) + places * len(new) > _MAX_RESULT:
            return None
        text = text.replace(old, new)
    return text


@lru_cache(maxsize=4)
def _lines(text: str | None) -> int:
    return len((text or "").splitlines())
