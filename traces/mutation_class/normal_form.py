"""A text as it counts: its tree without comments, layout and needless signs, with names and their scopes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tree_sitter import Node, TreeCursor

from traces.mutation_class.languages.grammar import NOTHING, Binds, Grammar, Kinds, Role, ScopeKind
from traces.mutation_class.parse import Budget, UnclearError, parsed

MAX_DEPTH = 150
CONTINUED = re.compile(rb"\\\r?\n")


@dataclass(slots=True, eq=False)
class Scope:
    """`closed`: a class with bases, whose members may be overriding what is defined elsewhere."""

    kind: str
    parent: Scope | None = None
    names: set[str] = field(default_factory=set)
    released: set[str] = field(default_factory=set)
    closed: bool = False

    def holder(self, mode: str) -> Scope:
        """The scope in which a declaration of this mode counts."""
        if mode == Binds.ENCLOSING:
            return self.parent or self
        scope = self
        while mode == Binds.FUNCTION and scope.kind == ScopeKind.BLOCK and scope.parent:
            scope = scope.parent
        return scope

    def around(self, kind: str) -> Scope | None:
        """The innermost scope of this kind, itself included."""
        scope: Scope | None = self
        while scope and scope.kind != kind:
            scope = scope.parent
        return scope


@dataclass(slots=True, eq=False)
class Shape:
    """A node as it counts. `text` is set for leaves, `role` for names; `scope` is the one that a node opens.

    `home` is where a name is looked up first, `declared` the scope in which it is declared right here.
    """

    kind: str
    text: str = ""
    role: str = ""
    kids: list[Shape] = field(default_factory=list)
    field: str | None = None
    scope: Scope | None = None
    home: Scope | None = None
    declared: Scope | None = None
    digest: int = 0


@dataclass(slots=True)
class Shaped:
    """`members` are those defined in this file by classes of its own; `parameters` all that can be named."""

    root: Shape
    members: set[str]
    parameters: set[tuple[Scope, str]]


def shaped(grammar: Grammar, data: bytes, budget: Budget) -> Shaped:
    """Raises UnclearError."""
    return _Shaper(grammar, data, budget).all_of(parsed(grammar, data, budget))


@dataclass(slots=True)
class _At:
    """Where the walk is: the parent's kind, the field, how declarations apply, in which scope, how deep."""

    parent: str
    field: str | None
    mode: str
    scope: Scope
    depth: int
    names_arguments: bool = False
    beside: Kinds = NOTHING  # kinds of the children, where somebody asks


class _Shaper:
    def __init__(self, grammar: Grammar, data: bytes, budget: Budget) -> None:
        self.grammar, self.naming, self.data, self.budget = grammar, grammar.naming, data, budget
        self.asks_beside = {kind for kind, _ in (*grammar.naming.needs, *grammar.naming.properties)}
        self.members: set[str] = set()
        self.parameters: set[tuple[Scope, str]] = set()

    def all_of(self, root: Node) -> Shaped:
        whole = Scope(ScopeKind.FUNCTION)
        shape = self._node(root.walk(), _At("", None, "", whole, 0)) or Shape("")
        shape.scope = whole
        return Shaped(shape, self.members, self.parameters)

    def _node(self, cursor: TreeCursor, at: _At) -> Shape | None:
        """None for what does not count."""
        self.budget.spend()
        node = cursor.node
        assert node is not None
        if not node.is_named:
            return Shape("", node.type, field=at.field)
        if node.type in self.grammar.comments:
            text = self._text(node)
            return Shape("order", text) if self.grammar.orders.search(text) else None
        if at.depth > MAX_DEPTH:
            raise UnclearError("nested too deeply")
        kind = self.grammar.placed.get((at.parent, at.field), node.type)
        special = self.grammar.special.get(kind)
        text_of_node = special(node, self._text(node)) if special else None
        if text_of_node is not None:
            return Shape(self.grammar.same.get(kind, kind), text_of_node, field=at.field)
        if node.child_count == 0 or kind in self.grammar.verbatim:
            return self._leaf(kind, self._text(node), at)
        return self._inner(cursor, node, kind, at)

    def _text(self, node: Node) -> str:
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "surrogateescape")

    # --- leaves -----------------------------------------------------------------------------------

    def _leaf(self, kind: str, text: str, at: _At) -> Shape:
        role = self.naming.places.get((at.parent, at.field)) or self.naming.roles.get(kind, "")
        if role and not self.naming.properties.get((at.parent, at.field), NOTHING).isdisjoint(at.beside):
            role = Role.NAME_AND_MEMBER
            self._define(text, at.scope.around(ScopeKind.CLASS))
        leaf = Shape(kind, text, role, field=at.field)
        if not role:
            return leaf
        leaf.home = at.scope.parent or at.scope if at.mode == Binds.ENCLOSING else at.scope
        if at.mode and role != Role.MEMBER:
            self._declare(leaf, at)
        if (at.parent, at.field) in self.naming.members:
            self._define(text, at.scope.around(ScopeKind.CLASS))
        return leaf

    def _declare(self, leaf: Shape, at: _At) -> None:
        scope = at.scope.holder(at.mode)
        scope.names.add(leaf.text)
        leaf.declared = scope
        if at.names_arguments:
            self.parameters.add((scope, leaf.text))
        if scope.kind == ScopeKind.CLASS and not (scope.closed and self.naming.hides_classes):
            self.members.add(leaf.text)

    def _define(self, text: str, owner: Scope | None) -> None:
        if owner is None or not owner.closed:
            self.members.add(text)

    # --- the rest ---------------------------------------------------------------------------------

    def _inner(self, cursor: TreeCursor, node: Node, kind: str, at: _At) -> Shape | None:
        opened = self._opened(node, kind, at.scope)
        shape = Shape(self.grammar.same.get(kind, kind), field=at.field, scope=opened)
        inside = _At(kind, None, "", opened or at.scope, at.depth + 1)
        inside.names_arguments = at.names_arguments or kind in self.naming.parameters
        shape.kids = self._kids(cursor, node, at, inside)
        if kind in self.naming.releases:
            self._release(shape, at.scope)
        if opened:
            opened.names -= opened.released
        return self._trimmed(shape, node, at)

    def _opened(self, node: Node, kind: str, around: Scope) -> Scope | None:
        opens = self.naming.scopes.get(kind)
        if opens is None:
            return None
        held = {(kind, child.type) for child in node.children if child.named_child_count}
        return Scope(opens, around, closed=not held.isdisjoint(self.naming.bases))

    def _release(self, shape: Shape, scope: Scope) -> None:
        scope.released |= {kid.text for kid in shape.kids if kid.role}

    def _kids(self, cursor: TreeCursor, node: Node, at: _At, inside: _At) -> list[Shape]:
        kids: list[Shape] = []
        end, skipped = node.start_byte, self._docstring(node, at, inside)
        needs = inside.parent in self.asks_beside
        inside.beside = frozenset(child.type for child in node.children) if needs else NOTHING
        there = cursor.goto_first_child()
        while there:
            child = cursor.node
            assert child is not None
            self._gap(kids, end, child.start_byte)
            end = child.end_byte
            inside.field = cursor.field_name
            inside.mode = self._mode(inside, at)
            kid = None if child.id == skipped else self._node(cursor, inside)
            if kid is not None:
                kids.append(self._wrapped(kid, inside))
            there = cursor.goto_next_sibling()
        cursor.goto_parent()
        self._gap(kids, end, node.end_byte)
        self._attributes(kids, inside, at)
        return kids

    def _docstring(self, node: Node, at: _At, inside: _At) -> int | None:
        """The id of the child that documents a node: a text that is a statement by itself and its first."""
        if at.parent not in self.grammar.documented.get(inside.parent, ()):
            return None
        named = (child for child in node.children if child.is_named)
        first = next((child for child in named if child.type not in self.grammar.comments), None)
        return first.id if first is not None and _is_text(first) else None

    def _mode(self, inside: _At, at: _At) -> str:
        """How the child that comes next declares names, if at all."""
        place = (inside.parent, inside.field)
        mode = self.naming.declares.get(place, "")
        needed = self.naming.needs.get(place)
        if mode and (needed is None or not needed.isdisjoint(inside.beside)):
            return mode
        through = self.naming.pattern_fields.get(inside.parent)
        if at.mode and (inside.parent in self.naming.patterns or (through and through == inside.field)):
            return at.mode
        return ""

    def _gap(self, kids: list[Shape], start: int, end: int) -> None:
        """What no child explains is text that counts."""
        if start < end and (text := CONTINUED.sub(b" ", self.data[start:end]).strip()):
            kids.append(Shape("gap", text.decode("utf-8", "surrogateescape")))

    def _attributes(self, kids: list[Shape], inside: _At, at: _At) -> None:
        """`self.x = …` defines a member as well."""
        kind, of, spelled = self.naming.selves
        if inside.parent != kind or at.field != "left" or at.parent not in self.naming.assigns:
            return
        if any(kid.field == of and (kid.text or kid.kind) in spelled for kid in kids):
            for kid in kids:
                if kid.role == Role.MEMBER:
                    self._define(kid.text, at.scope.around(ScopeKind.CLASS))

    def _wrapped(self, kid: Shape, inside: _At) -> Shape:
        wrap = self.grammar.wraps.get((inside.parent, inside.field))
        return Shape(wrap, kids=[kid]) if wrap and kid.kind != wrap else kid

    def _trimmed(self, shape: Shape, node: Node, at: _At) -> Shape | None:
        """Without signs that say nothing."""
        grammar, kind = self.grammar, node.type
        kids = shape.kids
        idle = grammar.separators.get(kind, frozenset()) | grammar.separators.get("*", frozenset())
        if kind in grammar.bare:
            idle |= {"(", ")"}
        if idle:
            kids = [kid for kid in kids if kid.kind or kid.text not in idle]
        if kind in grammar.trailing:
            kids = _without_last_comma(kids)
        shape.kids = kids
        if kind in grammar.unwrapped and at.parent not in grammar.keeps_wrapped:
            inner = [kid for kid in kids if kid.kind]
            if len(inner) == 1 and not _holds(inner[0], grammar.keeps_wrapped):
                inner[0].field = at.field
                return inner[0]
        held = [kid for kid in kids if kid.kind]
        return None if kind in grammar.empties and at.parent == "class_definition" and not held else shape


def _without_last_comma(kids: list[Shape]) -> list[Shape]:
    """`[a, b,]` as `[a, b]`; not `[a,,]`, where a comma stands for something."""
    last = len(kids) - 1
    while last >= 0 and not kids[last].kind and kids[last].text in {")", "]", "}", ">"}:
        last -= 1
    ends = last > 0 and not kids[last].kind and kids[last].text == ","
    return [*kids[:last], *kids[last + 1 :]] if ends and kids[last - 1].kind else kids


def _is_text(node: Node) -> bool:
    """Whether a statement is a text and nothing else: a docstring, where it comes first."""
    child = node.named_child(0) if node.type == "expression_statement" else None
    is_text = (
        child is not None and child.type in {"string", "concatenated_string"} and node.named_child_count == 1
    )
    return is_text and not any(part.type == "interpolation" for part in (child.children if child else ()))


def _holds(shape: Shape, kinds: frozenset[str]) -> bool:
    if not kinds:
        return False
    waiting = [shape]
    while waiting:
        one = waiting.pop()
        if one.kind in kinds:
            return True
        waiting.extend(one.kids)
    return False
