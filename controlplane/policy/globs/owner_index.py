"""Which of many intents own a path, found by the folders on the way to it and not by asking all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import accumulate, takewhile

from controlplane.policy.globs.scope import Scope
from controlplane.policy.globs.syntax import Alternative, to_literal_name
from controlplane.policy.paths.canonical import fold_case


class OwnerIndex:
    """The scopes of a workspace's live intents. A scope is asked only where one of its patterns begins."""

    __slots__ = ("_at", "_fold")

    def __init__(self, scopes: Iterable[tuple[str, Scope]]) -> None:
        at: defaultdict[str, dict[str, Scope]] = defaultdict(dict)
        self._fold = False
        for intent_id, scope in scopes:
            self._fold |= scope.case_insensitive
            for alternative in scope.inclusions:
                at[_head(alternative)][intent_id] = scope
        self._at = dict(at)

    def find_owners(self, path: str, *, exclude: str | None) -> tuple[str, ...]:
        """The ids of the intents whose scope matches a canonical path, without the intent `but`."""
        found = {
            intent_id: None
            for head in self._ways(path)
            for intent_id, scope in self._at.get(head, {}).items()
            if intent_id != exclude and scope.matches(path)
        }
        return tuple(found)

    def _ways(self, path: str) -> Iterator[str]:
        own = fold_case(path) if self._fold else path
        yield ""
        yield from accumulate(own.split("/"), "{}/{}".format)


def _head(alternative: Alternative) -> str:
    """The path that an alternative names before its first wildcard."""
    return "/".join(name for name in takewhile(bool, map(to_literal_name, alternative)) if name)
