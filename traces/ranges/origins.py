"""Where the lines of a file come from, over its whole history: spans as in `traces.ranges.lineage`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from traces.ranges.attribution import Proven, chain, prove
from traces.ranges.line_diff import Budget
from traces.ranges.lineage import IN_PLACE, MOVED, REFORMATTED, UNCLAIMED, Claim, Lineage, Span, holds_nothing
from traces.ranges.track_lines import Followed, Version, follow

MAX_COMPARED = 600_000  # lines compared for one file, over all of its versions


@dataclass(frozen=True, slots=True)
class Traced:
    """`whole` is False when the bound was reached: then some lines are nobody's that could have been
    followed."""

    lineage: Lineage
    whole: bool


def trace_history(
    versions: Sequence[Version], claims: Sequence[Claim], *, compared_most: int = MAX_COMPARED
) -> Traced:
    """The origin of each line of the last version. Where claims meet, the first of them has the line.

    Never is a line given to a claim that did not hold for it in some version, as it is or but for its format.
    """
    budget = Budget(compared_most)
    followed = follow(versions, budget)
    proven = prove(versions, followed, claims)
    spans = tuple(_spans(followed, proven))
    shown = {span.key for span in spans} | {span.by for span in spans}
    lines = len(followed.present)
    changed = tuple(
        claim.key
        for claim in claims
        if claim.key not in shown and claim.key not in proven.unchecked and not holds_nothing(claim, lines)
    )
    return Traced(Lineage(len(followed.present), spans, changed, tuple(proven.unchecked)), not budget.spent)


def _spans(followed: Followed, proven: Proven) -> Iterator[Span]:
    origins = [_origin(followed, proven, index) for index in range(len(followed.present))]
    for (state, key, version, by), run in groupby(enumerate(origins, start=1), key=lambda pair: pair[1]):
        numbers = [number for number, _ in run]
        yield Span(numbers[0], numbers[-1], state, key, version, by)


def _origin(followed: Followed, proven: Proven, index: int) -> tuple[str, int | None, int, int | None]:
    """(state, claim, version, claim of who reformatted it) of one line: the oldest that is known of it."""
    now = followed.present[index]
    version = followed.nodes[now].version
    owned = [node for node in chain(followed, now) if node in proven.owners]
    if not owned:
        return UNCLAIMED, None, version, None
    first = proven.owners[owned[-1]]
    if owned[-1] != now:
        by = proven.owners.get(now)
        return REFORMATTED, first.key, version, by.key if by is not None and by.key != first.key else None
    return IN_PLACE if first.recorded == index + 1 else MOVED, first.key, version, None
