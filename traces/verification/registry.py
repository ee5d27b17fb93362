"""The projections: tables whose rows follow from entries. Verification compares every registered one.

A new projection is registered in `traces.apps`: a `RebuiltRows` where its rows can be built again from a
body.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from django.utils.module_loading import import_string

from traces.ledger.append import read_body
from traces.models import LedgerEntry

ComparedRow = tuple[Any, ...]


class ProjectionCheck(Protocol):
    """Finds entries whose rows are not what the entry says. `table` names the rows in messages."""

    @property
    def table(self) -> str: ...

    def find_changes(
        self, entries: Sequence[LedgerEntry], redacted: Collection[int]
    ) -> Iterator[tuple[LedgerEntry, str]]:
        """Yield (entry, what differs). The entries come with their bodies, and are of any kind."""
        ...

    def find_strays(self, workspace_id: int) -> Iterator[str]:
        """Describe rows of the workspace that belong to no entry of it."""
        ...


@dataclass(frozen=True, slots=True)
class RebuiltRows:
    """A projection that is compared with rows built again from the body.

    `rebuild` takes an entry of `kinds` and its body; `load` returns the stored rows by entry. Both give them
    in one order. Entries without a body are left alone, but a redacted one may keep no row.
    """

    table: str
    kinds: frozenset[str]
    rebuild: Callable[[LedgerEntry, dict[str, Any]], list[ComparedRow]]
    load: Callable[[Sequence[int]], Mapping[int, list[ComparedRow]]]
    strays: Callable[[int], Iterator[str]] = lambda _: iter(())

    def find_changes(
        self, entries: Sequence[LedgerEntry], redacted: Collection[int]
    ) -> Iterator[tuple[LedgerEntry, str]]:
        stored = self.load([entry.pk for entry in entries])
        for entry in entries:
            rows = stored.get(entry.pk, [])
            try:
                body = read_body(entry) if entry.kind in self.kinds else None
                expected = self.rebuild(entry, body) if body is not None else []
            except (AttributeError, LookupError, TypeError, ValueError):
                continue  # the body is not the one that was recorded, which is reported as such
            if body is None and entry.kind in self.kinds and entry.pk not in redacted:
                continue  # archived: nothing here says what the rows were
            if rows != expected:
                yield entry, describe_difference(self.table, expected, rows)

    def find_strays(self, workspace_id: int) -> Iterator[str]:
        return self.strays(workspace_id)


def describe_difference(table: str, expected: Sequence[ComparedRow], stored: Sequence[ComparedRow]) -> str:
    if len(expected) != len(stored):
        return f"{table} has {len(stored)} rows of it, the entry gives {len(expected)}"
    return f"{table} holds other values than the entry gives"


_factories: dict[str, None] = {}  # dotted paths, in the order of registration


def register_projection(factory: str) -> None:
    """Register what builds a check, by its dotted path: commands that verify nothing do not import it."""
    _factories[factory] = None


def list_projections() -> list[ProjectionCheck]:
    return [import_string(factory)() for factory in _factories]
