"""Whether two shapes are the same but for names, each called otherwise wherever it is meant.

Scopes make pairs, and each name of one scope has one other name in the other: what logic calls equal up to
renaming. A name that is found in no scope belongs to somebody outside and stays. So does a member (`.x`)
that no class of this file defines.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from traces.mutation_class.languages.grammar import Naming, Role, ScopeKind
from traces.mutation_class.normal_form import Scope, Shape, Shaped
from traces.mutation_class.parse import Budget

Pairs = set[tuple[str, str]]


class Verdict(Enum):
    SAME = "same"
    DIFFERENT = "different"
    UNCLEAR = "unclear"


@dataclass(slots=True)
class _Seen:
    """What a walk through both shapes has found. Names are (scope before, name before, name after)."""

    partners: dict[Scope, Scope] = field(default_factory=dict)
    leaves: list[tuple[Shape, Shape, Scope | None]] = field(default_factory=list)


def compared(before: Shaped, after: Shaped, naming: Naming, budget: Budget) -> Verdict:
    """Their children have been put in order, where that says nothing."""
    seen = _walk(before.root, after.root, budget)
    if seen is None:
        return Verdict.DIFFERENT
    if all(one.text == other.text for one, other, _ in seen.leaves):
        return Verdict.SAME
    if not naming.known:
        return Verdict.DIFFERENT if _contradicts(seen) else Verdict.UNCLEAR
    return Verdict.SAME if _Renaming(before, after, naming, seen).holds() else Verdict.DIFFERENT


def _walk(one: Shape, other: Shape, budget: Budget) -> _Seen | None:
    """Side by side; None where they differ in more than names."""
    seen = _Seen()
    waiting: list[tuple[Shape, Shape, Scope | None]] = [(one, other, None)]
    while waiting:
        left, right, unit = waiting.pop()
        budget.spend()
        alike = (left.kind, left.role, len(left.kids)) == (right.kind, right.role, len(right.kids))
        if not alike or (left.text != right.text and left.role in {"", Role.EXTERNAL}):
            return None
        if left.scope and right.scope:
            seen.partners[left.scope] = right.scope
            unit = left.scope if left.scope.kind == ScopeKind.FUNCTION else unit
        if left.role:
            seen.leaves.append((left, right, unit))
        waiting.extend((a, b, unit) for a, b in zip(left.kids, right.kids, strict=True))
    return seen


def _contradicts(seen: _Seen) -> bool:
    """Whether some function calls one thing by two names, or by a name that was another's before."""
    there: dict[Scope | None, Pairs] = {}
    for one, other, unit in seen.leaves:
        there.setdefault(unit, set()).add((one.text, other.text))
    old = {unit: {one for one, _ in pairs} for unit, pairs in there.items()}
    fresh = all(new not in old[unit] for unit, pairs in there.items() for _, new in _changed(pairs))
    return not fresh or not all(_is_bijection(pairs) for pairs in there.values())


def _is_bijection(pairs: Pairs) -> bool:
    return len({one for one, _ in pairs}) == len({other for _, other in pairs}) == len(pairs)


class _Renaming:
    """The names of both sides, sorted by what they can mean."""

    def __init__(self, before: Shaped, after: Shaped, naming: Naming, seen: _Seen) -> None:
        self.before, self.after, self.naming, self.seen = before, after, naming, seen
        self.names: dict[Scope, Pairs] = {}
        self.members: Pairs = set()
        self.keywords: Pairs = set()

    def holds(self) -> bool:
        if not all(self._take(one, other) for one, other, _ in self.seen.leaves):
            return False
        scopes = all(self._holds_in(scope, pairs) for scope, pairs in self.names.items())
        return scopes and self._members_hold() and self._keywords_hold()

    def _take(self, one: Shape, other: Shape) -> bool:
        """False where the two names mean things of different scopes."""
        if one.role == Role.KEYWORD:
            self.keywords.add((one.text, other.text))
        if one.role in {Role.MEMBER, Role.NAME_AND_MEMBER}:
            self.members.add((one.text, other.text))
        if one.role in {Role.MEMBER, Role.KEYWORD}:
            return True
        here, there = self._meant(one), self._meant(other)
        if here is None or there is None:
            return here is there and one.text == other.text
        self.names.setdefault(here, set()).add((one.text, other.text))
        if here.kind == ScopeKind.CLASS:
            self.members.add((one.text, other.text))
        return self.seen.partners.get(here) is there

    def _meant(self, leaf: Shape) -> Scope | None:
        """The scope that declares what a leaf names."""
        scope = start = leaf.declared or leaf.home
        while scope is not None:
            hidden = self.naming.hides_classes and scope.kind == ScopeKind.CLASS and scope is not start
            if leaf.text in scope.names and not hidden:
                return scope
            scope = scope.parent
        return None

    def _holds_in(self, scope: Scope, pairs: Pairs) -> bool:
        """One name for one, and none that was somebody else's in the same scope."""
        changed = list(_changed(pairs))
        fresh = all(new not in scope.names for _, new in changed)
        return _is_bijection(pairs) and fresh and all(self._keeps_form(*pair) for pair in changed)

    def _members_hold(self) -> bool:
        old = {one for one, _ in self.members}
        changed = list(_changed(self.members))
        ours = all(one in self.before.members and new not in old for one, new in changed)
        clear = _is_bijection({pair for pair in self.members if pair[0] in {one for one, _ in changed}})
        return ours and clear and all(self._keeps_form(*pair) for pair in changed)

    def _keywords_hold(self) -> bool:
        """Who names an argument follows its parameter; where whose it is can't be told, nobody may move."""
        moved = {
            pair
            for scope, name in self.before.parameters
            for pair in self.names.get(scope, ())
            if pair[0] == name
        }
        gone = {one for one, _ in _changed(moved)}
        changed = set(_changed(self.keywords))
        stayed = {one for one, new in self.keywords if one == new}
        return stayed.isdisjoint(gone) and changed <= moved and _is_bijection(changed)

    def _keeps_form(self, old: str, new: str) -> bool:
        """`Test…`, a capital, `__init__`: forms of names that a language or its tools read."""
        one, other = self.naming.forms.match(old), self.naming.forms.match(new)
        forms = [found.lastgroup if found else None for found in (one, other)]
        return forms[0] == forms[1] != "fixed"


def _changed(pairs: Pairs) -> Iterator[tuple[str, str]]:
    return (pair for pair in pairs if pair[0] != pair[1])
