"""Define what is needed to compare two texts of a language; one module per language has the values.

`(kind, field)` is the position of a child: the kind of its parent node and the field it is in (None for
none), both as named by the language's tree-sitter grammar.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module

from tree_sitter import Language, Node

from traces.mutation_class.forms import Binds, Exposure, NameRole, NormalNode, ScopeKind

__all__ = ["Binds", "Exposure", "NameRole", "ScopeKind"]

NodePosition = tuple[str, str | None]
Kinds = frozenset[str]
NO_KINDS: Kinds = frozenset()


def parse_kinds(text: str) -> Kinds:
    """Split names of node kinds."""
    return frozenset(text.split())


def parse_positions(text: str) -> frozenset[NodePosition]:
    """Parse `kind.field` words."""
    return frozenset((kind, name) for kind, _, name in (item.partition(".") for item in text.split()))


def _is_false(_node: Node) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class PublicNameRules:
    """How a language tells which names other code can use. A rename of such a name is no refactoring.

    Names of the file and members are public unless `private` matches. With `exports`, names of the file are
    public only inside of one of these nodes, or in a file that uses none of the `module_syntax`.
    """

    private: re.Pattern[str] = re.compile("(?!)")
    exports: Kinds = NO_KINDS
    exporting: Kinds = NO_KINDS  # nodes that may export a name which is declared elsewhere
    find_exported: Callable[[Node], str] = lambda _node: ""  # that name, "" for none
    module_syntax: Kinds = NO_KINDS  # kinds of nodes and names
    imports: Kinds = NO_KINDS  # what they bind is private, but in a `package` file
    package: re.Pattern[str] = re.compile("(?!)")  # paths
    type_parameters: frozenset[NodePosition] = frozenset()
    modified: Kinds = NO_KINDS  # declarations with modifiers
    is_private: Callable[[Node], bool] = _is_false  # whether one of these has `private` among them
    judge_parameters: Callable[[Node], Exposure] = lambda _function: Exposure.NONE
    find_keyword_only: Callable[[Node], frozenset[str]] = lambda _function: NO_KINDS
    has_public_members: Callable[[Node], bool] = _is_false  # all of them, whatever they are called
    callees: frozenset[NodePosition] = frozenset()  # a function used elsewhere may be called by anyone
    accesses: Kinds = NO_KINDS  # `x.y`, which is called where it stands itself in such a place
    no_keywords: Kinds = NO_KINDS  # parameters in these have no name for the caller: `*x`
    reflection: Kinds = NO_KINDS  # names of functions that read the names around them
    reads_names: Callable[[Node], bool] = _is_false  # another node that does, such as `{a=}`


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
    public: PublicNameRules = PublicNameRules()
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
    # Texts that contain this show or run their documentation, so it counts.
    documentation_readers: re.Pattern[str] = re.compile("(?!)")
    documentation: re.Pattern[str] = re.compile("(?!)")  # comments that are documentation
    is_documentation_read: Callable[[Node], bool] = _is_false  # whether that of one definition is
    examples: re.Pattern[str] = re.compile("(?!)")  # of a docstring: tests may run them
    attribute_owners: Kinds = NO_KINDS  # a lone string behind one of these describes it
    strings: Kinds = NO_KINDS  # a name that stands in one of them as well may be looked up by it
    shorthands: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)  # kind: pair, key, value
    rewrites: Mapping[str, Callable[[NormalNode], list[NormalNode]]] = field(default_factory=dict)
    converters: Mapping[str, Callable[[Node, str], str | None]] = field(default_factory=dict)


@cache
def load_language(package: str, function: str) -> Language:
    """Load a parser at first use: a server that sees no Ruby loads no Ruby."""
    return Language(getattr(import_module(package), function)())
