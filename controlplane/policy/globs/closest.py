"""Find the pattern that comes closest to a path, for a denial to point at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from controlplane.policy.globs.match import Matcher, build_matcher
from controlplane.policy.globs.parse import Glob
from controlplane.policy.globs.syntax import Alternative, Part, Wildcard, to_literal_name

# One segment of an alternative, compiled: a name, a matcher, or None for `**`.
SegmentPattern = str | Matcher | None

# How close a pattern is: segments shared from the left, from the right, minus its position (first wins ties).
Score = tuple[int, int, int]


class ClosestPattern:
    """The patterns of a scope, compiled once: a denied agent tries again.

    Most scopes are lists of directories, which are looked up and not walked through.
    """

    __slots__ = ("_directories", "_exclusions", "_other_patterns", "_patterns")

    def __init__(self, patterns: Iterable[tuple[str, Glob | None]]) -> None:
        self._patterns: list[str] = []
        self._exclusions: list[tuple[str, Matcher | None]] = []
        # Each prefix of the directory of a `directory/**`, with the position of the first such pattern.
        self._directories: dict[str, int] = {}
        self._other_patterns: list[tuple[int, list[SegmentPattern]]] = []
        for pattern, glob in patterns:
            if pattern.startswith("!"):
                self._exclusions.append((pattern, build_matcher(glob.alternatives) if glob else None))
            elif glob is not None:
                self._include(pattern, glob.alternatives)

    def _include(self, pattern: str, alternatives: Iterable[Alternative]) -> None:
        order = len(self._patterns)
        self._patterns.append(pattern)
        for alternative in alternatives:
            steps = [_to_segment_pattern(part) for part in alternative]
            names = [step for step in steps[:-1] if isinstance(step, str)]
            if steps[-1] is None and len(names) == len(steps) - 1:
                for directory in accumulate(names, "{}/{}".format):
                    self._directories.setdefault(directory, order)
            else:
                self._other_patterns.append((order, steps))

    def find(self, path: str) -> str | None:
        """Return the exclusion that matches a path, or one that cannot be parsed; else the inclusion that
        shares most segments from the left, then from the right. None when no inclusion shares any."""
        for pattern, excluded in self._exclusions:
            if excluded is None or excluded.matches(path):
                return pattern
        names = path.split("/")
        left, right, order = max(
            (*self._score_directories(path, names), *self._score_others(names)), default=(0, 0, 0)
        )
        return self._patterns[-order] if left or right else None

    def _score_directories(self, path: str, names: Sequence[str]) -> Iterator[Score]:
        prefix = path
        for depth in range(len(names), 0, -1):
            order = self._directories.get(prefix)
            if order is not None:
                yield depth, 0, -order
                return
            prefix = prefix[: -len(names[depth - 1]) - 1]

    def _score_others(self, names: Sequence[str]) -> Iterator[Score]:
        for order, steps in self._other_patterns:
            left = _count_from_left(steps, names)
            yield left, _count_from_right(steps[left:], names[left:]), -order


def _to_segment_pattern(part: Part) -> SegmentPattern:
    if isinstance(part, Wildcard):
        return None
    name = to_literal_name(part)
    return build_matcher(((part,),)) if name is None else name


def _count_from_right(steps: Sequence[SegmentPattern], names: Sequence[str]) -> int:
    return _count_from_left(steps[::-1], names[::-1]) if steps and names and steps[-1] is not None else 0


def _count_from_left(steps: Sequence[SegmentPattern], names: Sequence[str]) -> int:
    """Return how many segments of a path match, from the first on."""
    count = 0
    for step, name in zip(steps, names, strict=False):
        if step != name and (not isinstance(step, Matcher) or not step.matches(name)):
            break
        count += 1
    return count
