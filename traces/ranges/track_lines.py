"""Track the lines of a file through its versions: where each of today's lines was added.

A line that is unchanged, or moved within the file as part of a block, stays the same line. A line that a
formatter rewrote is a new line that refers to the one it was made from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from traces.ranges.line_diff import WorkLimit, find_common_runs, list_hunks
from traces.ranges.moved_blocks import find_moved_blocks
from traces.ranges.reformatting import TokenizedLines, match_reformatted


@dataclass(frozen=True, slots=True)
class FileVersion:
    """A text of the file. `parents` are indexes of earlier versions.

    `timestamp` in seconds since 1970 is None for the working copy. `revision` is the commit, "" for what is
    not committed. `is_truncated`: older versions exist that were not read.
    """

    revision: str
    lines: tuple[bytes, ...]
    path: str
    parents: tuple[int, ...] = ()
    timestamp: int | None = None
    is_truncated: bool = False


@dataclass(frozen=True, slots=True)
class TrackedLine:
    """A line as it was added: in which version, at which index, and which line a formatter made it from."""

    version: int
    index: int
    reformatted_from: int | None = None


@dataclass(frozen=True, slots=True)
class LineHistory:
    """All tracked lines.

    `present` are the ids of the lines of the last version, `added` those that each version added, by index.
    """

    lines: list[TrackedLine]
    present: list[int]
    added: list[dict[int, int]]


def track_lines(versions: Sequence[FileVersion], work_limit: WorkLimit) -> LineHistory:
    """Track all lines from the first version to the last. Parents come before their children.

    Once the limit is reached, lines that differ in position count as new.
    """
    tracker = _LineTracker(versions, work_limit)
    for index in range(len(versions)):
        tracker.add_version(index)
    return LineHistory(tracker.tracked, tracker.line_ids[-1] if versions else [], tracker.added)


class _LineTracker:
    def __init__(self, versions: Sequence[FileVersion], work_limit: WorkLimit) -> None:
        self.versions = versions
        self.work_limit = work_limit
        self.tracked: list[TrackedLine] = []
        self.added: list[dict[int, int]] = [{} for _ in versions]
        self.line_ids: list[list[int]] = []
        line_numbers = _LineNumbers()
        self._texts = [[line_numbers[line] for line in version.lines] for version in versions]
        self._tokenized = [TokenizedLines(version.lines, version.path) for version in versions]

    def add_version(self, version: int) -> None:
        """Give each line of a version an id: its parent's if it is the same line, else a new one."""
        line_ids: list[int | None] = [None] * len(self._texts[version])
        reformatted_from: dict[int, int] = {}
        for parent in self.versions[version].parents:
            self._carry_over(parent, version, line_ids, reformatted_from)
        for index, line_id in enumerate(line_ids):
            if line_id is None:
                self.tracked.append(TrackedLine(version, index, reformatted_from.get(index)))
                line_ids[index] = self.added[version][index] = len(self.tracked) - 1
        self.line_ids.append([line_id for line_id in line_ids if line_id is not None])

    def _carry_over(
        self, parent: int, version: int, line_ids: list[int | None], reformatted_from: dict[int, int]
    ) -> None:
        before, after, parent_ids = self._texts[parent], self._texts[version], self.line_ids[parent]
        runs = find_common_runs(before, after, self.work_limit)
        hunks = list(list_hunks(runs, len(before), len(after)))
        moved = find_moved_blocks(before, after, hunks, self.versions[version].lines, self.work_limit)
        # Lines in place win over moved ones, and moved ones over reformatted ones.
        for run in [*runs, *moved]:
            _fill_unset(line_ids, run.after, parent_ids[run.before : run.before + run.length])
        for hunk in hunks:
            if hunk.a0 < hunk.a1 and hunk.b0 < hunk.b1:
                for b, a in match_reformatted(
                    self._tokenized[parent], self._tokenized[version], hunk, self.work_limit
                ):
                    # Equal text in a rewrapped statement is still the same line.
                    if line_ids[b] is None and before[a] == after[b]:
                        line_ids[b] = parent_ids[a]
                    reformatted_from.setdefault(b, parent_ids[a])


class _LineNumbers(dict[bytes, int]):
    """Number distinct lines; line endings do not count."""

    def __missing__(self, line: bytes) -> int:
        bare = line.removesuffix(b"\n").removesuffix(b"\r")
        number = self[line] = len(self) if bare == line else self[bare]
        return number


def _fill_unset(line_ids: list[int | None], start: int, new_ids: list[int]) -> None:
    """Set the ids of lines from `start` on that have none yet."""
    end = start + len(new_ids)
    if any(line_id is not None for line_id in line_ids[start:end]):
        current = line_ids[start:end]
        line_ids[start:end] = [new if old is None else old for old, new in zip(current, new_ids, strict=True)]
    else:
        line_ids[start:end] = new_ids
