"""Define what is needed to compare two texts of a language; one module per language has the values.

`(kind, field)` is the position of a child: the kind of its parent node and the field it is in (None for
none), both as named by the language's tree-sitter grammar.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib import import_module

from tree_sitter import Language, Node

NodePosition = tuple[str, str | None]
Kinds = frozenset[str]
NO_KINDS: Kinds = frozenset()


def parse_kinds(text: str) -> Kinds:
    """Split names of node kinds."""
    return frozenset(text.split())


def parse_positions(text: str) -> frozenset[NodePosition]:
    """Parse `kind.field` words."""
    return frozenset((kind, name) for kind, _, name in (item.partition(".") for item in text.split()))


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


class ScopeKind(StrEnum):
    """What a scope belongs to."""

    FUNCTION = "function"
    CLASS = "class"
    BLOCK = "block"


@dataclass(frozen=True, slots=True)
class Naming:
    """Which leaves are names, where they are declared, and which may be renamed.

    With `is_complete` False only the names are known, not their scopes, so a change of names alone stays
    unclear.
    """

    roles: Mapping[str, str]
    is_complete: bool = True
    roles_by_position: Mapping[NodePosition, str] = field(default_factory=dict)
    bindings: Mapping[NodePosition, str] = field(default_factory=dict)
    # A position binds only next to one of these tokens: Go's `:=` in `range`, JavaScript's `const` in `for`.
    required_siblings: Mapping[NodePosition, Kinds] = field(default_factory=dict)
    patterns: Kinds = NO_KINDS  # a declaration reaches all of their children
    pattern_fields: Mapping[str, str] = field(default_factory=dict)  # or those in one field
    scopes: Mapping[str, str] = field(default_factory=dict)  # a ScopeKind by node kind
    rebinding: Kinds = NO_KINDS  # `global x`: x is not declared in this scope
    parameters: Kinds = NO_KINDS  # names declared in them can be passed as keywords
    member_positions: frozenset[NodePosition] = frozenset()  # where members of a class are defined
    # TypeScript's `constructor(private x)`: next to one of these a parameter is a member as well.
    property_modifiers: Mapping[NodePosition, Kinds] = field(default_factory=dict)
    # (class, child): a class with such a child has bases, so its members may override others.
    base_class_children: frozenset[tuple[str, str]] = frozenset()
    # Kind of `self.x`, the field of `self`, its spellings.
    self_attribute: tuple[str, str, Kinds] = ("", "", NO_KINDS)
    assignments: Kinds = NO_KINDS  # `self.x` on their left side defines a member
    hides_class_scope: bool = False  # functions see the names of their class only through `self`
    # Named groups: a renamed name must match the same group; a name in the group `fixed` must not change.
    name_patterns: re.Pattern[str] = re.compile("")


@dataclass(frozen=True, slots=True)
class Container:
    """What may be reordered among the children of a node.

    `definitions` and `imports` have no side effects, `values` have none while they call nothing; everything
    else stays in place. With `is_unordered` definitions may pass even that: the language resolves them
    anywhere.
    """

    definitions: Kinds = NO_KINDS
    imports: Kinds = NO_KINDS
    values: Kinds = NO_KINDS
    is_unordered: bool = False
    keeps_value_order: bool = False  # fields: their order is observable


@dataclass(frozen=True, slots=True)
class Ordering:
    """Containers by (own kind, parent's kind or ""), and what keeps their children in place."""

    containers: Mapping[tuple[str, str], Container] = field(default_factory=dict)
    wrappers: Kinds = NO_KINDS  # `export` and the like: what they contain is categorized
    deferred: frozenset[NodePosition] = frozenset()  # runs when it is called, not where it is written
    executing: Kinds = NO_KINDS  # a value that contains one of these has side effects
    order_free_decorators: re.Pattern[str] = re.compile("(?!)")
    decorators: Kinds = NO_KINDS
    attached: Kinds = NO_KINDS  # belong to the next sibling and move with it
    attached_is_fixed: bool = False  # and keep it in place
    binding_imports: Kinds = NO_KINDS  # an import without one of these is there for its side effects
    wildcard_imports: Kinds = NO_KINDS  # an import with one of these defines names that nobody can list


@dataclass(frozen=True, slots=True)
class Grammar:
    """One language. `converters` return the normal text of a node, or None to treat it like any other."""

    package: str
    naming: Naming
    function: str = "language"
    ordering: Ordering = Ordering()
    comments: Kinds = frozenset({"comment"})
    directives: re.Pattern[str] = re.compile("(?!)")  # comments that a compiler or a loader obeys
    verbatim: Kinds = NO_KINDS  # their text counts as written, whatever they contain
    aliases: Mapping[str, str] = field(default_factory=dict)  # kinds that differ only in spelling
    kinds_by_position: Mapping[NodePosition, str] = field(default_factory=dict)
    transparent: Kinds = NO_KINDS  # parentheses: the tree shows already what belongs together
    keeps_parentheses: Kinds = NO_KINDS  # unless they contain one of these, or are directly in one
    without_parentheses: Kinds = NO_KINDS  # their own parentheses do not count
    trailing: Kinds = NO_KINDS  # a trailing comma in them does not count
    # Tokens that do not count, by parent or "*".
    separators: Mapping[str, Kinds] = field(default_factory=dict)
    implicit_parents: Mapping[NodePosition, str] = field(default_factory=dict)  # a lone child as if in this
    dropped_when_empty: Kinds = NO_KINDS
    docstring_parents: Mapping[str, Kinds] = field(default_factory=dict)  # by kind: parents with docstrings
    converters: Mapping[str, Callable[[Node, str], str | None]] = field(default_factory=dict)


@cache
def load_language(package: str, function: str) -> Language:
    """Load a parser at first use: a server that sees no Ruby loads no Ruby."""
    return Language(getattr(import_module(package), function)())
