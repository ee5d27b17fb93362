"""Java. Methods, constructors and types may be anywhere; fields and initialisers keep their order."""

from __future__ import annotations

import re

from traces.mutation_class.languages.grammar import (
    Binds,
    Container,
    Grammar,
    NameRole,
    Naming,
    Ordering,
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
    verbatim=parse_kinds("string_literal character_literal"),
    transparent=parse_kinds("parenthesized_expression"),
    trailing=parse_kinds("array_initializer enum_body element_value_array_initializer"),
)
