"""Parse the filters of the trace list from a query string, and write them back.

    ?kind=decision&outcome=deny&-agent=codex&folder=src/auth&since=…&until=…&last=24h&session=…&path=src/&q=…

A name may occur several times (any of the values); with a leading minus it excludes values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Protocol
from urllib.parse import urlencode

from django.utils import timezone
from django.utils.dateparse import parse_datetime

from traces.url_time import format_url_time

VALUE_FIELDS = ("kind", "outcome", "agent", "intent", "tool", "reason", "folder")
TEXT_FIELDS = ("q", "session", "path")
TIME_RANGES: Mapping[str, timedelta] = {
    "15min": timedelta(minutes=15),
    "1h": timedelta(hours=1),
    "24h": timedelta(days=1),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
}
MAX_TERMS = 40
MAX_TEXT_LENGTH = 1000
MAX_EXACT_RANGE = timedelta(hours=12)  # a longer range is rounded to full hours
HOUR = timedelta(hours=1)
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
END = datetime(9000, 1, 1, tzinfo=UTC)


class QueryParams(Protocol):
    """The part of Django's QueryDict that is needed here."""

    def getlist(self, key: str) -> Sequence[str | object]: ...


@dataclass(frozen=True, slots=True)
class Term:
    """One value of one of `VALUE_FIELDS`; `excluded` keeps entries that do not have it."""

    name: str
    value: str
    excluded: bool = False

    @property
    def key(self) -> str:
        return f"-{self.name}" if self.excluded else self.name


@dataclass(frozen=True, slots=True)
class EntryFilters:
    """What the trace list is filtered by.

    `path` is a file, or a directory with everything below it. `text` is searched in ids, paths, commands,
    tools and agents. `since` (inclusive) and `until` (exclusive) compare with the time at which the ledger
    received an entry; `last` is the name in `TIME_RANGES` that `since` was computed from. `errors` name the
    parameters that were ignored, and why.
    """

    terms: tuple[Term, ...] = ()
    text: str = ""
    session: str = ""
    path: str = ""
    since: datetime | None = None
    until: datetime | None = None
    last: str = ""
    errors: tuple[str, ...] = ()

    @property
    def is_precounted(self) -> bool:
        """Whether stored counts can answer: only values, and times on full hours."""
        in_full_hours = all(time is None or time == _floor_to_hour(time) for time in (self.since, self.until))
        return in_full_hours and not (self.text or self.session or self.path)

    @property
    def match_all_new(self) -> bool:
        """Whether every entry that is appended from now on passes."""
        return not (self.terms or self.text or self.session or self.path or self.until)

    def values(self, name: str, *, excluded: bool = False) -> tuple[str, ...]:
        return tuple(term.value for term in self.terms if term.name == name and term.excluded is excluded)

    def with_term(self, term: Term) -> EntryFilters:
        """Return these filters with the term, without its opposite."""
        others = tuple(other for other in self.terms if (other.name, other.value) != (term.name, term.value))
        return replace(self, terms=(*others, term))

    def without_term(self, term: Term) -> EntryFilters:
        return replace(self, terms=tuple(other for other in self.terms if other != term))

    def with_time_range(self, since: datetime | None, until: datetime | None) -> EntryFilters:
        return replace(self, since=since, until=until, last="")

    def to_query_string(self, **extra: object) -> str:
        """Return the query string with its leading `?`."""
        pairs: list[tuple[str, object]] = [(term.key, term.value) for term in self.terms]
        pairs += [("q", self.text), ("session", self.session), ("path", self.path), ("last", self.last)]
        if not self.last:
            pairs += [("since", format_url_time(self.since)), ("until", format_url_time(self.until))]
        return "?" + urlencode([(name, value) for name, value in [*pairs, *extra.items()] if value])


def parse_filters(query: QueryParams, now: datetime) -> EntryFilters:
    """Parse query parameters. Those that are not valid are ignored and reported in `errors`."""
    texts = {
        name: _clean(next(iter(query.getlist(name)), "")) for name in (*TEXT_FIELDS, "last", "since", "until")
    }
    errors: list[str] = []
    since, until = (_parse_time(name, texts[name], errors) for name in ("since", "until"))
    last = texts["last"]
    if last and last not in TIME_RANGES:
        errors.append(f"last: {last} must be one of {', '.join(TIME_RANGES)}.")
        last = ""
    if since or until:
        last = ""  # explicit times win over a predefined range
    if last:
        since = now - TIME_RANGES[last]
    if since and until and until <= since:
        errors.append("until: must be later than since.")
        until = None
    since, until = _round_to_hours(since, until, now)
    return EntryFilters(
        _parse_terms(query), texts["q"], texts["session"], texts["path"], since, until, last, tuple(errors)
    )


def _parse_terms(query: QueryParams) -> tuple[Term, ...]:
    terms = [
        Term(name, _clean(value), excluded)
        for name in VALUE_FIELDS
        for excluded in (False, True)
        for value in query.getlist(f"-{name}" if excluded else name)
    ]
    return tuple(dict.fromkeys(terms))[:MAX_TERMS]


def _clean(value: object) -> str:
    return str(value).replace("\x00", "").strip()[:MAX_TEXT_LENGTH]


def _parse_time(name: str, text: str, errors: list[str]) -> datetime | None:
    if not text:
        return None
    try:
        time = parse_datetime(
            text.replace(" ", "+") if "T" in text else text
        )  # "+" decodes to a space in URLs
    except ValueError:
        time = None
    if time is None or not 1970 <= time.year < 9000:
        errors.append(f"{name}: {text} must be a time such as 2026-02-21T10:30.")
        return None
    return time if timezone.is_aware(time) else timezone.make_aware(time)


def _round_to_hours(
    since: datetime | None, until: datetime | None, now: datetime
) -> tuple[datetime | None, datetime | None]:
    """Round a long range to full hours, so that stored counts can answer it."""
    if (until or now) - (since or BEGINNING) < MAX_EXACT_RANGE:
        return since, until
    return since and _floor_to_hour(since), until and _floor_to_hour(until + HOUR - timedelta(microseconds=1))


def _floor_to_hour(time: datetime) -> datetime:
    return time.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
