"""What has to be known of a language to compare two of its texts. Values only; the tables are beside it.

`(kind, field)` is the place of a child: the kind of its parent's node, and the field it stands in (None
where it stands in none), both in the words of the language's tree-sitter grammar.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib import import_module

from tree_sitter import Language, Node

Place = tuple[str, str | None]
Kinds = frozenset[str]
NOTHING: Kinds = frozenset()


def kinds(words: str) -> Kinds:
    return frozenset(words.split())


def places(words: str) -> frozenset[Place]:
    """`kind.field` as places."""
    return frozenset((kind, name) for kind, _, name in (word.partition(".") for word in words.split()))


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
    """Which leaves are names, where they are declared, and what may be called otherwise.

    `known` False: only which leaves are names is told, so a change of names alone stays unclear.
    """

    roles: Mapping[str, str]
    known: bool = True
    places: Mapping[Place, str] = field(default_factory=dict)
    declares: Mapping[Place, str] = field(default_factory=dict)
    needs: Mapping[Place, Kinds] = field(default_factory=dict)  # declares only beside one of these tokens
    patterns: Kinds = NOTHING  # a declaration goes through them, to all children
    pattern_fields: Mapping[str, str] = field(default_factory=dict)  # or to those in one field
    scopes: Mapping[str, str] = field(default_factory=dict)  # FUNCTION, CLASS or BLOCK
    releases: Kinds = NOTHING  # `global x`: x is not of this scope after all
    parameters: Kinds = NOTHING  # what is declared below them can be named in a call
    members: frozenset[Place] = frozenset()  # where members of a class are defined
    properties: Mapping[Place, Kinds] = field(default_factory=dict)  # BOTH, and defined, beside one of these
    bases: frozenset[tuple[str, str]] = frozenset()  # (class, child): its members may be somebody else's
    selves: tuple[str, str, Kinds] = ("", "", NOTHING)  # kind of `self.x`, field of `self`, its spellings
    assigns: Kinds = NOTHING  # on whose left side `self.x` defines a member
    hides_classes: bool = False  # whether functions see the names of the class around them only by `self`
    forms: re.Pattern[str] = re.compile(
        ""
    )  # named groups: a name keeps its form, one that is `fixed` its all


@dataclass(frozen=True, slots=True)
class Container:
    """What may change places among the children of a node.

    `definitions` and `imports` run nothing that others notice, `values` neither while they call nothing; all
    else keeps its place. With `free` definitions pass that as well: the language looks them up at any place.
    """

    definitions: Kinds = NOTHING
    imports: Kinds = NOTHING
    values: Kinds = NOTHING
    free: bool = False
    values_in_order: bool = False  # fields: their order can be seen from outside


@dataclass(frozen=True, slots=True)
class Ordering:
    """Containers by (own kind, parent's kind or "")."""

    containers: Mapping[tuple[str, str], Container] = field(default_factory=dict)
    wrappers: Kinds = NOTHING  # `export` and the like: what counts is what they hold
    later: frozenset[Place] = frozenset()  # runs when it is called, not where it stands
    acting: Kinds = NOTHING  # a value that holds one of these runs something
    inert: re.Pattern[str] = re.compile("(?!)")  # decorators that keep nothing of their order
    decorators: Kinds = NOTHING
    glued: Kinds = NOTHING  # stand before what they belong to, and move with it
    glue_pins: bool = False  # and hold it in its place
    bound: Kinds = NOTHING  # an import that holds none of these runs something and no more
    stars: Kinds = NOTHING  # an import that holds one of these brings names that nobody can list


@dataclass(frozen=True, slots=True)
class Grammar:
    """`special` makes the text that counts of a node; None where it is shaped like any other."""

    package: str
    naming: Naming
    function: str = "language"
    ordering: Ordering = Ordering()
    comments: Kinds = frozenset({"comment"})
    orders: re.Pattern[str] = re.compile("(?!)")  # comments that a compiler or a loader obeys
    verbatim: Kinds = NOTHING  # their text counts as it stands, whatever they hold
    same: Mapping[str, str] = field(default_factory=dict)  # kinds that differ in spelling alone
    placed: Mapping[Place, str] = field(default_factory=dict)  # kinds told apart by where they stand
    unwrapped: Kinds = NOTHING  # parentheses: the tree says already what belongs together
    keeps_wrapped: Kinds = NOTHING  # unless they hold one of these, or stand right in one of them
    bare: Kinds = NOTHING  # whose parentheses say nothing
    trailing: Kinds = NOTHING  # in which a last comma says nothing
    separators: Mapping[str, Kinds] = field(default_factory=dict)  # tokens that say nothing, by parent; "*"
    wraps: Mapping[Place, str] = field(default_factory=dict)  # a lone child as if in this
    empties: Kinds = NOTHING  # say nothing while they hold nothing
    documented: Mapping[str, Kinds] = field(
        default_factory=dict
    )  # kind: parents in which a first text is a comment
    special: Mapping[str, Callable[[Node, str], str | None]] = field(default_factory=dict)


@cache
def language_of(package: str, function: str) -> Language:
    """Loaded at first use: a server that sees no Ruby holds no Ruby."""
    return Language(getattr(import_module(package), function)())
