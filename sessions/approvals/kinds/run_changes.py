"""What waits of a contained run, in pages, and which of it a person lets land."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sessions.errors import InvalidGrantError
from sessions.models import Approval

PAGE_FILES = 50  # on one page of a card; those of the other pages are decided together
NOTHING_CHOSEN = "patterns: none of the changes is chosen. Choose at least one, or reject."


def list_held(approval: Approval) -> list[str]:
    """Return the paths that wait, in the order of the report."""
    return list(approval.call.get("offending", ()))


def list_approved(approval: Approval) -> list[str]:
    """Return the paths that may land; none before somebody has approved."""
    if approval.status != Approval.Status.APPROVED:
        return []
    return approval.patterns or list_held(approval)


def count_pages(approval: Approval) -> int:
    return max(1, -(-len(list_held(approval)) // PAGE_FILES))


def bound_page(approval: Approval, page: int) -> int:
    """Return the page that is shown for the number in an address."""
    return min(max(1, page), count_pages(approval))


def slice_page(values: list[Any], page: int) -> list[Any]:
    return values[(page - 1) * PAGE_FILES : page * PAGE_FILES]


def choose_paths(
    approval: Approval, ticked: Collection[str], page: int, *, others: bool
) -> tuple[str, ...] | None:
    """Return the choice of a form that shows one page: what is ticked there, and the other pages as one.

    None for everything that waits.
    """
    held = list_held(approval)
    shown = set(slice_page(held, page))
    if others and shown <= set(ticked):
        return None
    return tuple(path for path in held if (path in ticked if path in shown else others))


def validate_choice(approval: Approval, paths: tuple[str, ...] | None) -> tuple[str, ...]:
    """Return which changes may land, none named for all of them. Raise InvalidGrantError."""
    if paths is None:
        return ()
    if not paths:
        raise InvalidGrantError(NOTHING_CHOSEN)
    unknown = sorted(set(paths).difference(list_held(approval)))
    if unknown:
        raise InvalidGrantError(f"patterns: {unknown[0]} is none of the changes that wait.")
    return paths
