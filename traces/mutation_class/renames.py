"""Compare two normal forms up to renaming (alpha-equivalence).

Scopes are paired, and each name of a scope must have exactly one counterpart in its partner. A name that no
scope declares belongs to other code and must stay. So must a member (`.x`) that no class of this file
defines.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from traces.mutation_class.forms import LexicalScope, NormalForm, NormalNode
from traces.mutation_class.languages.grammar import NameRole, Naming, ScopeKind
from traces.mutation_class.parse import CpuLimit

Pairs = set[tuple[str, str]]


class Equivalence(Enum):
    """The result of comparing two normal forms."""

    SAME = "same"
    DIFFERENT = "different"
    UNCLEAR = "unclear"


@dataclass(slots=True)
class _Comparison:
    """Scopes and names found while walking both trees side by side.

    A name pair is (leaf before, leaf after, function around it).
    """

    scope_pairs: dict[LexicalScope, LexicalScope] = field(default_factory=dict)
    name_pairs: list[tuple[NormalNode, NormalNode, LexicalScope | None]] = field(default_factory=list)


def compare(before: NormalForm, after: NormalForm, naming: Naming, cpu_limit: CpuLimit) -> Equivalence:
    """Compare two forms whose children are sorted where order does not matter."""
    comparison = _compare_structure(before.root, after.root, cpu_limit)
    if comparison is None:
        return Equivalence.DIFFERENT
    if all(old_leaf.text == new_leaf.text for old_leaf, new_leaf, _ in comparison.name_pairs):
        return Equivalence.SAME
    if not naming.is_complete:
        return Equivalence.DIFFERENT if _is_inconsistent(comparison) else Equivalence.UNCLEAR
    check = _RenamingCheck(before, after, naming, comparison)
    if not check.is_consistent():
        return Equivalence.DIFFERENT
    return Equivalence.UNCLEAR if check.is_uncertain() else Equivalence.SAME


def _compare_structure(before: NormalNode, after: NormalNode, cpu_limit: CpuLimit) -> _Comparison | None:
    """Walk both trees side by side; return None if they differ in more than names."""
    comparison = _Comparison()
    pending: list[tuple[NormalNode, NormalNode, LexicalScope | None]] = [(before, after, None)]
    while pending:
        left, right, function = pending.pop()
        cpu_limit.count_steps()
        is_alike = (left.kind, left.role, len(left.children)) == (right.kind, right.role, len(right.children))
        if not is_alike or (left.text != right.text and left.role in {"", NameRole.EXTERNAL}):
            return None
        if left.scope and right.scope:
            comparison.scope_pairs[left.scope] = right.scope
            function = left.scope if left.scope.kind == ScopeKind.FUNCTION else function
        if left.role:
            comparison.name_pairs.append((left, right, function))
        pending.extend((a, b, function) for a, b in zip(left.children, right.children, strict=True))
    return comparison


def _is_inconsistent(comparison: _Comparison) -> bool:
    """Whether a function calls one thing by two names, or by a name that was taken before."""
    pairs_by_function: dict[LexicalScope | None, Pairs] = {}
    for old_leaf, new_leaf, function in comparison.name_pairs:
        pairs_by_function.setdefault(function, set()).add((old_leaf.text, new_leaf.text))
    old_names = {unit: {name for name, _ in pairs} for unit, pairs in pairs_by_function.items()}
    are_unused = all(
        new not in old_names[unit]
        for unit, pairs in pairs_by_function.items()
        for _, new in _select_changed(pairs)
    )
    return not are_unused or not all(_is_bijection(pairs) for pairs in pairs_by_function.values())


def _is_bijection(pairs: Pairs) -> bool:
    return len({old for old, _ in pairs}) == len({new for _, new in pairs}) == len(pairs)


class _RenamingCheck:
    """Check that every name has one counterpart, per scope, member and keyword."""

    def __init__(
        self, before: NormalForm, after: NormalForm, naming: Naming, comparison: _Comparison
    ) -> None:
        self.before, self.after, self.naming, self.comparison = before, after, naming, comparison
        self.names: dict[LexicalScope, Pairs] = {}
        self.members: Pairs = set()
        self.keywords: Pairs = set()

    def is_consistent(self) -> bool:
        if not all(
            self._add_pair(old_leaf, new_leaf) for old_leaf, new_leaf, _ in self.comparison.name_pairs
        ):
            return False
        are_scopes_consistent = all(
            self._is_consistent_in(scope, pairs) for scope, pairs in self.names.items()
        )
        return are_scopes_consistent and self._are_members_consistent() and self._are_keywords_consistent()

    def is_uncertain(self) -> bool:
        """Whether code elsewhere may use a name that changed, as far as the file can tell."""
        changed = {(scope, old) for scope, pairs in self.names.items() for old, _ in _select_changed(pairs)}
        return not changed.isdisjoint(self.before.uncertain)

    def _add_pair(self, old_leaf: NormalNode, new_leaf: NormalNode) -> bool:
        """Record a pair; return False if the two names resolve to scopes that are not partners."""
        if old_leaf.role == NameRole.KEYWORD:
            self.keywords.add((old_leaf.text, new_leaf.text))
        if old_leaf.role in {NameRole.MEMBER, NameRole.NAME_AND_MEMBER}:
            self.members.add((old_leaf.text, new_leaf.text))
        if old_leaf.role in {NameRole.MEMBER, NameRole.KEYWORD}:
            return True
        old_scope, new_scope = self._resolve(old_leaf), self._resolve(new_leaf)
        if old_scope is None or new_scope is None:
            # Declared outside of the file: the other code does not follow a rename.
            return old_scope is new_scope and old_leaf.text == new_leaf.text
        self.names.setdefault(old_scope, set()).add((old_leaf.text, new_leaf.text))
        if old_scope.kind == ScopeKind.CLASS:
            self.members.add((old_leaf.text, new_leaf.text))
        return self.comparison.scope_pairs.get(old_scope) is new_scope

    def _resolve(self, leaf: NormalNode) -> LexicalScope | None:
        """Return the scope that declares the name of a leaf."""
        scope = start = leaf.declared_in or leaf.lookup_scope
        while scope is not None:
            is_hidden = self.naming.hides_class_scope and scope.kind == ScopeKind.CLASS and scope is not start
            if leaf.text in scope.names and not is_hidden:
                return scope
            scope = scope.parent
        return None

    def _is_consistent_in(self, scope: LexicalScope, pairs: Pairs) -> bool:
        """Whether names map one to one, and no new name was taken in the same scope."""
        changed = list(_select_changed(pairs))
        # A name that was taken before would silently capture other uses.
        are_unused = all(new not in scope.names for _, new in changed)
        partner = self.comparison.scope_pairs[scope]
        are_private = all(
            self.before.may_rename(scope, old) and self.after.may_rename(partner, new) for old, new in changed
        )
        return (
            _is_bijection(pairs)
            and are_unused
            and are_private
            and all(self._keeps_pattern(*pair) for pair in changed)
        )

    def _are_members_consistent(self) -> bool:
        old_names = {name for name, _ in self.members}
        changed = list(_select_changed(self.members))
        are_defined_here = all(
            name in self.before.members - self.before.quoted
            and new in self.after.members - self.after.quoted
            and new not in old_names
            for name, new in changed
        )
        is_one_to_one = _is_bijection(
            {pair for pair in self.members if pair[0] in {name for name, _ in changed}}
        )
        return are_defined_here and is_one_to_one and all(self._keeps_pattern(*pair) for pair in changed)

    def _are_keywords_consistent(self) -> bool:
        """Whether keyword arguments follow their parameters; where the callee is unknown, none may change."""
        parameters = {
            pair
            for scope, name in self.before.parameters
            for pair in self.names.get(scope, ())
            if pair[0] == name
        }
        renamed = {name for name, _ in _select_changed(parameters)}
        changed = set(_select_changed(self.keywords))
        unchanged = {name for name, new in self.keywords if name == new}
        return unchanged.isdisjoint(renamed) and changed <= parameters and _is_bijection(changed)

    def _keeps_pattern(self, old: str, new: str) -> bool:
        """Whether both names have the form that a language or its tools read:

        `Test…`, a capital, `__init__`.
        """
        old_match, new_match = self.naming.name_patterns.match(old), self.naming.name_patterns.match(new)
        groups = [match.lastgroup if match else None for match in (old_match, new_match)]
        return groups[0] == groups[1] != "fixed"


def _select_changed(pairs: Pairs) -> Iterator[tuple[str, str]]:
    return (pair for pair in pairs if pair[0] != pair[1])
