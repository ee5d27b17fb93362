"""Which lines of a text still come from which recorded range: values in, values out.

A range's hash speaks of the range's own lines or, in the simple form of a trace, of the whole file.
Only what a hash proves is said: lines that no hash explains are nobody's.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from traces.ranges.line_diff import Budget

IN_PLACE = "in_place"
MOVED = "moved"
REFORMATTED = "reformatted"
UNCLAIMED = "unclaimed"
MAX_HASHED = 64 * 1024 * 1024
WINDOW_COST = 512  # what looking at one window costs beside its bytes, in bytes

EMPTY = f"sha256:{hashlib.sha256(b'').hexdigest()}"
_NOWHERE = -1
_SHA256 = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Claim:
    """Lines that an entry says it wrote, 1-based and inclusive; `key` is the caller's name for it.

    `seconds` since 1970 say when; only who follows a history asks for them.
    """

    key: int
    start: int
    end: int
    content_hash: str
    seconds: float = 0


@dataclass(frozen=True, slots=True)
class Span:
    """Neighbouring lines of one origin. `key` is None, and the state UNCLAIMED, where no claim is proven.

    Where a history was followed, `version` is the index of the one in which the lines came to be as they
    are, and `by` the claim that says so of lines that were REFORMATTED, if any does.
    """

    start: int
    end: int
    state: str
    key: int | None
    version: int | None = None
    by: int | None = None


@dataclass(frozen=True, slots=True)
class Lineage:
    """`spans` cover every line once, in order. `changed` are claims whose lines are no more as recorded,
    `unchecked` those with a hash of another kind, or that could not be searched within the bound."""

    lines: int
    spans: tuple[Span, ...]
    changed: tuple[int, ...]
    unchecked: tuple[int, ...]


Origin = tuple[str, int | None]


def lines_of(content: bytes) -> tuple[bytes, ...]:
    """Lines by line feeds alone, each with its end: a lone carriage return ends none, as in editors and in
    git."""
    parts = content.split(b"\n")
    ended = [part + b"\n" for part in parts[:-1]]
    return tuple([*ended, parts[-1]] if parts[-1] else ended)


def trace_lines(content: bytes, claims: Sequence[Claim], *, hashed_most: int = MAX_HASHED) -> Lineage:
    """The origin of each line. Where claims meet, the first of them has the line: give the newest first.

    At most `hashed_most` bytes are hashed in place, and as many in search of moved lines.
    """
    text = _Text(lines_of(content), hashed_most)
    origins = _Origins(text.lines)
    changed, unchecked = [], []
    for claim in claims:
        if holds_nothing(claim, text.lines):
            continue
        place = text.place_of(claim) if checkable(claim) else None
        if place is not None and place >= 0:
            origins.give(claim, place)
        elif place == _NOWHERE:
            changed.append(claim.key)
        else:
            unchecked.append(claim.key)
    return Lineage(text.lines, tuple(_spans(origins.lines)), tuple(changed), tuple(unchecked))


class _Origins:
    """The origin of each line, given once. Lines that are given are skipped, however many claims meet."""

    def __init__(self, lines: int) -> None:
        self.lines: list[Origin] = [(UNCLAIMED, None)] * lines
        self._free = list(range(lines + 1))

    def give(self, claim: Claim, place: int) -> None:
        state = IN_PLACE if place == claim.start - 1 else MOVED
        end = place + claim.end - claim.start + 1
        while (place := self._next_free(place)) < end:
            self.lines[place] = (state, claim.key)
            self._free[place] = place + 1

    def _next_free(self, index: int) -> int:
        free = self._free
        while free[index] != index:
            free[index] = free[free[index]]
            index = free[index]
        return index


class Hashed:
    """A text whose lines can be asked for their hashes."""

    def __init__(self, lines: Sequence[bytes]) -> None:
        self._content = b"".join(lines)
        self.offsets = [0]
        for line in lines:
            self.offsets.append(self.offsets[-1] + len(line))
        self._whole = frozenset(_hashes(self._content))
        self._asked: dict[tuple[int, int], tuple[str, ...]] = {}

    @property
    def lines(self) -> int:
        return len(self.offsets) - 1

    def has(self, claim: Claim, budget: Budget) -> bool | None:
        """Whether the claim's lines, or the text as a whole, are as its hash says; None over the budget, in
        bytes."""
        first, end = claim.start - 1, claim.end
        if end > self.lines:
            return False
        if claim.content_hash in self._whole:
            return True
        if (first, end) not in self._asked:
            if not budget.take(2 * (self.offsets[end] - self.offsets[first])):
                return None
            self._asked[first, end] = self.window(first, end - first)
        return claim.content_hash in self._asked[first, end]

    def window(self, first: int, length: int) -> tuple[str, ...]:
        """The hashes of so many lines from index `first`."""
        return _hashes(self._content[self.offsets[first] : self.offsets[first + length]])


class _Text(Hashed):
    """A text that ranges are looked up in; the windows of one length are hashed once."""

    def __init__(self, lines: Sequence[bytes], hashed_most: int) -> None:
        super().__init__(lines)
        self._budget = Budget(hashed_most)
        self._left = hashed_most
        self._windows: dict[int, dict[str, int] | None] = {}

    def place_of(self, claim: Claim) -> int | None:
        """The index of the claim's first line now, _NOWHERE, or None when that could not be searched."""
        has, length = self.has(claim, self._budget), claim.end - claim.start + 1
        if has is not False:
            return claim.start - 1 if has else None
        if length > self.lines:
            return _NOWHERE
        if length not in self._windows:
            self._windows[length] = self._search(length)
        found = self._windows[length]
        return None if found is None else found.get(claim.content_hash, _NOWHERE)

    def _search(self, length: int) -> dict[str, int] | None:
        places = range(self.lines - length + 1)
        self._left -= WINDOW_COST * len(places)  # before the sum below, which takes its time as well
        if self._left < 0:
            return None
        cost = 2 * sum(self.offsets[first + length] - self.offsets[first] for first in places)
        if cost > self._left:
            return None
        self._left -= cost
        found: dict[str, int] = {}
        for first in places:
            for text in self.window(first, length):
                found.setdefault(text, first)
        return found


def _hashes(window: bytes) -> tuple[str, ...]:
    """Senders disagree on whether the last line's end belongs to a range, so both readings count."""
    bare = window.removesuffix(b"\n").removesuffix(b"\r")
    return tuple(f"sha256:{hashlib.sha256(text).hexdigest()}" for text in {window, bare})


def holds_nothing(claim: Claim, lines: int) -> bool:
    """Whether the text is empty now, as the claim says: no line can show it, and nothing has changed."""
    return not lines and claim.content_hash == EMPTY


def checkable(claim: Claim) -> bool:
    """Whether the claim names lines and has a hash of the kind that is compared here."""
    return 1 <= claim.start <= claim.end and bool(_SHA256.fullmatch(claim.content_hash))


def _spans(origins: list[Origin]) -> Iterator[Span]:
    for (state, key), run in groupby(enumerate(origins, start=1), key=lambda pair: pair[1]):
        numbers = [number for number, _ in run]
        yield Span(numbers[0], numbers[-1], state, key)
