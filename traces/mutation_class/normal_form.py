"""Reduce a text to its normal form: a tree without comments, layout and redundant tokens, with names and
scopes.

Two texts with equal normal forms do the same. Names are kept with the scope that declares them, so that
`renames` can compare trees up to renaming.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from tree_sitter import Node, TreeCursor

from traces.mutation_class.forms import Binds, LexicalScope, NameRole, NormalForm, NormalNode, ScopeKind
from traces.mutation_class.languages.grammar import NO_KINDS, Grammar, Kinds, NodePosition
from traces.mutation_class.noise import remove_noise
from traces.mutation_class.parse import CpuLimit, UnclassifiableError, parse
from traces.mutation_class.public_names import PublicNames

MAX_DEPTH = 150
LINE_CONTINUATION = re.compile(rb"\\\r?\n")


def normalize(grammar: Grammar, path: str, source: bytes, cpu_limit: CpuLimit) -> NormalForm:
    """Return the normal form. Raises UnclassifiableError."""
    return _Normalizer(grammar, path, source, cpu_limit).normalize(parse(grammar, source, cpu_limit))


@dataclass(slots=True)
class _Context:
    """The position of the walk: parent kind, field, how names bind, scope, depth."""

    parent: str
    field: str | None
    binding: str
    scope: LexicalScope
    depth: int
    outer: NodePosition = ("", None)  # of the parent
    in_parameters: bool = False
    in_import: bool = False
    is_exported: bool = False
    is_exported_around: bool = False  # the parent, which may open a scope of its own
    is_private: bool = False  # by a modifier
    sibling_kinds: Kinds = NO_KINDS  # computed only for kinds that need them


class _Normalizer:
    def __init__(self, grammar: Grammar, path: str, source: bytes, cpu_limit: CpuLimit) -> None:
        self.grammar, self.naming, self.source, self.cpu_limit = grammar, grammar.naming, source, cpu_limit
        self.names = PublicNames(grammar.naming, path)
        self.counts_documentation = bool(
            grammar.documentation_readers.search(source.decode("utf-8", "surrogateescape"))
        )
        self.needs_siblings = {
            kind for kind, _ in (*grammar.naming.required_siblings, *grammar.naming.property_modifiers)
        }
        self.members: set[str] = set()
        self.parameters: set[tuple[LexicalScope, str]] = set()

    def normalize(self, root: Node) -> NormalForm:
        file_scope = LexicalScope(ScopeKind.FUNCTION)
        node = self._visit(root.walk(), _Context("", None, "", file_scope, 0)) or NormalNode("")
        node.scope = file_scope
        self.names.finish(file_scope)
        return NormalForm(
            node, self.members, self.parameters, self.names.public, self.names.quoted, self.names.uncertain
        )

    def _visit(self, cursor: TreeCursor, context: _Context) -> NormalNode | None:
        """Return None for nodes that do not count."""
        self.cpu_limit.count_steps()
        node = cursor.node
        assert node is not None
        if not node.is_named:
            return NormalNode("", node.type, field=context.field)
        if node.type in self.grammar.comments:
            return self._build_comment(self._text(node))
        if context.depth > MAX_DEPTH:
            raise UnclassifiableError("nested too deeply")
        kind = self.grammar.kinds_by_position.get((context.parent, context.field), node.type)
        if kind in self.grammar.strings:
            self.names.quoted.add(self._text(node).strip("'\"`"))
        converter = self.grammar.converters.get(kind)
        converted = converter(node, self._text(node)) if converter else None
        if converted is not None:
            return NormalNode(self.grammar.aliases.get(kind, kind), converted, field=context.field)
        if node.child_count == 0 or kind in self.grammar.verbatim:
            return self._build_leaf(kind, self._text(node), context)
        return self._build_inner(cursor, node, kind, context)

    def _build_comment(self, text: str) -> NormalNode | None:
        """Keep a directive (`# coding`, `//go:build`), and documentation that the program itself shows."""
        is_shown = self.counts_documentation and self.grammar.documentation.search(text)
        return NormalNode("order", text) if is_shown or self.grammar.directives.search(text) else None

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
            self._add_member(text, context)
        leaf = NormalNode(kind, text, role, field=context.field)
        if not role:
            return leaf
        leaf.lookup_scope = (
            context.scope.parent or context.scope if context.binding == Binds.ENCLOSING else context.scope
        )
        if context.binding and role != NameRole.MEMBER:
            self._declare(leaf, context)
        if (context.parent, context.field) in self.naming.member_positions:
            self._add_member(text, context)
        if leaf.declared_in is None:
            self.names.add_use(leaf, (context.parent, context.field), context.outer, context.scope)
        return self._expand_shorthand(leaf)

    def _expand_shorthand(self, leaf: NormalNode) -> NormalNode:
        """Write `{x}` as `{x: x}`."""
        if leaf.kind not in self.grammar.shorthands:
            return leaf
        pair, key_kind, value_kind = self.grammar.shorthands[leaf.kind]
        key = NormalNode(key_kind, leaf.text, NameRole.MEMBER, field="key")
        key.lookup_scope = leaf.lookup_scope
        leaf.kind, leaf.role, leaf.field = value_kind, NameRole.NAME, "value"
        return NormalNode(pair, children=[key, NormalNode("", ":"), leaf])

    def _declare(self, leaf: NormalNode, context: _Context) -> None:
        scope = context.scope.find_binding_scope(context.binding)
        scope.names.add(leaf.text)
        leaf.declared_in = scope
        if context.in_parameters:
            self.parameters.add((scope, leaf.text))
        position = (context.parent, context.field)
        is_known = context.is_private or position in self.naming.public.type_parameters
        if scope.kind == ScopeKind.CLASS:
            keeps = scope.has_fixed_members and self.naming.hides_class_scope
            if not keeps and self.names.is_private_member(leaf.text, is_known):
                self.members.add(leaf.text)
        elif context.in_parameters:
            self.names.add_parameter(scope, leaf.text, position)
        elif scope.parent is None:
            is_enclosing = context.binding == Binds.ENCLOSING
            is_exported = context.is_exported_around if is_enclosing else context.is_exported
            is_shared = not (context.in_import or is_known)
            self.names.add_file_name(scope, leaf.text, exported=is_exported, shared=is_shared)

    def _add_member(self, text: str, context: _Context) -> None:
        owner = context.scope.find_enclosing(ScopeKind.CLASS)
        is_free = owner is None or not owner.has_fixed_members
        if is_free and self.names.is_private_member(text, context.is_private):
            self.members.add(text)

    # --- inner nodes ---------------------------------------------------------------------------------

    def _build_inner(self, cursor: TreeCursor, node: Node, kind: str, context: _Context) -> NormalNode | None:
        own_scope = self._open_scope(node, kind, context.scope)
        normal_node = NormalNode(self.grammar.aliases.get(kind, kind), field=context.field, scope=own_scope)
        inner = _Context(kind, None, "", own_scope or context.scope, context.depth + 1)
        self._describe_inner(inner, node, kind, context)
        normal_node.children = self._visit_children(cursor, node, context, inner)
        if kind in self.naming.rebinding:
            self._rebind(normal_node, context.scope)
        if own_scope:
            own_scope.names -= own_scope.rebound
        return remove_noise(self.grammar, normal_node, node.type, context.parent, context.field)

    def _describe_inner(self, inner: _Context, node: Node, kind: str, context: _Context) -> None:
        """Say what holds for the children of a node."""
        rules = self.naming.public
        inner.outer = (context.parent, context.field)
        inner.in_parameters = kind in self.naming.parameters or (
            context.in_parameters and inner.scope is context.scope
        )
        inner.in_import = context.in_import or kind in rules.imports
        inner.is_exported = kind in rules.exports or (context.is_exported and inner.scope is context.scope)
        inner.is_private = rules.is_private(node) if kind in rules.modified else context.is_private
        inner.is_exported_around = context.is_exported
        if kind in rules.exporting:
            self.names.add_export(rules.find_exported(node))
        if kind in rules.module_syntax:
            self.names.is_module = True
        if rules.reads_names(node):
            self.names.reflect(inner.scope)

    def _open_scope(self, node: Node, kind: str, parent: LexicalScope) -> LexicalScope | None:
        scope_kind = self.naming.scopes.get(kind)
        if scope_kind is None:
            return None
        rules = self.naming.public
        children = {(kind, child.type) for child in node.children if child.named_child_count}
        scope = LexicalScope(scope_kind, parent)
        if scope_kind == ScopeKind.CLASS:
            has_bases = not children.isdisjoint(self.naming.base_class_children)
            scope.has_fixed_members = has_bases or rules.has_public_members(node)
        elif scope_kind == ScopeKind.FUNCTION:
            scope.parameters = rules.judge_parameters(node)
            scope.keyword_only = rules.find_keyword_only(node)
            name = node.child_by_field_name("name")
            self.names.functions[scope] = self._text(name) if name is not None else ""
        return scope

    def _rebind(self, node: NormalNode, scope: LexicalScope) -> None:
        scope.rebound |= {child.text for child in node.children if child.role}

    def _visit_children(
        self, cursor: TreeCursor, node: Node, context: _Context, inner: _Context
    ) -> list[NormalNode]:
        children: list[NormalNode] = []
        end, skipped = node.start_byte, self._find_documentation(node, context, inner)
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
            normal_child = self._keep_examples(child) if child.id in skipped else self._visit(cursor, inner)
            if normal_child is not None:
                children += self._rewrite(self._add_implicit_parent(normal_child, inner))
            has_child = cursor.goto_next_sibling()
        cursor.goto_parent()
        self._add_unparsed_text(children, end, node.end_byte)
        self._add_self_attributes(children, inner, context)
        return children

    def _find_documentation(self, node: Node, context: _Context, inner: _Context) -> set[int]:
        """Return the ids of strings that only describe: at the start of a body, or behind an attribute."""
        parents = self.grammar.docstring_parents.get(inner.parent)
        if parents is None or self.counts_documentation:
            return set()
        statements = [
            child for child in node.children if child.is_named and child.type not in self.grammar.comments
        ]
        found = {
            second.id
            for first, second in pairwise(statements)
            if _is_string_statement(second) and self._is_attribute(first)
        }
        is_described = context.parent in parents and bool(statements) and _is_string_statement(statements[0])
        if is_described and not self.grammar.is_documentation_read(node):
            found.add(statements[0].id)
        return found

    def _keep_examples(self, documentation: Node) -> NormalNode | None:
        """Return the examples in a docstring, which a test may run."""
        examples = self.grammar.examples.findall(self._text(documentation))
        return NormalNode("examples", "\n".join(examples)) if examples else None

    def _is_attribute(self, statement: Node) -> bool:
        child = statement.named_child(0) if statement.type == "expression_statement" else None
        return child is not None and child.type in self.grammar.attribute_owners

    def _rewrite(self, node: NormalNode) -> list[NormalNode]:
        """Replace what the language can spell in two ways by one of them."""
        rewrite = self.grammar.rewrites.get(node.kind)
        return [node] if rewrite is None else rewrite(node)

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
                    self._add_member(child.text, context)

    def _add_implicit_parent(self, child: NormalNode, inner: _Context) -> NormalNode:
        parent_kind = self.grammar.implicit_parents.get((inner.parent, inner.field))
        return (
            NormalNode(parent_kind, children=[child]) if parent_kind and child.kind != parent_kind else child
        )


def _is_string_statement(node: Node) -> bool:
    """Whether a statement is a string and nothing else."""
    child = node.named_child(0) if node.type == "expression_statement" else None
    is_string = (
        child is not None and child.type in {"string", "concatenated_string"} and node.named_child_count == 1
    )
    return is_string and not any(part.type == "interpolation" for part in (child.children if child else ()))
