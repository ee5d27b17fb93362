"""The normal form of a file: a tree without comments, layout and redundant tokens, with names and scopes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum


class NameRole(StrEnum):
    """What a leaf that is a name stands for."""

    NAME = "name"  # resolved by walking outwards through scopes
    MEMBER = "member"  # of an object: `.x`; one namespace for the file
    KEYWORD = "keyword"  # the name of an argument in a call
    NAME_AND_MEMBER = "name_and_member"  # as in `{x}`
    EXTERNAL = "external"  # chosen outside of this file: an imported name, a package, a label


class Binds(StrEnum):
    """The scope in which a declaration binds its name."""

    INNERMOST = "innermost"
    FUNCTION = "function"  # the innermost scope that is not a block
    ENCLOSING = "enclosing"  # the scope around the node that opens one: a function's own name


class Exposure(StrEnum):
    """Whether callers elsewhere pass the arguments of a function by name."""

    NONE = "none"
    POSSIBLE = "possible"
    CERTAIN = "certain"


class ScopeKind(StrEnum):
    """What a scope belongs to."""

    FUNCTION = "function"
    CLASS = "class"
    BLOCK = "block"


@dataclass(slots=True, eq=False)
class LexicalScope:
    """A scope with the names it declares. `rebound` names were declared `global` or `nonlocal`.

    A class with bases may override members that are defined elsewhere, and a decorator may read them all:
    these `has_fixed_members`. `parameters` says whether callers name the arguments of a function; code in a
    scope that `is_reflected` reads its names while it runs.
    """

    kind: str
    parent: LexicalScope | None = None
    names: set[str] = field(default_factory=set)
    rebound: set[str] = field(default_factory=set)
    has_fixed_members: bool = False
    parameters: Exposure = Exposure.NONE
    keyword_only: frozenset[str] = frozenset()
    is_reflected: bool = False

    def find_binding_scope(self, mode: str) -> LexicalScope:
        """Return the scope in which a declaration binds its name."""
        if mode == Binds.ENCLOSING:
            return self.parent or self
        scope = self
        while mode == Binds.FUNCTION and scope.kind == ScopeKind.BLOCK and scope.parent:
            scope = scope.parent
        return scope

    def find_enclosing(self, kind: str) -> LexicalScope | None:
        """Return the innermost scope of a kind, including this one."""
        scope: LexicalScope | None = self
        while scope and scope.kind != kind:
            scope = scope.parent
        return scope


@dataclass(slots=True, eq=False)
class NormalNode:
    """A node of the normal form. `text` is set for leaves, `role` for names; `scope` is the one that it
    opens.

    `lookup_scope` is where a name is resolved first, `declared_in` the scope in which this leaf declares it.
    """

    kind: str
    text: str = ""
    role: str = ""
    children: list[NormalNode] = field(default_factory=list)
    field: str | None = None
    scope: LexicalScope | None = None
    lookup_scope: LexicalScope | None = None
    declared_in: LexicalScope | None = None
    digest: int = 0

    def walk(self) -> Iterator[NormalNode]:
        """Yield this node and everything in it."""
        pending = [self]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(node.children)


@dataclass(slots=True)
class NormalForm:
    """The normal form of a file.

    `members` are defined by classes of this file for this file alone; `parameters` are those that callers can
    pass by name; `public` are names that code elsewhere can use, `quoted` those that stand in a text. Whether
    code elsewhere uses the `uncertain` ones, nobody can tell from the file.
    """

    root: NormalNode
    members: set[str]
    parameters: set[tuple[LexicalScope, str]]
    public: set[tuple[LexicalScope, str]]
    quoted: set[str]
    uncertain: set[tuple[LexicalScope, str]]

    def may_rename(self, scope: LexicalScope, name: str) -> bool:
        """Whether nothing outside of what the parser understands can use this name."""
        is_local = scope.kind != ScopeKind.CLASS and scope.parent is not None
        is_looked_up = scope.is_reflected or (name in self.quoted and not is_local)
        return not is_looked_up and (scope, name) not in self.public
