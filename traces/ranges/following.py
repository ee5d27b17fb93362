"""The lines of a file followed through its versions: where each of today's lines came into the file.

A line that stays as it is, or is moved within the file as part of a block, remains the line it was. A line
that a formatter rewrote is a new line that remembers the one it was made from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from traces.ranges.drift import Reader, variants
from traces.ranges.matching import Budget, Gap, Run, common_runs, gaps_between

MOVED_LEAST = 20  # letters and digits of a block, as in git: less than that is found in many places by chance
CANDIDATES_MOST = 16  # places from which a moved block may come

_LETTER = re.compile(rb"[0-9A-Za-z\x80-\xff]")


@dataclass(frozen=True, slots=True)
class Version:
    """A text of the file. `parents` are indexes of earlier versions; `seconds` since 1970, None for the
    present.

    `revision` is the commit's name, or "" for what is not committed. `cut` says that there are older
    versions which were not read.
    """

    revision: str
    lines: tuple[bytes, ...]
    path: str
    parents: tuple[int, ...] = ()
    seconds: int | None = None
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Node:
    """A line as it came into the file: in which version, at which index, and from which node a formatter
    made it."""

    version: int
    index: int
    made_from: int | None = None


@dataclass(frozen=True, slots=True)
class Followed:
    """`present` holds the node of each line of the last version; `new` those of each version that it
    brought."""

    nodes: list[Node]
    present: list[int]
    new: list[dict[int, int]]


def follow(versions: Sequence[Version], budget: Budget) -> Followed:
    """Follow all lines from the first version to the last. Parents come before their children.

    Once the budget is spent, lines that differ in place count as new.
    """
    work = _Following(versions, budget)
    for at in range(len(versions)):
        work.enter(at)
    return Followed(work.nodes, work.lines[-1] if versions else [], work.new)


class _Following:
    def __init__(self, versions: Sequence[Version], budget: Budget) -> None:
        self.versions = versions
        self.budget = budget
        self.nodes: list[Node] = []
        self.new: list[dict[int, int]] = [{} for _ in versions]
        self.lines: list[list[int]] = []
        self._known: dict[bytes, int] = {}
        self._texts = [[self._number(line) for line in version.lines] for version in versions]
        self._readers = [Reader(version.lines, version.path) for version in versions]

    def enter(self, at: int) -> None:
        """Give every line of a version its node: its parent's where it is the same line, else a new one."""
        found: list[int | None] = [None] * len(self._texts[at])
        made: dict[int, int] = {}
        for parent in self.versions[at].parents:
            self._carry(parent, at, found, made)
        for index, node in enumerate(found):
            if node is None:
                self.nodes.append(Node(at, index, made.get(index)))
                found[index] = self.new[at][index] = len(self.nodes) - 1
        self.lines.append([node for node in found if node is not None])

    def _carry(self, parent: int, at: int, found: list[int | None], made: dict[int, int]) -> None:
        before, after, nodes = self._texts[parent], self._texts[at], self.lines[parent]
        runs = common_runs(before, after, self.budget)
        for a, b in _pairs(runs):
            found[b] = nodes[a] if found[b] is None else found[b]
        gaps = list(gaps_between(runs, len(before), len(after)))
        for a, b in self._moved(parent, at, gaps):
            found[b] = nodes[a] if found[b] is None else found[b]
        for gap in gaps:
            if gap.a0 < gap.a1 and gap.b0 < gap.b1:
                for b, a in variants(self._readers[parent], self._readers[at], gap, self.budget):
                    if found[b] is None and before[a] == after[b]:
                        found[b] = nodes[a]
                    made.setdefault(b, nodes[a])

    def _moved(self, parent: int, at: int, gaps: Sequence[Gap]) -> Iterator[tuple[int, int]]:
        """(index before, index after) of lines in blocks that were taken out and stand elsewhere now."""
        before, after = self._texts[parent], self._texts[at]
        gone: dict[int, list[int]] = {}
        loose = {a for gap in gaps for a in range(gap.a0, gap.a1)}
        for a in sorted(loose):
            gone.setdefault(before[a], []).append(a)
        for gap in gaps:
            b = gap.b0
            while b < gap.b1:
                places = gone.get(after[b], [])[:CANDIDATES_MOST]
                block = self._longest(before, after, loose, [Gap(a, len(before), b, gap.b1) for a in places])
                if block.length and self._is_telling(at, b, block.length):
                    yield from _pairs([block])
                    loose.difference_update(range(block.before, block.before + block.length))
                b += max(1, block.length)

    def _longest(self, before: list[int], after: list[int], loose: set[int], starts: Sequence[Gap]) -> Run:
        """The longest block of loose lines that begins at one of these places, the first of equals."""
        best = Run(0, 0, 0)
        for gap in starts:
            a, b = gap.a0, gap.b0
            while b < gap.b1 and a in loose and before[a] == after[b] and self.budget.take(1):
                a, b = a + 1, b + 1
            if b - gap.b0 > best.length:
                best = Run(gap.a0, gap.b0, b - gap.b0)
        return best

    def _is_telling(self, at: int, start: int, length: int) -> bool:
        told = 0
        for index in range(start, start + length):
            told += len(_LETTER.findall(self.versions[at].lines[index]))
            if told >= MOVED_LEAST:
                return True
        return False

    def _number(self, line: bytes) -> int:
        """One number for a text of a line; how it ends does not count."""
        return self._known.setdefault(line.removesuffix(b"\n").removesuffix(b"\r"), len(self._known))


def _pairs(runs: Sequence[Run]) -> Iterator[tuple[int, int]]:
    return ((run.before + step, run.after + step) for run in runs for step in range(run.length))
