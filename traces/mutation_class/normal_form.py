"""Reduce a text to its normal form: a tree without comments, layout and redundant tokens, with names and
scopes.

Two texts with equal normal forms do the same. Names are kept with the scope that declares them, so that
`renames` can compare trees up to renaming.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tree_sitter import Node, TreeCursor

from traces.mutation_class.languages.grammar import NO_KINDS, Binds, Grammar, Kinds, NameRole, ScopeKind
from traces.mutation_class.parse import CpuLimit, UnclassifiableError, parse

MAX_DEPTH = 150
LINE_CONTINUATION = re.compile(rb"\\\r?\n")


@dataclass(slots=True, eq=False)
class LexicalScope:
    """A scope with the names it declares. `rebound` names were declared `global` or `nonlocal`.

    A class that `has_bases` may override members that are defined elsewhere, so these are never renamed.
    """

    kind: str
    parent: LexicalScope | None = None
    names: set[str] = field(default_factory=set)
    rebound: set[str] = field(default_factory=set)
    has_bases: bool = False

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


@dataclass(slots=True)
class NormalForm:
    """The normal form of a file.

    `members` are defined by classes of this file; `parameters` are those that callers can pass by name.
    """

    root: NormalNode
    members: set[str]
    parameters: set[tuple[LexicalScope, str]]


def normalize(grammar: Grammar, source: bytes, cpu_limit: CpuLimit) -> NormalForm:
    """Return the normal form. Raises UnclassifiableError."""
    return _Normalizer(grammar, source, cpu_limit).normalize(parse(grammar, source, cpu_limit))


@dataclass(slots=True)
class _Context:
    """The position of the walk: parent kind, field, how names bind, scope, depth."""

    parent: str
    field: str | None
    binding: str
    scope: LexicalScope
    depth: int
    in_parameters: bool = False
    sibling_kinds: Kinds = NO_KINDS  # computed only for kinds that need them


class _Normalizer:
    def __init__(self, grammar: Grammar, source: bytes, cpu_limit: CpuLimit) -> None:
        self.grammar, self.naming, self.source, self.cpu_limit = grammar, grammar.naming, source, cpu_limit
        self.needs_siblings = {
            kind for kind, _ in (*grammar.naming.required_siblings, *grammar.naming.property_modifiers)
        }
        self.members: set[str] = set()
        self.parameters: set[tuple[LexicalScope, str]] = set()

    def normalize(self, root: Node) -> NormalForm:
        file_scope = LexicalScope(ScopeKind.FUNCTION)
        node = self._visit(root.walk(), _Context("", None, "", file_scope, 0)) or NormalNode("")
        node.scope = file_scope
        return NormalForm(node, self.members, self.parameters)

    def _visit(self, cursor: TreeCursor, context: _Context) -> NormalNode | None:
        """Return None for nodes that do not count."""
        self.cpu_limit.count_steps()
        node = cursor.node
        assert node is not None
        if not node.is_named:
            return NormalNode("", node.type, field=context.field)
        if node.type in self.grammar.comments:
            text = self._text(node)
            # A directive comment (`# coding`, `//go:build`) changes what the program does.
            return NormalNode("order", text) if self.grammar.directives.search(text) else None
        if context.depth > MAX_DEPTH:
            raise UnclassifiableError("nested too deeply")
        kind = self.grammar.kinds_by_position.get((context.parent, context.field), node.type)
        converter = self.grammar.converters.get(kind)
        converted = converter(node, self._text(node)) if converter else None
        if converted is not None:
            return NormalNode(self.grammar.aliases.get(kind, kind), converted, field=context.field)
        if node.child_count == 0 or kind in self.grammar.verbatim:
            return self._build_leaf(kind, self._text(node), context)
        return self._build_inner(cursor, node, kind, context)

    def _text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "surrogateescape")

    # --- leaves -----------------------------------------------------------------------------------

    def _build_leaf(self, kind: str, text: str, context: _Context) -> NormalNode:
        role = self.naming.roles_by_position.get((context.parent, context.field)) or self.naming.roles.get(
            kind, ""
        )
        if role and not self.naming.property_modifiers.get(
            (context.parent, context.field), NO_KINDS
        ).isdisjoint(context.sibling_kinds):
            role = NameRole.NAME_AND_MEMBER
            self._add_member(text, context.scope.find_enclosing(ScopeKind.CLASS))
        leaf = NormalNode(kind, text, role, field=context.field)
        if not role:
            return leaf
        leaf.lookup_scope = (
            context.scope.parent or context.scope if context.binding == Binds.ENCLOSING else context.scope
        )
        if context.binding and role != NameRole.MEMBER:
            self._declare(leaf, context)
        if (context.parent, context.field) in self.naming.member_positions:
            self._add_member(text, context.scope.find_enclosing(ScopeKind.CLASS))
        return leaf

    def _declare(self, leaf: NormalNode, context: _Context) -> None:
        scope = context.scope.find_binding_scope(context.binding)
        scope.names.add(leaf.text)
        leaf.declared_in = scope
        if context.in_parameters:
            self.parameters.add((scope, leaf.text))
        if scope.kind == ScopeKind.CLASS and not (scope.has_bases and self.naming.hides_class_scope):
            self.members.add(leaf.text)

    def _add_member(self, text: str, owner: LexicalScope | None) -> None:
        if owner is None or not owner.has_bases:
            self.members.add(text)

    # --- inner nodes ---------------------------------------------------------------------------------

    def _build_inner(self, cursor: TreeCursor, node: Node, kind: str, context: _Context) -> NormalNode | None:
        own_scope = self._open_scope(node, kind, context.scope)
        normal_node = NormalNode(self.grammar.aliases.get(kind, kind), field=context.field, scope=own_scope)
        inner = _Context(kind, None, "", own_scope or context.scope, context.depth + 1)
        inner.in_parameters = context.in_parameters or kind in self.naming.parameters
        normal_node.children = self._visit_children(cursor, node, context, inner)
        if kind in self.naming.rebinding:
            self._rebind(normal_node, context.scope)
        if own_scope:
            own_scope.names -= own_scope.rebound
        return self._remove_noise(normal_node, node, context)

    def _open_scope(self, node: Node, kind: str, parent: LexicalScope) -> LexicalScope | None:
        scope_kind = self.naming.scopes.get(kind)
        if scope_kind is None:
            return None
        children = {(kind, child.type) for child in node.children if child.named_child_count}
        return LexicalScope(
            scope_kind, parent, has_bases=not children.isdisjoint(self.naming.base_class_children)
        )

    def _rebind(self, node: NormalNode, scope: LexicalScope) -> None:
        scope.rebound |= {child.text for child in node.children if child.role}

    def _visit_children(
        self, cursor: TreeCursor, node: Node, context: _Context, inner: _Context
    ) -> list[NormalNode]:
        children: list[NormalNode] = []
        end, skipped = node.start_byte, self._find_docstring(node, context, inner)
        needs_siblings = inner.parent in self.needs_siblings
        inner.sibling_kinds = frozenset(child.type for child in node.children) if needs_siblings else NO_KINDS
        has_child = cursor.goto_first_child()
        while has_child:
            child = cursor.node
            assert child is not None
            self._add_unparsed_text(children, end, child.start_byte)
            end = child.end_byte
            inner.field = cursor.field_name
            inner.binding = self._find_binding(inner, context)
            normal_child = None if child.id == skipped else self._visit(cursor, inner)
            if normal_child is not None:
                children.append(self._add_implicit_parent(normal_child, inner))
            has_child = cursor.goto_next_sibling()
        cursor.goto_parent()
        self._add_unparsed_text(children, end, node.end_byte)
        self._add_self_attributes(children, inner, context)
        return children

    def _find_docstring(self, node: Node, context: _Context, inner: _Context) -> int | None:
        """Return the id of the docstring: a first statement that is nothing but a string."""
        if context.parent not in self.grammar.docstring_parents.get(inner.parent, ()):
            return None
        named_children = (child for child in node.children if child.is_named)
        first = next((child for child in named_children if child.type not in self.grammar.comments), None)
        return first.id if first is not None and _is_string_statement(first) else None

    def _find_binding(self, inner: _Context, context: _Context) -> str:
        """Return how the next child declares names, "" if it declares none."""
        position = (inner.parent, inner.field)
        binding = self.naming.bindings.get(position, "")
        required = self.naming.required_siblings.get(position)
        if binding and (required is None or not required.isdisjoint(inner.sibling_kinds)):
            return binding
        pattern_field = self.naming.pattern_fields.get(inner.parent)
        if context.binding and (
            inner.parent in self.naming.patterns or (pattern_field and pattern_field == inner.field)
        ):
            return context.binding
        return ""

    def _add_unparsed_text(self, children: list[NormalNode], start: int, end: int) -> None:
        """Add text between children: what no child explains counts."""
        if start < end and (text := LINE_CONTINUATION.sub(b" ", self.source[start:end]).strip()):
            children.append(NormalNode("gap", text.decode("utf-8", "surrogateescape")))

    def _add_self_attributes(self, children: list[NormalNode], inner: _Context, context: _Context) -> None:
        """Add the members that `self.x = …` defines."""
        kind, object_field, spellings = self.naming.self_attribute
        if inner.parent != kind or context.field != "left" or context.parent not in self.naming.assignments:
            return
        if any(child.field == object_field and (child.text or child.kind) in spellings for child in children):
            for child in children:
                if child.role == NameRole.MEMBER:
                    self._add_member(child.text, context.scope.find_enclosing(ScopeKind.CLASS))

    def _add_implicit_parent(self, child: NormalNode, inner: _Context) -> NormalNode:
        parent_kind = self.grammar.implicit_parents.get((inner.parent, inner.field))
        return (
            NormalNode(parent_kind, children=[child]) if parent_kind and child.kind != parent_kind else child
        )

    def _remove_noise(self, normal_node: NormalNode, node: Node, context: _Context) -> NormalNode | None:
        """Remove tokens that do not change the meaning: separators, trailing commas, redundant
        parentheses.
        """
        grammar, kind = self.grammar, node.type
        children = normal_node.children
        noise = grammar.separators.get(kind, frozenset()) | grammar.separators.get("*", frozenset())
        if kind in grammar.without_parentheses:
            noise |= {"(", ")"}
        if noise:
            children = [child for child in children if child.kind or child.text not in noise]
        if kind in grammar.trailing:
            children = _drop_trailing_comma(children)
        normal_node.children = children
        if kind in grammar.transparent and context.parent not in grammar.keeps_parentheses:
            inner = [child for child in children if child.kind]
            if len(inner) == 1 and not _contains_kind(inner[0], grammar.keeps_parentheses):
                inner[0].field = context.field
                return inner[0]
        named_children = [child for child in children if child.kind]
        return (
            None
            if kind in grammar.dropped_when_empty
            and context.parent == "class_definition"
            and not named_children
            else normal_node
        )


def _drop_trailing_comma(children: list[NormalNode]) -> list[NormalNode]:
    """Turn `[a, b,]` into `[a, b]`; not `[a,,]`, where a comma stands for an element."""
    last = len(children) - 1
    while last >= 0 and not children[last].kind and children[last].text in {")", "]", "}", ">"}:
        last -= 1
    has_comma = last > 0 and not children[last].kind and children[last].text == ","
    return [*children[:last], *children[last + 1 :]] if has_comma and children[last - 1].kind else children


def _is_string_statement(node: Node) -> bool:
    """Whether a statement is a string and nothing else."""
    child = node.named_child(0) if node.type == "expression_statement" else None
    is_string = (
        child is not None and child.type in {"string", "concatenated_string"} and node.named_child_count == 1
    )
    return is_string and not any(part.type == "interpolation" for part in (child.children if child else ()))


def _contains_kind(node: NormalNode, kinds: frozenset[str]) -> bool:
    if not kinds:
        return False
    pending = [node]
    while pending:
        current = pending.pop()
        if current.kind in kinds:
            return True
        pending.extend(current.children)
    return False
