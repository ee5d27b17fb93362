"""The pattern that comes closest to a path: what a refusal points at for its reader to look at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from controlplane.policy.globs.match import Matcher, build_matcher
from controlplane.policy.globs.parse import Glob
from controlplane.policy.globs.syntax import Alternative, Part, Wildcard, to_literal_name

# One segment of an alternative, ready to be compared: a name, a matcher, or None for `**`.
SegmentPattern = str | Matcher | None

# How well a pattern fits: segments shared from the left, then from the right; the first written wins a tie.
Fit = tuple[int, int, int]


class ClosestPattern:
    """The patterns of a scope, taken apart once: an agent that is refused tries again, and most scopes are
    lists of folders, which need no walk through all of them."""

    __slots__ = ("_excluding", "_folders", "_others", "_patterns")

    def __init__(self, patterns: Iterable[tuple[str, Glob | None]]) -> None:
        self._patterns: list[str] = []
        self._excluding: list[tuple[str, Matcher | None]] = []
        self._folders: dict[str, int] = {}  # each folder on the way to a `folder/**`: the first such pattern
        self._others: list[tuple[int, list[SegmentPattern]]] = []
        for pattern, glob in patterns:
            if pattern.startswith("!"):
                self._excluding.append((pattern, build_matcher(glob.alternatives) if glob else None))
            elif glob is not None:
                self._include(pattern, glob.alternatives)

    def _include(self, pattern: str, alternatives: Iterable[Alternative]) -> None:
        order = len(self._patterns)
        self._patterns.append(pattern)
        for alternative in alternatives:
            steps = [_step(part) for part in alternative]
            names = [step for step in steps[:-1] if isinstance(step, str)]
            if steps[-1] is None and len(names) == len(steps) - 1:
                for folder in accumulate(names, "{}/{}".format):
                    self._folders.setdefault(folder, order)
            else:
                self._others.append((order, steps))

    def find(self, path: str) -> str | None:
        """The exclusion that holds a path, or one that nobody can read; else the inclusion that shares most
        of the path from the left, then from the right. None when no inclusion shares anything."""
        for pattern, excluded in self._excluding:
            if excluded is None or excluded.matches(path):
                return pattern
        names = path.split("/")
        left, right, order = max(
            (*self._folder_fits(path, names), *self._other_fits(names)), default=(0, 0, 0)
        )
        return self._patterns[-order] if left or right else None

    def _folder_fits(self, path: str, names: Sequence[str]) -> Iterator[Fit]:
        at = path
        for depth in range(len(names), 0, -1):
            order = self._folders.get(at)
            if order is not None:
                yield depth, 0, -order
                return
            at = at[: -len(names[depth - 1]) - 1]

    def _other_fits(self, names: Sequence[str]) -> Iterator[Fit]:
        for order, steps in self._others:
            left = _run(steps, names)
            yield left, _from_the_right(steps[left:], names[left:]), -order


def _step(part: Part) -> SegmentPattern:
    if isinstance(part, Wildcard):
        return None
    name = to_literal_name(part)
    return build_matcher(((part,),)) if name is None else name


def _from_the_right(steps: Sequence[SegmentPattern], names: Sequence[str]) -> int:
    return _run(steps[::-1], names[::-1]) if steps and names and steps[-1] is not None else 0


def _run(steps: Sequence[SegmentPattern], names: Sequence[str]) -> int:
    """How many segments of a path fit, from the first."""
    count = 0
    for step, name in zip(steps, names, strict=False):
        if step != name and (not isinstance(step, Matcher) or not step.matches(name)):
            break
        count += 1
    return count
