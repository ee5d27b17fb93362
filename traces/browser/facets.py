"""Build facets and filter tokens: values with counts, and links that add or remove them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from controlplane.templatetags.meanings import find_meaning
from controlplane.templatetags.names import agent_title
from traces.browser.entry_counts import EntryCounts
from traces.browser.filters import TIME_RANGES, EntryFilters, Term
from traces.entries.mutation_class_check import RESERVED_REASONS
from traces.url_time import format_url_time

MAX_VALUES = 8
EMPTY_LABELS = {"intent": "no intent", "agent": "no agent", "folder": "no file"}


@dataclass(frozen=True, slots=True)
class Facet:
    """A list of values to filter by. `kind` limits it to one kind of entry."""

    title: str
    name: str
    kind: str = ""
    empty: bool = False  # whether to list entries without a value
    only: frozenset[str] = frozenset()  # the only values listed; empty for all

    def accepts(self, value: str) -> bool:
        return value in self.only if self.only else bool(value) or self.empty


FACETS = (
    Facet("Kind", "kind"),
    Facet("Decision", "outcome", kind="decision"),
    Facet("Denial reason", "reason", kind="decision"),
    Facet("Agent", "agent", empty=True),
    Facet("Intent", "intent", empty=True),
    Facet("Class", "outcome", kind="trace"),
    Facet("Computed class", "reason", kind="trace", only=RESERVED_REASONS),
    Facet("Folder", "folder", kind="trace"),
    Facet("Tool", "tool", kind="decision"),
)


def build_facets(counts: EntryCounts, filters: EntryFilters) -> list[dict[str, Any]]:
    """Return the facets that have values, most frequent values first."""
    facets = []
    for facet in FACETS:
        values = [
            (value, number)
            for value, number in counts.count_values(facet.name, facet.kind)
            if facet.accepts(value)
        ]
        largest = values[0][1] if values else 0
        items = [_build_item(facet, value, number, largest, filters) for value, number in values[:MAX_VALUES]]
        if items and not (len(items) == 1 and items[0]["label"] == EMPTY_LABELS.get(facet.name)):
            facets.append({"title": facet.title, "items": items, "more": max(0, len(values) - MAX_VALUES)})
    return facets


def build_filter_tokens(filters: EntryFilters) -> list[dict[str, Any]]:
    """Return the active filters, each with a link that removes it."""
    tokens = [
        _build_token(
            term.name,
            _name_value(term.name, term.value) if term.value else EMPTY_LABELS.get(term.name, "none"),
            filters.without_term(term),
            excluded=term.excluded,
        )
        for term in filters.terms
    ]
    if filters.session:
        tokens.append(_build_token("session", filters.session, replace(filters, session="")))
    if filters.path:
        tokens.append(_build_token("path", filters.path, replace(filters, path="")))
    if not filters.last and (filters.since or filters.until):
        tokens.append(_build_token("time", _format_time_range(filters), filters.with_time_range(None, None)))
    return tokens


def build_time_ranges(filters: EntryFilters) -> list[dict[str, Any]]:
    """Return the links to predefined time ranges, "All" first."""
    unbounded = filters.with_time_range(None, None)
    chosen = bool(filters.since or filters.until)
    return [{"label": "All", "url": unbounded.to_query_string(), "current": not chosen}] + [
        {
            "label": label,
            "url": replace(unbounded, last=label).to_query_string(),
            "current": filters.last == label,
        }
        for label in TIME_RANGES
    ]


def list_hidden_fields(filters: EntryFilters) -> list[tuple[str, str]]:
    """Return the filters that the search form passes along as hidden fields."""
    pairs = [(term.key, term.value) for term in filters.terms]
    pairs += [("session", filters.session), ("path", filters.path), ("last", filters.last)]
    if not filters.last:
        pairs += [("since", format_url_time(filters.since)), ("until", format_url_time(filters.until))]
    return [(name, value) for name, value in pairs if value]


def _build_item(facet: Facet, value: str, number: int, largest: int, filters: EntryFilters) -> dict[str, Any]:
    term = Term(facet.name, value)
    chosen = term in filters.terms
    return {
        "label": _format_label(facet, value),
        "outcome": value if facet.kind == "decision" and facet.name == "outcome" else "",
        "name": facet.name,
        "number": number,
        "share": max(1, round(100 * number / largest)),
        "current": chosen,
        "url": (filters.without_term(term) if chosen else filters.with_term(term)).to_query_string(),
        "exclude_url": filters.with_term(replace(term, excluded=True)).to_query_string(),
    }


def _format_label(facet: Facet, value: str) -> str:
    if not value:
        return EMPTY_LABELS.get(facet.name, "none")
    return _name_value(facet.name, value)


def _name_value(name: str, value: str) -> str:
    """Return a value of a filter as rows and badges name it."""
    if name == "agent":
        return agent_title(value)
    if name == "outcome":
        return str(find_meaning(value).word) or value
    return value.replace("_", " ") if name == "reason" else value


def _build_token(name: str, value: str, remaining: EntryFilters, *, excluded: bool = False) -> dict[str, Any]:
    return {"name": name, "value": value, "remove_url": remaining.to_query_string(), "excluded": excluded}


def _format_time_range(filters: EntryFilters) -> str:
    since, until = (
        format_url_time(time).replace("T", " ").removesuffix(":00Z")
        for time in (filters.since, filters.until)
    )
    return f"{since or 'the beginning'} to {until or 'now'} UTC"
