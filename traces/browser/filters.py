"""What somebody wants to see of the ledger, as it stands in an address and back again.

    ?kind=decision&outcome=deny&-agent=codex&folder=src/auth&since=…&until=…&last=24h&session=…&path=src/&q=…

A name may stand several times (any of the values), with a minus before it (none of them).
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

VALUED = ("kind", "outcome", "agent", "intent", "tool", "reason", "folder")
TEXTS = ("q", "session", "path")
SPANS: Mapping[str, timedelta] = {
    "15min": timedelta(minutes=15),
    "1h": timedelta(hours=1),
    "24h": timedelta(days=1),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
}
MAX_TERMS = 40
MAX_TEXT_LENGTH = 1000
FINE = timedelta(hours=12)  # a longer stretch of time begins and ends with a full hour
HOUR = timedelta(hours=1)
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
END = datetime(9000, 1, 1, tzinfo=UTC)


class Query(Protocol):
    """What this module needs of Django's QueryDict."""

    def getlist(self, key: str) -> Sequence[str | object]: ...


@dataclass(frozen=True, slots=True)
class Term:
    """One value of one of `VALUED`: entries that have it, or with `excluded` those that do not."""

    name: str
    value: str
    excluded: bool = False

    @property
    def key(self) -> str:
        return f"-{self.name}" if self.excluded else self.name


@dataclass(frozen=True, slots=True)
class Wanted:
    """`path` is a file, or a folder with all below it; `text` is looked for in ids, paths, tools and agents.

    `since` (included) and `until` (excluded) speak of when the ledger received an entry. `last` is the word
    that `since` was worked out from. `problems` say what was left out of the address as it could not be read.
    """

    terms: tuple[Term, ...] = ()
    text: str = ""
    session: str = ""
    path: str = ""
    since: datetime | None = None
    until: datetime | None = None
    last: str = ""
    problems: tuple[str, ...] = ()

    @property
    def counted(self) -> bool:
        """Whether the kept numbers can answer: values only, and time in full hours."""
        whole = all(moment is None or moment == _hour(moment) for moment in (self.since, self.until))
        return whole and not (self.text or self.session or self.path)

    def values(self, name: str, *, excluded: bool = False) -> tuple[str, ...]:
        return tuple(one.value for one in self.terms if one.name == name and one.excluded is excluded)

    def with_term(self, term: Term) -> Wanted:
        """With this value too; what said the opposite is dropped."""
        kept = tuple(one for one in self.terms if (one.name, one.value) != (term.name, term.value))
        return replace(self, terms=(*kept, term))

    def without(self, term: Term) -> Wanted:
        return replace(self, terms=tuple(one for one in self.terms if one != term))

    def within(self, since: datetime | None, until: datetime | None) -> Wanted:
        return replace(self, since=since, until=until, last="")

    def address(self, **more: object) -> str:
        """The query string, at least `?`."""
        pairs: list[tuple[str, object]] = [(one.key, one.value) for one in self.terms]
        pairs += [("q", self.text), ("session", self.session), ("path", self.path), ("last", self.last)]
        if not self.last:
            pairs += [("since", format_url_time(self.since)), ("until", format_url_time(self.until))]
        return "?" + urlencode([(name, value) for name, value in [*pairs, *more.items()] if value])


def read_wanted(query: Query, now: datetime) -> Wanted:
    """The filter in an address. What cannot be read is left out and told in `problems`."""
    texts = {name: _clean(next(iter(query.getlist(name)), "")) for name in (*TEXTS, "last", "since", "until")}
    problems: list[str] = []
    since, until = (_moment(name, texts[name], problems) for name in ("since", "until"))
    last = texts["last"]
    if last and last not in SPANS:
        problems.append(f"last: {last} is none of {', '.join(SPANS)}.")
        last = ""
    if since or until:
        last = ""
    if last:
        since = now - SPANS[last]
    if since and until and until <= since:
        problems.append("until: this is not after since.")
        until = None
    since, until = _whole_hours(since, until, now)
    return Wanted(
        _terms(query), texts["q"], texts["session"], texts["path"], since, until, last, tuple(problems)
    )


def _terms(query: Query) -> tuple[Term, ...]:
    found = [
        Term(name, _clean(value), excluded)
        for name in VALUED
        for excluded in (False, True)
        for value in query.getlist(f"-{name}" if excluded else name)
    ]
    return tuple(dict.fromkeys(found))[:MAX_TERMS]


def _clean(value: object) -> str:
    return str(value).replace("\x00", "").strip()[:MAX_TEXT_LENGTH]


def _moment(name: str, text: str, problems: list[str]) -> datetime | None:
    if not text:
        return None
    try:
        found = parse_datetime(text.replace(" ", "+") if "T" in text else text)
    except ValueError:
        found = None
    if found is None or not 1970 <= found.year < 9000:
        problems.append(f"{name}: {text} is not a time like 2026-02-21T10:30.")
        return None
    return found if timezone.is_aware(found) else timezone.make_aware(found)


def _whole_hours(
    since: datetime | None, until: datetime | None, now: datetime
) -> tuple[datetime | None, datetime | None]:
    if (until or now) - (since or BEGINNING) < FINE:
        return since, until
    return since and _hour(since), until and _hour(until + HOUR - timedelta(microseconds=1))


def _hour(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
