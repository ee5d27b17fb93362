"""Index scopes by directory, to find the intents that own a path without asking all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import accumulate, takewhile

from controlplane.policy.globs.scope import Scope
from controlplane.policy.globs.syntax import Alternative, to_literal_name
from controlplane.policy.paths.canonical import fold_case


class OwnerIndex:
    """The scopes of a workspace's live intents, by the literal start of each of their patterns."""

    __slots__ = ("_ignore_case", "_scopes_by_head")

    def __init__(self, scopes: Iterable[tuple[str, Scope]]) -> None:
        by_head: defaultdict[str, dict[str, Scope]] = defaultdict(dict)
        self._ignore_case = False
        for intent_id, scope in scopes:
            self._ignore_case |= scope.case_insensitive
            for alternative in scope.inclusions:
                by_head[_find_literal_head(alternative)][intent_id] = scope
        self._scopes_by_head = dict(by_head)

    def find_owners(self, path: str, *, exclude: str | None) -> tuple[str, ...]:
        """Return the ids of the intents whose scope matches a canonical path, all but `exclude`."""
        owners = {
            intent_id: None
            for head in self._list_prefixes(path)
            for intent_id, scope in self._scopes_by_head.get(head, {}).items()
            if intent_id != exclude and scope.matches(path)
        }
        return tuple(owners)

    def _list_prefixes(self, path: str) -> Iterator[str]:
        normalized = fold_case(path) if self._ignore_case else path
        yield ""
        yield from accumulate(normalized.split("/"), "{}/{}".format)


def _find_literal_head(alternative: Alternative) -> str:
    """Return the path that an alternative names before its first wildcard."""
    return "/".join(name for name in takewhile(bool, map(to_literal_name, alternative)) if name)
