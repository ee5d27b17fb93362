"""Find which lines of a text still come from which recorded range, by hashes alone.

The hash of a range covers its own lines or, in the simple form of a trace, the complete file. Only what a
hash proves is claimed: lines without a matching hash have no author.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from traces.ranges.line_diff import WorkLimit

IN_PLACE = "in_place"
MOVED = "moved"
REFORMATTED = "reformatted"
UNCLAIMED = "unclaimed"
MAX_HASHED_BYTES = 64 * 1024 * 1024
WINDOW_COST = 512  # overhead of one window, in bytes

EMPTY_HASH = f"sha256:{hashlib.sha256(b'').hexdigest()}"
_NOT_FOUND = -1
_SHA256 = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Claim:
    """Lines that an entry says it wrote, 1-based and inclusive; `key` is the caller's name for it.

    `timestamp` is in seconds since 1970; only needed with a history.
    """

    key: int
    start: int
    end: int
    content_hash: str
    timestamp: float = 0


@dataclass(frozen=True, slots=True)
class OriginRange:
    """Consecutive lines of one origin. `key` is None, and the state UNCLAIMED, where no claim is proven.

    With a history, `version` is the index of the one that made the lines what they are, and `reformatted_by`
    the claim that explains REFORMATTED lines, if any does.
    """

    start: int
    end: int
    state: str
    key: int | None
    version: int | None = None
    reformatted_by: int | None = None


@dataclass(frozen=True, slots=True)
class Lineage:
    """The origin of every line. `ranges` cover each line once, in order.

    `changed` are claims whose lines are no longer as recorded; `unchecked` those with another kind of hash,
    or that could not be searched within the limit.
    """

    lines: int
    ranges: tuple[OriginRange, ...]
    changed: tuple[int, ...]
    unchecked: tuple[int, ...]


Origin = tuple[str, int | None]


def split_lines(content: bytes) -> tuple[bytes, ...]:
    """Split at line feeds only, keeping them: a lone carriage return ends no line, as in editors and git."""
    parts = content.split(b"\n")
    with_endings = [part + b"\n" for part in parts[:-1]]
    return tuple([*with_endings, parts[-1]] if parts[-1] else with_endings)


def trace_lines(content: bytes, claims: Sequence[Claim], *, max_hashed: int = MAX_HASHED_BYTES) -> Lineage:
    """Return the origin of each line. Where claims overlap, the first has the line: pass the newest first.

    At most `max_hashed` bytes are hashed in place, and as many in search of moved lines.
    """
    text = _SearchableText(split_lines(content), max_hashed)
    origins = _OriginMap(text.line_count)
    changed, unchecked = [], []
    for claim in claims:
        if claims_empty_file(claim, text.line_count):
            continue
        position = text.locate(claim) if is_checkable(claim) else None
        if position is not None and position >= 0:
            origins.assign(claim, position)
        elif position == _NOT_FOUND:
            changed.append(claim.key)
        else:
            unchecked.append(claim.key)
    return Lineage(text.line_count, tuple(_group_lines(origins.lines)), tuple(changed), tuple(unchecked))


class _OriginMap:
    """The origin of each line, assigned once.

    Assigned lines are skipped (union-find), however many claims overlap.
    """

    def __init__(self, lines: int) -> None:
        self.lines: list[Origin] = [(UNCLAIMED, None)] * lines
        self._next = list(range(lines + 1))

    def assign(self, claim: Claim, position: int) -> None:
        state = IN_PLACE if position == claim.start - 1 else MOVED
        end = position + claim.end - claim.start + 1
        while (position := self._find_free(position)) < end:
            self.lines[position] = (state, claim.key)
            self._next[position] = position + 1

    def _find_free(self, index: int) -> int:
        following = self._next
        while following[index] != index:
            following[index] = following[following[index]]
            index = following[index]
        return index


class HashedText:
    """Hash ranges of lines of a text."""

    def __init__(self, lines: Sequence[bytes]) -> None:
        self._content = b"".join(lines)
        self.offsets = [0]
        for line in lines:
            self.offsets.append(self.offsets[-1] + len(line))
        self._content_hashes = frozenset(_hash_variants(self._content))
        self._range_hashes: dict[tuple[int, int], tuple[str, ...]] = {}

    @property
    def line_count(self) -> int:
        return len(self.offsets) - 1

    def matches(self, claim: Claim, work_limit: WorkLimit) -> bool | None:
        """Whether the claim's lines, or the complete text, have its hash; None over the limit, in bytes."""
        first, end = claim.start - 1, claim.end
        if end > self.line_count:
            return False
        if claim.content_hash in self._content_hashes:
            return True
        if (first, end) not in self._range_hashes:
            if not work_limit.consume(2 * (self.offsets[end] - self.offsets[first])):
                return None
            self._range_hashes[first, end] = self.hash_window(first, end - first)
        return claim.content_hash in self._range_hashes[first, end]

    def hash_window(self, first: int, length: int) -> tuple[str, ...]:
        """Return the hashes of so many lines from index `first`."""
        return _hash_variants(self._content[self.offsets[first] : self.offsets[first + length]])


class _SearchableText(HashedText):
    """Find ranges anywhere in a text; windows of one length are hashed once."""

    def __init__(self, lines: Sequence[bytes], max_hashed: int) -> None:
        super().__init__(lines)
        self._work_limit = WorkLimit(max_hashed)
        self._bytes_left = max_hashed
        self._windows: dict[int, dict[str, int] | None] = {}

    def locate(self, claim: Claim) -> int | None:
        """Return the index of the claim's first line now, _NOT_FOUND, or None if it could not be searched."""
        is_match, length = self.matches(claim, self._work_limit), claim.end - claim.start + 1
        if is_match is not False:
            return claim.start - 1 if is_match else None
        if length > self.line_count:
            return _NOT_FOUND
        if length not in self._windows:
            self._windows[length] = self._hash_windows(length)
        positions = self._windows[length]
        return None if positions is None else positions.get(claim.content_hash, _NOT_FOUND)

    def _hash_windows(self, length: int) -> dict[str, int] | None:
        starts = range(self.line_count - length + 1)
        self._bytes_left -= WINDOW_COST * len(starts)  # before the sum below, which takes time as well
        if self._bytes_left < 0:
            return None
        cost = 2 * sum(self.offsets[first + length] - self.offsets[first] for first in starts)
        if cost > self._bytes_left:
            return None
        self._bytes_left -= cost
        positions: dict[str, int] = {}
        for first in starts:
            for window_hash in self.hash_window(first, length):
                positions.setdefault(window_hash, first)
        return positions


def _hash_variants(window: bytes) -> tuple[str, ...]:
    """Hash with and without the last line ending: senders disagree on whether it belongs to a range."""
    stripped = window.removesuffix(b"\n").removesuffix(b"\r")
    return tuple(f"sha256:{hashlib.sha256(text).hexdigest()}" for text in {window, stripped})


def claims_empty_file(claim: Claim, lines: int) -> bool:
    """Whether the text is empty, as the claim says: no line can show it, and nothing has changed."""
    return not lines and claim.content_hash == EMPTY_HASH


def is_checkable(claim: Claim) -> bool:
    """Whether the claim names lines and has a SHA-256."""
    return 1 <= claim.start <= claim.end and bool(_SHA256.fullmatch(claim.content_hash))


def _group_lines(origins: list[Origin]) -> Iterator[OriginRange]:
    for (state, key), run in groupby(enumerate(origins, start=1), key=lambda pair: pair[1]):
        numbers = [number for number, _ in run]
        yield OriginRange(numbers[0], numbers[-1], state, key)
