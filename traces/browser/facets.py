"""Facets and filter tokens: what one can narrow the list by, with numbers and addresses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from traces.browser.entry_counts import Tally
from traces.browser.filters import SPANS, Term, Wanted
from traces.entries.mutation_class_check import RESERVED
from traces.url_time import format_url_time

MAX_VALUES = 8
NONE_WORDS = {"intent": "no intent", "agent": "not named", "folder": "no file"}


@dataclass(frozen=True, slots=True)
class Facet:
    """A list of values: the `name` of its filter, and, where it speaks of one kind of entry, which."""

    title: str
    name: str
    kind: str = ""
    empty: bool = False  # whether entries without a value are worth a line
    only: frozenset[str] = frozenset()  # the values that it speaks of; none of them: all

    def takes(self, value: str) -> bool:
        return value in self.only if self.only else bool(value) or self.empty


FACETS = (
    Facet("Kind", "kind"),
    Facet("Decision", "outcome", kind="decision"),
    Facet("Why not", "reason", kind="decision"),
    Facet("Agent", "agent", empty=True),
    Facet("Intent", "intent", empty=True),
    Facet("Class", "outcome", kind="trace"),
    Facet("Computed class", "reason", kind="trace", only=RESERVED),
    Facet("Folder", "folder", kind="trace"),
    Facet("Tool", "tool", kind="decision"),
)


def facets_of(tally: Tally, wanted: Wanted) -> list[dict[str, Any]]:
    """One list for each of `FACETS` that has something to tell, the commonest values first."""
    shown = []
    for facet in FACETS:
        values = [
            (value, number) for value, number in tally.facet(facet.name, facet.kind) if facet.takes(value)
        ]
        most = values[0][1] if values else 0
        items = [_item(facet, value, number, most, wanted) for value, number in values[:MAX_VALUES]]
        if items and not (len(items) == 1 and items[0]["label"] == NONE_WORDS.get(facet.name)):
            shown.append({"title": facet.title, "items": items, "more": max(0, len(values) - MAX_VALUES)})
    return shown


def tokens_of(wanted: Wanted) -> list[dict[str, Any]]:
    """What is filtered by, each with the address without it."""
    tokens = [
        _token(
            one.name,
            one.value or NONE_WORDS.get(one.name, "none"),
            wanted.without(one),
            excluded=one.excluded,
        )
        for one in wanted.terms
    ]
    if wanted.session:
        tokens.append(_token("session", wanted.session, replace(wanted, session="")))
    if wanted.path:
        tokens.append(_token("path", wanted.path, replace(wanted, path="")))
    if not wanted.last and (wanted.since or wanted.until):
        tokens.append(_token("time", _stretch(wanted), wanted.within(None, None)))
    return tokens


def spans_of(wanted: Wanted) -> list[dict[str, Any]]:
    """The ready-made stretches of time, `all` first."""
    everything = wanted.within(None, None)
    chosen = bool(wanted.since or wanted.until)
    return [{"label": "All", "url": everything.address(), "current": not chosen}] + [
        {"label": label, "url": replace(everything, last=label).address(), "current": wanted.last == label}
        for label in SPANS
    ]


def hidden_of(wanted: Wanted) -> list[tuple[str, str]]:
    """What the search form carries along besides its own fields."""
    pairs = [(one.key, one.value) for one in wanted.terms]
    pairs += [("session", wanted.session), ("path", wanted.path), ("last", wanted.last)]
    if not wanted.last:
        pairs += [("since", format_url_time(wanted.since)), ("until", format_url_time(wanted.until))]
    return [(name, value) for name, value in pairs if value]


def _item(facet: Facet, value: str, number: int, most: int, wanted: Wanted) -> dict[str, Any]:
    term = Term(facet.name, value)
    chosen = term in wanted.terms
    return {
        "label": _label(facet, value),
        "outcome": value if facet.kind == "decision" and facet.name == "outcome" else "",
        "name": facet.name,
        "number": number,
        "share": max(1, round(100 * number / most)),
        "current": chosen,
        "url": (wanted.without(term) if chosen else wanted.with_term(term)).address(),
        "exclude_url": wanted.with_term(replace(term, excluded=True)).address(),
    }


def _label(facet: Facet, value: str) -> str:
    if not value:
        return NONE_WORDS.get(facet.name, "none")
    return value.replace("_", " ") if facet.name == "reason" else value


def _token(name: str, value: str, without: Wanted, *, excluded: bool = False) -> dict[str, Any]:
    return {"name": name, "value": value, "remove_url": without.address(), "excluded": excluded}


def _stretch(wanted: Wanted) -> str:
    since, until = (
        format_url_time(moment).replace("T", " ").removesuffix(":00Z")
        for moment in (wanted.since, wanted.until)
    )
    return f"{since or 'the beginning'} to {until or 'now'} UTC"
