"""What a call does to the text of one file, as far as anybody can know before it runs."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import re2

from controlplane.policy.model import Target
from controlplane.policy.paths.filesystem import World
from controlplane.policy.paths.raw_path import Named
from controlplane.policy.paths.resolve import Placed

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
class Written:
    """What a call does to one file: `after` takes the place of `before`, or of all where it is `whole`.
    `after` is None when nobody knows the text. `pieces` are the replacements one by one, in order."""

    path: str
    op: str
    before: str
    after: str | None
    whole: bool
    pieces: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, named: Named, target: Target) -> Written:
        after = None if target.op in _WORDLESS else named.after
        return cls(target.path, target.op, named.before, after, named.whole, named.pieces)

    def change(self, world: World) -> tuple[str, str] | None:
        """The text of the whole file before and after, without carriage returns; None when not both are
        known. Every place that holds what is replaced counts: nobody knows which one a tool takes."""
        old = world.text(self.path)
        if self.after is None or old is None:
            return None
        old = plain(old)
        new = plain(self.after) if self.whole else _replaced(old, self.pieces)
        return None if new is None else (old, new)

    def sides(self, world: World) -> Iterator[tuple[str, str]]:
        """What was there and what will be, in each form in which it may be read: the whole file where it
        is known, else the pieces; and as it was sent, where lines end in another way."""
        after = self.after or ""
        known = None if self.whole else self.change(world)
        before, plainly = known or ("" if self.whole else plain(self.before), plain(after))
        yield before, plainly
        if not plainly.isascii():  # Python, for one, reads look-alike letters in names as the plain ones
            yield _looks(before), _looks(plainly)
        if self.path.casefold().endswith(".ipynb"):
            yield _cells(before), _cells(plainly)
        if "\r" in after:
            yield "" if self.whole else self.before, after

    def lines(self, world: World) -> int:
        """How many lines the file will have; of an edit of a file that nobody knows, those that it writes.
        An edit may replace what it names many times, so each place that holds it counts."""
        old = None if self.whole or self.after is None else world.text(self.path)
        if old is None:
            return _lines(self.after)
        change = self.change(world)
        if change is not None:
            return _lines(change[1])
        places = max(1, old.count(self.before)) if self.before else 1
        return _lines(old) + places * (_lines(self.after) - _lines(self.before))

    def files(self, world: World) -> set[str]:
        """The files that are changed: of a folder that goes, all that is in it, where it is known."""
        below = world.below(self.path) if self.op in _WITH_CONTENT and world.is_dir(self.path) else None
        return {self.path} if below is None else set(below)


def written_of(placed: Placed) -> Iterator[Written]:
    """All that a call does at one place. Where it comes there several times, one thing after the other
    as well, because only together they may make what neither does alone."""
    # The same reading of an input, for another spelling of the path, is the same thing.
    told = {(id(n.pieces), n.before, n.after, n.op, n.whole): n for n in (placed.named, *placed.again)}
    every = tuple(told.values())
    yield from (Written.of(named, placed.target) for named in every)
    if len(every) > 1:
        pieces = tuple(piece for named in every for piece in named.pieces)
        yield Written.of(replace(placed.named, whole=False, pieces=pieces), placed.target)


@lru_cache(maxsize=4)
def plain(text: str) -> str:
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
    for old, new in ((plain(old), plain(new)) for old, new in pieces):
        places = text.count(old) if old else 0
        if not places or len(text) + places * len(new) > _MAX_RESULT:
            return None
        text = text.replace(old, new)
    return text


@lru_cache(maxsize=4)
def _lines(text: str | None) -> int:
    return len((text or "").splitlines())
