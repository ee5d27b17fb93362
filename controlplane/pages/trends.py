"""What has changed over time, for the overview: decisions by day and outcome, contested files, reviewers."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from django.db.models import Count, Max, Sum
from django.utils import timezone

from controlplane.models import Workspace
from sessions.approvals.history.filters import HistoryFilters
from sessions.approvals.history.reviewers import ReviewerFigures, compute_reviewer_figures
from traces.models import EntryCount, EntryKind, FileCount

DAYS = 14
DAY_SECONDS = 24 * 3600
WIDTH, HEIGHT = 560, 120
OUTCOMES = ("allow", "ask", "deny")  # from the bottom of a bar
MAX_FILES = 6
MAX_REVIEWERS = 6


@dataclass(frozen=True, slots=True)
class BarPart:
    outcome: str
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class DayBar:
    """The decisions of one day (UTC), with the rectangles that draw them."""

    day: date
    x: float
    width: float
    counts: dict[str, int]
    parts: tuple[BarPart, ...]

    @property
    def total(self) -> int:
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class ContestedFile:
    path: str
    intents: int
    last_changed: datetime


def load_decision_bars(workspace_id: int, now: datetime) -> list[DayBar]:
    """Return a bar for each of the last days, [] without a decision in them. 1 query."""
    first = now.astimezone(UTC).date() - timedelta(days=DAYS - 1)
    start = int(datetime(first.year, first.month, first.day, tzinfo=UTC).timestamp())
    rows = EntryCount.objects.filter(
        workspace_id=workspace_id, span=DAY_SECONDS, kind=EntryKind.DECISION, bucket__gte=start
    ).order_by()
    by_day: defaultdict[date, dict[str, int]] = defaultdict(dict)
    for bucket, outcome, number in rows.values_list("bucket", "outcome").annotate(number=Sum("entries")):
        by_day[datetime.fromtimestamp(bucket, UTC).date()][outcome] = number
    most = max((sum(counts.values()) for counts in by_day.values()), default=0)
    days = [first + timedelta(days=offset) for offset in range(DAYS)]
    return [_build_bar(index, day, by_day[day], most) for index, day in enumerate(days)] if most else []


def list_contested_files(workspace_id: int, now: datetime) -> list[ContestedFile]:
    """Return files that were changed under several intents, one of them in the last days. 1 query."""
    since = int((now - timedelta(days=DAYS)).timestamp() * 1_000_000)
    rows = FileCount.objects.filter(workspace_id=workspace_id).exclude(intent_id="").order_by()
    grouped = rows.values_list("path").annotate(intents=Count("pk"), last=Max("last_changed"))
    contested = grouped.filter(intents__gt=1, last__gte=since).order_by("-intents", "-last")[:MAX_FILES]
    return [
        ContestedFile(path, intents, datetime.fromtimestamp(last / 1_000_000, UTC))
        for path, intents, last in contested
    ]


def list_reviewer_load(workspace: Workspace, own_name: str | None) -> list[ReviewerFigures]:
    """Return who decided how much in the last week; only `own_name` where that is given. 1 query."""
    rows = HistoryFilters(range="7d").apply(workspace.pk, timezone.now())
    return compute_reviewer_figures(rows, own_name=own_name)[:MAX_REVIEWERS]


def _build_bar(index: int, day: date, counts: dict[str, int], most: int) -> DayBar:
    step = WIDTH / DAYS
    parts, bottom = [], float(HEIGHT)
    for outcome in OUTCOMES:
        height = round(HEIGHT * counts.get(outcome, 0) / most, 1)
        bottom = round(bottom - height, 1)
        if height:
            parts.append(BarPart(outcome, bottom, height))
    shown = {outcome: counts.get(outcome, 0) for outcome in OUTCOMES}
    return DayBar(day, round(index * step, 1), round(step * 0.7, 1), shown, tuple(parts))
