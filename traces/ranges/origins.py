"""Find where the lines of a file come from, over its complete history; ranges as in
`traces.ranges.lineage`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from traces.ranges.attribution import Attribution, attribute_lines, iterate_origins
from traces.ranges.line_diff import WorkLimit
from traces.ranges.lineage import (
    IN_PLACE,
    MOVED,
    REFORMATTED,
    UNCLAIMED,
    Claim,
    Lineage,
    OriginRange,
    claims_empty_file,
)
from traces.ranges.track_lines import FileVersion, LineHistory, track_lines

MAX_COMPARED_LINES = 600_000  # lines compared for one file, over all of its versions


@dataclass(frozen=True, slots=True)
class FileLineage:
    """The lineage of a file.

    `is_complete` is False when a limit was reached: then some lines have no author that could have been
    tracked.
    """

    lineage: Lineage
    is_complete: bool


def trace_history(
    versions: Sequence[FileVersion], claims: Sequence[Claim], *, max_compared: int = MAX_COMPARED_LINES
) -> FileLineage:
    """Return the origin of each line of the last version. Where claims overlap, the first has the line.

    A line never goes to a claim that did not hold for it in some version, as it is or reformatted.
    """
    work_limit = WorkLimit(max_compared)
    history = track_lines(versions, work_limit)
    attribution = attribute_lines(versions, history, claims)
    ranges = tuple(_group_lines(history, attribution))
    visible = {line_range.key for line_range in ranges} | {line_range.reformatted_by for line_range in ranges}
    lines = len(history.present)
    changed = tuple(
        claim.key
        for claim in claims
        if claim.key not in visible
        and claim.key not in attribution.unchecked
        and not claims_empty_file(claim, lines)
    )
    return FileLineage(
        Lineage(len(history.present), ranges, changed, tuple(attribution.unchecked)),
        not work_limit.is_exhausted,
    )


def _group_lines(history: LineHistory, attribution: Attribution) -> Iterator[OriginRange]:
    origins = [_find_origin(history, attribution, index) for index in range(len(history.present))]
    for (state, key, version, reformatted_by), run in groupby(
        enumerate(origins, start=1), key=lambda pair: pair[1]
    ):
        numbers = [number for number, _ in run]
        yield OriginRange(numbers[0], numbers[-1], state, key, version, reformatted_by)


def _find_origin(
    history: LineHistory, attribution: Attribution, index: int
) -> tuple[str, int | None, int, int | None]:
    """Return (state, claim, version, claim of the reformatting) of a line: the oldest known origin."""
    line_id = history.present[index]
    version = history.lines[line_id].version
    owned_ids = [ancestor for ancestor in iterate_origins(history, line_id) if ancestor in attribution.owners]
    if not owned_ids:
        return UNCLAIMED, None, version, None
    first = attribution.owners[owned_ids[-1]]
    if owned_ids[-1] != line_id:
        reformatted_by = attribution.owners.get(line_id)
        return (
            REFORMATTED,
            first.key,
            version,
            reformatted_by.key if reformatted_by is not None and reformatted_by.key != first.key else None,
        )
    return IN_PLACE if first.recorded_line == index + 1 else MOVED, first.key, version, None
