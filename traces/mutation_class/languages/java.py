"""Java. Methods, constructors and types may stand anywhere; fields and initialisers keep their order."""

from __future__ import annotations

import re

from traces.mutation_class.grammar import (
    BLOCK,
    CLASS,
    FIXED,
    FUNCTION,
    HERE,
    MEMBER,
    NAME,
    OUTSIDE,
    Container,
    Grammar,
    Naming,
    Ordering,
    kinds,
    places,
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
    roles={"identifier": NAME, "type_identifier": NAME},
    places={
        ("method_declaration", "name"): MEMBER,
        ("method_invocation", "name"): MEMBER,
        ("field_access", "field"): MEMBER,
        ("scoped_identifier", "name"): FIXED,
        ("scoped_identifier", "scope"): FIXED,
        ("import_declaration", None): FIXED,
        ("package_declaration", None): FIXED,
        ("scoped_type_identifier", None): FIXED,
        ("element_value_pair", "key"): FIXED,
        ("labeled_statement", None): FIXED,
        ("break_statement", None): FIXED,
        ("continue_statement", None): FIXED,
    },
    declares={
        **{(kind, "name"): OUTSIDE for kind in TYPES},
        ("variable_declarator", "name"): HERE,
        ("formal_parameter", "name"): HERE,
        ("catch_formal_parameter", "name"): HERE,
        ("enhanced_for_statement", "name"): HERE,
        ("resource", "name"): HERE,
        ("inferred_parameters", None): HERE,
        ("lambda_expression", "parameters"): HERE,
        ("type_parameter", None): HERE,
        ("enum_constant", "name"): HERE,
    },
    scopes={
        **dict.fromkeys((*TYPES, "object_creation_expression"), CLASS),
        **dict.fromkeys(FUNCTIONS, FUNCTION),
        **dict.fromkeys(BLOCKS, BLOCK),
    },
    members=places("method_declaration.name"),
    bases=frozenset(
        (kind, base)
        for kind in (*TYPES, "object_creation_expression")
        for base in ("superclass", "super_interfaces", "extends_interfaces", "class_body")
        if base != "class_body" or kind == "object_creation_expression"
    ),
    forms=re.compile(
        r"(?P<fixed>(?:toString|equals|hashCode|main|clone|finalize|readObject|writeObject|readResolve)$)"
        r"|(?P<test>test)"
    ),
)

BODY = Container(definitions=frozenset({*TYPES, "method_declaration", "constructor_declaration"}), free=True)

JAVA = Grammar(
    "tree_sitter_java",
    NAMING,
    ordering=Ordering(
        containers={
            ("program", ""): Container(
                definitions=frozenset(TYPES), imports=kinds("import_declaration"), free=True
            ),
            ("class_body", "*"): BODY,
            ("interface_body", "*"): BODY,
            ("enum_body_declarations", "*"): BODY,
        },
        stars=kinds("asterisk"),
    ),
    comments=kinds("line_comment block_comment"),
    verbatim=kinds("string_literal character_literal"),
    unwrapped=kinds("parenthesized_expression"),
    trailing=kinds("array_initializer enum_body element_value_array_initializer"),
)
