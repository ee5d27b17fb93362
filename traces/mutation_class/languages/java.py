"""Java. Methods, constructors and types may be anywhere; fields and initialisers keep their order."""

from __future__ import annotations

import re

from tree_sitter import Node

from traces.mutation_class.languages.grammar import (
    Binds,
    Container,
    Exposure,
    Grammar,
    NameRole,
    Naming,
    Ordering,
    PublicNameRules,
    ScopeKind,
    parse_kinds,
    parse_positions,
)

TYPES = (
    "class_declaration",
    "interface_declaration",
    "enum_declaration",
    "record_declaration",
    "annotation_type_declaration",
)
FUNCTIONS = (
    "method_declaration",
    "constructor_declaration",
    "compact_constructor_declaration",
    "lambda_expression",
)
BLOCKS = (
    "block",
    "constructor_body",
    "for_statement",
    "enhanced_for_statement",
    "try_with_resources_statement",
    "catch_clause",
    "switch_block_statement_group",
    "switch_rule",
)

HARMLESS = frozenset({b"Override", b"Deprecated", b"SuppressWarnings", b"SafeVarargs", b"VisibleForTesting"})


def is_private(declaration: Node) -> bool:
    """Whether only its class can see a member. Serialisers read private fields, but for static ones."""
    modifiers = [child for child in declaration.children if child.type == "modifiers"]
    words = {word.text for child in modifiers for word in child.children}
    is_field = declaration.type == "field_declaration"
    return b"private" in words and not (is_field and words.isdisjoint({b"static", b"transient"}))


def judge_parameters(function: Node) -> Exposure:
    """A framework may read the names of parameters, as annotations of the method or of one of them tell."""
    parameters = function.child_by_field_name("parameters")
    owners = [function, *(parameters.named_children if parameters is not None else ())]
    return Exposure.CERTAIN if any(_is_annotated(owner) for owner in owners) else Exposure.NONE


def _is_annotated(owner: Node) -> bool:
    annotations = (
        word.child_by_field_name("name")
        for child in owner.children
        if child.type == "modifiers"
        for word in child.named_children
    )
    return any(name is not None and name.text not in HARMLESS for name in annotations)


NAMING = Naming(
    roles={"identifier": NameRole.NAME, "type_identifier": NameRole.NAME},
    roles_by_position={
        ("method_declaration", "name"): NameRole.MEMBER,
        ("method_invocation", "name"): NameRole.MEMBER,
        ("field_access", "field"): NameRole.MEMBER,
        ("scoped_identifier", "name"): NameRole.EXTERNAL,
        ("scoped_identifier", "scope"): NameRole.EXTERNAL,
        ("import_declaration", None): NameRole.EXTERNAL,
        ("package_declaration", None): NameRole.EXTERNAL,
        ("scoped_type_identifier", None): NameRole.EXTERNAL,
        ("element_value_pair", "key"): NameRole.EXTERNAL,
        ("labeled_statement", None): NameRole.EXTERNAL,
        ("break_statement", None): NameRole.EXTERNAL,
        ("continue_statement", None): NameRole.EXTERNAL,
    },
    bindings={
        **{(kind, "name"): Binds.ENCLOSING for kind in TYPES},
        ("variable_declarator", "name"): Binds.INNERMOST,
        ("formal_parameter", "name"): Binds.INNERMOST,
        ("catch_formal_parameter", "name"): Binds.INNERMOST,
        ("enhanced_for_statement", "name"): Binds.INNERMOST,
        ("resource", "name"): Binds.INNERMOST,
        ("inferred_parameters", None): Binds.INNERMOST,
        ("lambda_expression", "parameters"): Binds.INNERMOST,
        ("type_parameter", None): Binds.INNERMOST,
        ("enum_constant", "name"): Binds.INNERMOST,
    },
    scopes={
        **dict.fromkeys((*TYPES, "object_creation_expression"), ScopeKind.CLASS),
        **dict.fromkeys(FUNCTIONS, ScopeKind.FUNCTION),
        **dict.fromkeys(BLOCKS, ScopeKind.BLOCK),
    },
    member_positions=parse_positions("method_declaration.name"),
    base_class_children=frozenset(
        (kind, base)
        for kind in (*TYPES, "object_creation_expression")
        for base in ("superclass", "super_interfaces", "extends_interfaces", "class_body")
        if base != "class_body" or kind == "object_creation_expression"
    ),
    parameters=parse_kinds("formal_parameters"),
    public=PublicNameRules(
        imports=parse_kinds("import_declaration"),
        type_parameters=frozenset({("type_parameter", None)}),
        modified=frozenset({*TYPES, "method_declaration", "field_declaration"}),
        is_private=is_private,
        judge_parameters=judge_parameters,
    ),
    name_patterns=re.compile(
        r"(?P<fixed>(?:toString|equals|hashCode|main|clone|finalize|readObject|writeObject|readResolve)$)"
        r"|(?P<test>test)"
    ),
)

BODY = Container(
    definitions=frozenset({*TYPES, "method_declaration", "constructor_declaration"}), is_unordered=True
)

JAVA = Grammar(
    "tree_sitter_java",
    NAMING,
    ordering=Ordering(
        containers={
            ("program", ""): Container(
                definitions=frozenset(TYPES), imports=parse_kinds("import_declaration"), is_unordered=True
            ),
            ("class_body", "*"): BODY,
            ("interface_body", "*"): BODY,
            ("enum_body_declarations", "*"): BODY,
        },
        wildcard_imports=parse_kinds("asterisk"),
    ),
    comments=parse_kinds("line_comment block_comment"),
    strings=parse_kinds("string_literal"),
    verbatim=parse_kinds("string_literal character_literal"),
    transparent=parse_kinds("parenthesized_expression"),
    trailing=parse_kinds("array_initializer enum_body element_value_array_initializer"),
)
