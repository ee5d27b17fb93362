"""Describe what is needed to compare two texts of a language. Values only; one module per language has
them.

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


class Role(StrEnum):
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
    required_siblings: Mapping[NodePosition, Kinds] = field(
        default_factory=dict
    )  # declares only beside one of these tokens
    patterns: Kinds = NO_KINDS  # a declaration goes through them, to all children
    pattern_fields: Mapping[str, str] = field(default_factory=dict)  # or to those in one field
    scopes: Mapping[str, str] = field(default_factory=dict)  # FUNCTION, CLASS or BLOCK
    rebinding: Kinds = NO_KINDS  # `global x`: x is not of this scope after all
    parameters: Kinds = NO_KINDS  # what is declared below them can be named in a call
    member_positions: frozenset[NodePosition] = frozenset()  # where members of a class are defined
    property_modifiers: Mapping[NodePosition, Kinds] = field(
        default_factory=dict
    )  # BOTH, and defined, beside one of these
    base_class_children: frozenset[tuple[str, str]] = (
        frozenset()
    )  # (class, child): its members may be somebody else's
    self_attribute: tuple[str, str, Kinds] = (
        "",
        "",
        NO_KINDS,
    )  # kind of `self.x`, field of `self`, its spellings
    assignments: Kinds = NO_KINDS  # on whose left side `self.x` defines a member
    hides_class_scope: bool = False  # whether functions see the names of the class around them only by `self`
    name_patterns: re.Pattern[str] = re.compile(
        ""
    )  # named groups: a name keeps its form, one that is `fixed` its all


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
    keeps_value_order: bool = False  # fields: their order can be seen from outside


@dataclass(frozen=True, slots=True)
class Ordering:
    """Containers by (own kind, parent's kind or ""), and what keeps their children in place."""

    containers: Mapping[tuple[str, str], Container] = field(default_factory=dict)
    wrappers: Kinds = NO_KINDS  # `export` and the like: what counts is what they hold
    deferred: frozenset[NodePosition] = frozenset()  # runs when it is called, not where it stands
    executing: Kinds = NO_KINDS  # a value that holds one of these runs something
    order_free_decorators: re.Pattern[str] = re.compile("(?!)")  # decorators that keep nothing of their order
    decorators: Kinds = NO_KINDS
    attached: Kinds = NO_KINDS  # stand before what they belong to, and move with it
    attached_is_fixed: bool = False  # and hold it in its place
    binding_imports: Kinds = NO_KINDS  # an import that holds none of these runs something and no more
    wildcard_imports: Kinds = NO_KINDS  # an import that holds one of these brings names that nobody can list


@dataclass(frozen=True, slots=True)
class Grammar:
    """One language. `converters` return the normal text of a node, or None to treat it like any other."""

    package: str
    naming: Naming
    function: str = "language"
    ordering: Ordering = Ordering()
    comments: Kinds = frozenset({"comment"})
    directives: re.Pattern[str] = re.compile("(?!)")  # comments that a compiler or a loader obeys
    verbatim: Kinds = NO_KINDS  # their text counts as it stands, whatever they hold
    aliases: Mapping[str, str] = field(default_factory=dict)  # kinds that differ in spelling alone
    kinds_by_position: Mapping[NodePosition, str] = field(
        default_factory=dict
    )  # kinds told apart by where they stand
    transparent: Kinds = NO_KINDS  # parentheses: the tree says already what belongs together
    keeps_parentheses: Kinds = NO_KINDS  # unless they hold one of these, or stand right in one of them
    without_parentheses: Kinds = NO_KINDS  # whose parentheses say nothing
    trailing: Kinds = NO_KINDS  # in which a last comma says nothing
    separators: Mapping[str, Kinds] = field(default_factory=dict)  # tokens that say nothing, by parent; "*"
    implicit_parents: Mapping[NodePosition, str] = field(default_factory=dict)  # a lone child as if in this
    dropped_when_empty: Kinds = NO_KINDS  # say nothing while they hold nothing
    docstring_parents: Mapping[str, Kinds] = field(
        default_factory=dict
    )  # kind: parents in which a first text is a comment
    converters: Mapping[str, Callable[[Node, str], str | None]] = field(default_factory=dict)


@cache
def load_language(package: str, function: str) -> Language:
    """Load a parser at first use: a server that sees no Ruby loads no Ruby."""
    return Language(getattr(import_module(package), function)())
