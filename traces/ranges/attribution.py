"""Attribute each line of a history to the recorded entry that wrote it, by checking claims against
versions.

A claim is proven by its hash in a version that added lines of its range: the first such version since the
entry was made. Lines that were there before belong to whoever wrote them, even if a later entry wrote the
complete file again. A claim that no such version proves is searched in the present text, and last in versions
before its time, because clocks differ and histories are rewritten.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from traces.ranges.line_diff import WorkLimit
from traces.ranges.lineage import (
    IN_PLACE,
    MAX_HASHED_BYTES,
    WINDOW_COST,
    Claim,
    HashedText,
    Lineage,
    is_checkable,
    trace_lines,
)
from traces.ranges.moved_blocks import count_letters
from traces.ranges.track_lines import FileVersion, LineHistory

CLOCK_PRECISION = 2  # seconds; a commit's time has no fractions
MAX_SEARCHED_VERSIONS = 4  # versions since the entry in which its lines are searched elsewhere in the file
MIN_DISTINCTIVE_LETTERS = 6  # of a range found elsewhere: a lone bracket is everywhere


@dataclass(frozen=True, slots=True)
class LineOwner:
    """The claim behind a line, and the number the line had when it was recorded; 0 if it is unknown."""

    key: int
    recorded_line: int


@dataclass(slots=True)
class Attribution:
    """`owners` by line id; `unproven` claims, and `unchecked` ones that could not be compared."""

    owners: dict[int, LineOwner] = field(default_factory=dict)
    unproven: list[int] = field(default_factory=list)
    unchecked: list[int] = field(default_factory=list)


def attribute_lines(
    versions: Sequence[FileVersion], history: LineHistory, claims: Sequence[Claim]
) -> Attribution:
    """Return the owners of the lines. Where claims overlap, the first has the line."""
    texts = [_AddedLines(version, new) for version, new in zip(versions, history.added, strict=True)]
    attribution, search = Attribution(), _ProofSearch(texts)
    remaining: list[Claim] = []
    for claim in claims:
        match = search.find_since(claim) if is_checkable(claim) else None
        if match is not None:
            _assign(attribution, texts, claim, *match)
        else:
            remaining.append(claim)
    # The present text before older versions: what still holds now needs no guess about clocks.
    found = trace_lines(b"".join(versions[-1].lines), remaining, max_hashed=MAX_HASHED_BYTES // 4)
    unmatched = {*found.changed, *found.unchecked}
    for claim in remaining:
        match = search.find_before(claim) if is_checkable(claim) and claim.key in unmatched else None
        if match is not None:
            _assign(attribution, texts, claim, *match)
            unmatched.discard(claim.key)
    _assign_present(attribution, texts[-1], history, found)
    unchecked = set(found.unchecked)
    attribution.unproven = [claim.key for claim in remaining if claim.key in unmatched - unchecked]
    attribution.unchecked = [claim.key for claim in remaining if claim.key in unmatched & unchecked]
    return attribution


class _AddedLines:
    """The text of a version, and the ids of the lines that it added, by index."""

    def __init__(self, version: FileVersion, added: dict[int, int]) -> None:
        self.timestamp = version.timestamp
        self.added = added
        self._version = version
        self._indexes = sorted(added)
        self._hashed_text: HashedText | None = None
        self._windows: dict[int, dict[str, list[int]]] = {}

    @property
    def hashed_text(self) -> HashedText:
        if self._hashed_text is None:
            self._hashed_text = HashedText(self._version.lines)
        return self._hashed_text

    def has_added_line(self, first: int, end: int) -> bool:
        """Whether one of the lines [first, end) was added here."""
        position = bisect_left(self._indexes, first)
        return position < len(self._indexes) and self._indexes[position] < end

    def proves(self, claim: Claim, work_limit: WorkLimit) -> bool:
        """Whether the claim's lines are as recorded and one was added here; False over the limit."""
        if claim.end > len(self._version.lines) or not self.has_added_line(claim.start - 1, claim.end):
            return False
        return bool(self.hashed_text.matches(claim, work_limit))

    def is_distinctive(self, first: int, length: int) -> bool:
        lines = self._version.lines[first : first + length]
        return count_letters(lines, MIN_DISTINCTIVE_LETTERS) >= MIN_DISTINCTIVE_LETTERS

    def list_window_starts(self, length: int) -> list[int]:
        """Return where windows of so many lines start that contain an added line, in order."""
        last = len(self._version.lines) - length
        starts: list[int] = []
        for index in self._indexes:
            begin = max(index - length + 1, starts[-1] + 1 if starts else 0)
            starts.extend(range(begin, min(index, last) + 1))
        return starts

    def hash_windows(self, length: int) -> dict[str, list[int]]:
        if length not in self._windows:
            starts_by_hash: dict[str, list[int]] = {}
            for first in self.list_window_starts(length):
                for window_hash in self.hashed_text.hash_window(first, length):
                    starts_by_hash.setdefault(window_hash, []).append(first)
            self._windows[length] = starts_by_hash
        return self._windows[length]

    def compute_cost(self, length: int) -> int:
        """Return how many bytes hashing these windows takes."""
        if length in self._windows or length > len(self._version.lines):
            return 0
        offsets = self.hashed_text.offsets
        starts = self.list_window_starts(length)
        return sum(2 * (offsets[first + length] - offsets[first]) + WINDOW_COST for first in starts)


Match = tuple[int, int]  # a version, and the index of the claim's first line there


class _ProofSearch:
    def __init__(self, versions: Sequence[_AddedLines]) -> None:
        self._versions = versions
        self._with_added = [index for index, text in enumerate(versions) if text.added]
        self._in_place_limit = WorkLimit(MAX_HASHED_BYTES // 4)
        self._search_limit = WorkLimit(MAX_HASHED_BYTES // 4)

    def find_since(self, claim: Claim) -> Match | None:
        """Find the proof since the claim was made: in its place, else elsewhere in the first few versions."""
        candidates = [index for index in self._with_added if self._is_since(index, claim)]
        for index in candidates:
            if self._versions[index].proves(claim, self._in_place_limit):
                return index, claim.start - 1
        return next(
            (
                match
                for index in candidates[:MAX_SEARCHED_VERSIONS]
                if (match := self._find_elsewhere(index, claim))
            ),
            None,
        )

    def find_before(self, claim: Claim) -> Match | None:
        """Find the proof in place in versions before the claim's time, newest first."""
        for index in reversed(self._with_added):
            if not self._is_since(index, claim) and self._versions[index].proves(claim, self._in_place_limit):
                return index, claim.start - 1
        return None

    def _find_elsewhere(self, index: int, claim: Claim) -> Match | None:
        version, length = self._versions[index], claim.end - claim.start + 1
        if self._search_limit.is_exhausted or not self._search_limit.consume(version.compute_cost(length)):
            return None
        starts = version.hash_windows(length).get(claim.content_hash, [])
        distinctive = [first for first in starts if version.is_distinctive(first, length)]
        if not distinctive:
            return None
        return index, min(distinctive, key=lambda first: abs(first - claim.start + 1))

    def _is_since(self, index: int, claim: Claim) -> bool:
        timestamp = self._versions[index].timestamp
        return timestamp is None or timestamp + CLOCK_PRECISION >= claim.timestamp


def _assign(
    attribution: Attribution, versions: Sequence[_AddedLines], claim: Claim, version: int, first: int
) -> None:
    added = versions[version].added
    for offset in range(claim.end - claim.start + 1):
        line_id = added.get(first + offset)
        if line_id is not None:
            # Only lines that this version added: those it kept belong to whoever wrote them.
            attribution.owners.setdefault(line_id, LineOwner(claim.key, claim.start + offset))


def _assign_present(
    attribution: Attribution, version: _AddedLines, history: LineHistory, lineage: Lineage
) -> None:
    """Assign lines that nobody owns yet by what the present text proves."""
    for line_range in lineage.ranges:
        first, length = line_range.start - 1, line_range.end - line_range.start + 1
        if line_range.key is None or (
            line_range.state != IN_PLACE and not version.is_distinctive(first, length)
        ):
            continue
        for line in range(line_range.start, line_range.end + 1):
            line_id = history.present[line - 1]
            if not any(ancestor in attribution.owners for ancestor in iterate_origins(history, line_id)):
                attribution.owners[line_id] = LineOwner(
                    line_range.key, line if line_range.state == IN_PLACE else 0
                )


def iterate_origins(history: LineHistory, line_id: int) -> Iterator[int]:
    """Yield a line and those that formatters made it from, newest first."""
    current: int | None = line_id
    while current is not None:
        yield current
        current = history.lines[current].reformatted_from
