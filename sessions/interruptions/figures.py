"""Figures on interruptions: how often people are asked, by what, how it ends, how long agents wait."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date

from sessions.interruptions.asks import Ask, list_asks
from sessions.models import AgentSession, Approval
from traces.counts.decisions import DecisionFilters, count_decisions_by_day

DECIDED = (Approval.Status.APPROVED, Approval.Status.REJECTED)


@dataclass(frozen=True, slots=True)
class KindFigures:
    """The questions that one kind of command (or reason) raised."""

    kind: str
    effect: str
    asks: int
    approved: int
    rejected: int
    people: int  # who decided
    median_seconds: float | None
    by_day: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DayFigures:
    day: date
    calls: int
    asks: int

    @property
    def rate(self) -> float | None:
        return 100 * self.asks / self.calls if self.calls else None


@dataclass(frozen=True, slots=True)
class InterruptionFigures:
    """Everything about one interval. Rates are None where nothing was counted."""

    calls: int
    asks: int
    sessions: int
    quiet_sessions: int
    approved: int
    rejected: int
    expired: int
    median_seconds: float | None
    total_seconds: float
    days: tuple[DayFigures, ...]
    kinds: tuple[KindFigures, ...]
    effects: tuple[tuple[str, int], ...]
    agents: tuple[tuple[str, int], ...]
    intents: tuple[tuple[str, int], ...]

    @property
    def per_100_calls(self) -> float | None:
        return 100 * self.asks / self.calls if self.calls else None

    @property
    def per_session(self) -> float | None:
        return self.asks / self.sessions if self.sessions else None

    @property
    def share_approved(self) -> float | None:
        decided = self.approved + self.rejected
        return self.approved / decided if decided else None

    @property
    def percent_approved(self) -> int | None:
        return None if self.share_approved is None else round(100 * self.share_approved)

    @property
    def median_milliseconds(self) -> int | None:
        return to_milliseconds(self.median_seconds)

    @property
    def total_milliseconds(self) -> int:
        return round(1000 * self.total_seconds)


def to_milliseconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(1000 * seconds)


def compute_figures(filters: DecisionFilters) -> InterruptionFigures:
    """Return the figures of an interval. At most 9 queries."""
    asks, calls_by_day = list_asks(filters), count_decisions_by_day(filters)
    sessions = _count_sessions(filters)
    status = Counter(ask.status for ask in asks)
    seconds = [ask.seconds for ask in asks if ask.seconds is not None]
    days = _list_days(filters, asks, calls_by_day)
    asked_sessions = {ask.session_id for ask in asks}
    return InterruptionFigures(
        calls=sum(calls_by_day.values()),
        asks=len(asks),
        sessions=max(sessions, len(asked_sessions)),
        quiet_sessions=max(0, sessions - len(asked_sessions)),
        approved=status[Approval.Status.APPROVED],
        rejected=status[Approval.Status.REJECTED],
        expired=status[Approval.Status.EXPIRED],
        median_seconds=statistics.median(seconds) if seconds else None,
        total_seconds=sum(seconds),
        days=days,
        kinds=_list_kinds(asks, [day.day for day in days]),
        effects=_count(asks, lambda ask: ask.effects),
        agents=_count(asks, lambda ask: (ask.agent,)),
        intents=_count(asks, lambda ask: (ask.intent_id,)),
    )


def _count_sessions(filters: DecisionFilters) -> int:
    rows = AgentSession.objects.filter(
        workspace_id=filters.workspace_id, opened_at__lt=filters.until, last_seen_at__gte=filters.since
    )
    if filters.agent:
        rows = rows.filter(agent_name=filters.agent)
    if filters.intent_id:
        rows = rows.filter(selected_intent_id=filters.intent_id)
    return rows.count()


def _list_days(
    filters: DecisionFilters, asks: Iterable[Ask], calls_by_day: dict[date, int]
) -> tuple[DayFigures, ...]:
    asks_by_day = Counter(ask.requested_at.date() for ask in asks)
    first, last = filters.since.date().toordinal(), filters.until.date().toordinal()
    days = map(date.fromordinal, range(first, last + 1))
    return tuple(DayFigures(day, calls_by_day.get(day, 0), asks_by_day[day]) for day in days)


def _list_kinds(asks: Iterable[Ask], days: list[date]) -> tuple[KindFigures, ...]:
    """Return the kinds that asked, most frequent first. A question of several kinds counts for each."""
    by_kind: defaultdict[tuple[str, str], list[Ask]] = defaultdict(list)
    for ask in asks:
        for part in dict.fromkeys(ask.parts):
            by_kind[part].append(ask)
    rows = [_summarize(kind, effect, items, days) for (kind, effect), items in by_kind.items()]
    return tuple(sorted(rows, key=lambda row: (-row.asks, row.kind)))


def _summarize(kind: str, effect: str, asks: list[Ask], days: list[date]) -> KindFigures:
    seconds = [ask.seconds for ask in asks if ask.seconds is not None]
    by_day = Counter(ask.requested_at.date() for ask in asks)
    status = Counter(ask.status for ask in asks)
    return KindFigures(
        kind=kind,
        effect=effect,
        asks=len(asks),
        approved=status[Approval.Status.APPROVED],
        rejected=status[Approval.Status.REJECTED],
        people=len({ask.decider for ask in asks if ask.status in DECIDED}),
        median_seconds=statistics.median(seconds) if seconds else None,
        by_day=tuple(by_day[day] for day in days),
    )


def _count(asks: Iterable[Ask], read_names: Callable[[Ask], Iterable[str]]) -> tuple[tuple[str, int], ...]:
    return tuple(Counter(name for ask in asks for name in read_names(ask)).most_common())
