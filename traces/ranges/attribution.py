"""Which recorded entry wrote which line of a history: claims held against the versions of the file.

A claim is proven by its hash, in the version that brought lines of its range: the first such one since the
entry was made. What stood there before belongs to whoever wrote it, even where a later entry wrote the
whole file again. A claim that no such version proves is looked for in the present text, and last in
versions before its time, as clocks differ and histories are rewritten.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from traces.ranges.line_diff import Budget
from traces.ranges.lineage import (
    IN_PLACE,
    MAX_HASHED,
    WINDOW_COST,
    Claim,
    Hashed,
    Lineage,
    checkable,
    trace_lines,
)
from traces.ranges.moved_blocks import letters
from traces.ranges.track_lines import Followed, Version

CLOCK_SECONDS = 2  # a commit's time has no fractions
MAX_SEARCHED = 4  # versions since the entry in which its lines are looked for elsewhere in the file
TELLING_LEAST = 6  # letters of a range that is found in another place: a lone bracket is everywhere


@dataclass(frozen=True, slots=True)
class Owner:
    """The claim behind a node, and the number that its line had when it was recorded, or 0: another than
    now."""

    key: int
    recorded: int


@dataclass(slots=True)
class Proven:
    """`owners` by node. `loose` are claims that nothing proved, `unchecked` those that could not be held
    against it."""

    owners: dict[int, Owner] = field(default_factory=dict)
    loose: list[int] = field(default_factory=list)
    unchecked: list[int] = field(default_factory=list)


def prove(versions: Sequence[Version], followed: Followed, claims: Sequence[Claim]) -> Proven:
    """Who owns the nodes. Where claims meet, the first of them has the line."""
    texts = [_Brought(version, new) for version, new in zip(versions, followed.new, strict=True)]
    proven, search = Proven(), _Search(texts)
    left: list[Claim] = []
    for claim in claims:
        place = search.since(claim) if checkable(claim) else None
        if place is not None:
            _give(proven, texts, claim, *place)
        else:
            left.append(claim)
    found = trace_lines(b"".join(versions[-1].lines), left, hashed_most=MAX_HASHED // 4)
    absent = {*found.changed, *found.unchecked}
    for claim in left:
        place = search.before(claim) if checkable(claim) and claim.key in absent else None
        if place is not None:
            _give(proven, texts, claim, *place)
            absent.discard(claim.key)
    _give_present(proven, texts[-1], followed, found)
    unchecked = set(found.unchecked)
    proven.loose = [claim.key for claim in left if claim.key in absent - unchecked]
    proven.unchecked = [claim.key for claim in left if claim.key in absent & unchecked]
    return proven


class _Brought:
    """A version's text and the lines that it brought, by index, with their nodes."""

    def __init__(self, version: Version, new: dict[int, int]) -> None:
        self.seconds = version.seconds
        self.new = new
        self._version = version
        self._indexes = sorted(new)
        self._hashed: Hashed | None = None
        self._windows: dict[int, dict[str, list[int]]] = {}

    @property
    def hashed(self) -> Hashed:
        if self._hashed is None:
            self._hashed = Hashed(self._version.lines)
        return self._hashed

    def brought(self, first: int, end: int) -> bool:
        """Whether one of the lines [first, end) is new here."""
        at = bisect_left(self._indexes, first)
        return at < len(self._indexes) and self._indexes[at] < end

    def has(self, claim: Claim, budget: Budget) -> bool:
        """Whether the claim's own lines are as recorded, and one of them is new here; no, over the budget."""
        if claim.end > len(self._version.lines) or not self.brought(claim.start - 1, claim.end):
            return False
        return bool(self.hashed.has(claim, budget))

    def is_telling(self, first: int, length: int) -> bool:
        lines = self._version.lines[first : first + length]
        return letters(lines, TELLING_LEAST) >= TELLING_LEAST

    def starts(self, length: int) -> list[int]:
        """Where windows of so many lines begin that hold a new line, in order."""
        last = len(self._version.lines) - length
        found: list[int] = []
        for index in self._indexes:
            begin = max(index - length + 1, found[-1] + 1 if found else 0)
            found.extend(range(begin, min(index, last) + 1))
        return found

    def windows(self, length: int) -> dict[str, list[int]]:
        if length not in self._windows:
            found: dict[str, list[int]] = {}
            for first in self.starts(length):
                for text in self.hashed.window(first, length):
                    found.setdefault(text, []).append(first)
            self._windows[length] = found
        return self._windows[length]

    def cost(self, length: int) -> int:
        """Bytes that asking for these windows takes."""
        if length in self._windows or length > len(self._version.lines):
            return 0
        offsets = self.hashed.offsets
        starts = self.starts(length)
        return sum(2 * (offsets[first + length] - offsets[first]) + WINDOW_COST for first in starts)


Place = tuple[int, int]  # a version, and the index of the claim's first line there


class _Search:
    def __init__(self, texts: Sequence[_Brought]) -> None:
        self._texts = texts
        self._bringing = [at for at, text in enumerate(texts) if text.new]
        self._in_place = Budget(MAX_HASHED // 4)
        self._search = Budget(MAX_HASHED // 4)

    def since(self, claim: Claim) -> Place | None:
        """Where the claim is proven since it was made: in its place, else in another of the first few
        versions."""
        since = [at for at in self._bringing if self._is_since(at, claim)]
        for at in since:
            if self._texts[at].has(claim, self._in_place):
                return at, claim.start - 1
        return next((found for at in since[:MAX_SEARCHED] if (found := self._elsewhere(at, claim))), None)

    def before(self, claim: Claim) -> Place | None:
        """Where it is proven in its place in versions before its time, the newest first."""
        for at in reversed(self._bringing):
            if not self._is_since(at, claim) and self._texts[at].has(claim, self._in_place):
                return at, claim.start - 1
        return None

    def _elsewhere(self, at: int, claim: Claim) -> Place | None:
        text, length = self._texts[at], claim.end - claim.start + 1
        if self._search.spent or not self._search.take(text.cost(length)):
            return None
        places = text.windows(length).get(claim.content_hash, [])
        telling = [first for first in places if text.is_telling(first, length)]
        if not telling:
            return None
        return at, min(telling, key=lambda first: abs(first - claim.start + 1))

    def _is_since(self, at: int, claim: Claim) -> bool:
        seconds = self._texts[at].seconds
        return seconds is None or seconds + CLOCK_SECONDS >= claim.seconds


def _give(proven: Proven, texts: Sequence[_Brought], claim: Claim, version: int, first: int) -> None:
    new = texts[version].new
    for step in range(claim.end - claim.start + 1):
        node = new.get(first + step)
        if node is not None:
            proven.owners.setdefault(node, Owner(claim.key, claim.start + step))


def _give_present(proven: Proven, text: _Brought, followed: Followed, found: Lineage) -> None:
    """What the present text proves of claims that no version brought: lines that nobody has yet."""
    for span in found.spans:
        first, length = span.start - 1, span.end - span.start + 1
        if span.key is None or (span.state != IN_PLACE and not text.is_telling(first, length)):
            continue
        for line in range(span.start, span.end + 1):
            node = followed.present[line - 1]
            if not any(made in proven.owners for made in chain(followed, node)):
                proven.owners[node] = Owner(span.key, line if span.state == IN_PLACE else 0)


def chain(followed: Followed, node: int) -> Iterator[int]:
    """A node and those that formatters made it from, the newest first."""
    at: int | None = node
    while at is not None:
        yield at
        at = followed.nodes[at].made_from
