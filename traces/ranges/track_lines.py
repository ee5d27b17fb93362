"""The lines of a file followed through its versions: where each of today's lines came into the file.

A line that stays as it is, or is moved within the file as part of a block, remains the line it was. A line
that a formatter rewrote is a new line that remembers the one it was made from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from traces.ranges.line_diff import Budget, common_runs, gaps_between
from traces.ranges.moved_blocks import moved_blocks
from traces.ranges.reformatting import Reader, variants


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
        numbers = _Numbers()
        self._texts = [[numbers[line] for line in version.lines] for version in versions]
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
        gaps = list(gaps_between(runs, len(before), len(after)))
        moved = moved_blocks(before, after, gaps, self.versions[at].lines, self.budget)
        for run in [*runs, *moved]:
            _fill(found, run.after, nodes[run.before : run.before + run.length])
        for gap in gaps:
            if gap.a0 < gap.a1 and gap.b0 < gap.b1:
                for b, a in variants(self._readers[parent], self._readers[at], gap, self.budget):
                    if found[b] is None and before[a] == after[b]:
                        found[b] = nodes[a]
                    made.setdefault(b, nodes[a])


class _Numbers(dict[bytes, int]):
    """One number for a text of a line; how it ends does not count."""

    def __missing__(self, line: bytes) -> int:
        bare = line.removesuffix(b"\n").removesuffix(b"\r")
        number = self[line] = len(self) if bare == line else self[bare]
        return number


def _fill(found: list[int | None], start: int, nodes: list[int]) -> None:
    """Give lines from `start` on these nodes, but for those that have one."""
    end = start + len(nodes)
    if any(node is not None for node in found[start:end]):
        known = found[start:end]
        found[start:end] = [new if old is None else old for old, new in zip(known, nodes, strict=True)]
    else:
        found[start:end] = nodes
