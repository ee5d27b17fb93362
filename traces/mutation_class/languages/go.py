"""Go. Definitions may stand anywhere; variables keep their order, and so does every `init`."""

from __future__ import annotations

import re

from traces.mutation_class.grammar import (
    BLOCK,
    BOTH,
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

BLOCKS = (
    "block",
    "for_statement",
    "if_statement",
    "expression_switch_statement",
    "type_switch_statement",
    "expression_case",
    "type_case",
    "default_case",
    "communication_case",
    "type_spec",
    "type_alias",
)

NAMING = Naming(
    roles={
        "identifier": NAME,
        "type_identifier": NAME,
        "package_identifier": NAME,
        "field_identifier": MEMBER,
        "label_name": FIXED,
    },
    places={
        ("package_clause", None): FIXED,
        ("literal_key", None): BOTH,
        ("qualified_type", "name"): FIXED,
    },
    declares={
        ("function_declaration", "name"): OUTSIDE,
        ("type_spec", "name"): OUTSIDE,
        ("type_alias", "name"): OUTSIDE,
        ("const_spec", "name"): HERE,
        ("var_spec", "name"): HERE,
        ("parameter_declaration", "name"): HERE,
        ("variadic_parameter_declaration", "name"): HERE,
        ("type_parameter_declaration", "name"): HERE,
        ("short_var_declaration", "left"): HERE,
        ("range_clause", "left"): HERE,
        ("receive_statement", "left"): HERE,
        ("type_switch_statement", "alias"): HERE,
        ("import_spec", "name"): HERE,
    },
    needs={
        ("range_clause", "left"): kinds(":="),
        ("receive_statement", "left"): kinds(":="),
    },
    patterns=kinds("expression_list"),
    scopes={
        **dict.fromkeys(("function_declaration", "method_declaration", "func_literal"), FUNCTION),
        **dict.fromkeys(BLOCKS, BLOCK),
    },
    members=places("field_declaration.name method_declaration.name method_elem.name"),
    forms=re.compile(
        r"(?P<fixed>(?:init|main|_|String|Error|Close|Read|Write|Len|Less|Swap)$)"
        r"|(?P<test>Test|Benchmark|Fuzz|Example)|(?P<public>[A-Z])"
    ),
)

GO = Grammar(
    "tree_sitter_go",
    NAMING,
    ordering=Ordering(
        containers={
            ("source_file", ""): Container(
                definitions=kinds(
                    "function_declaration method_declaration type_declaration const_declaration"
                ),
                imports=kinds("import_declaration"),
                free=True,
            ),
            ("import_spec_list", "*"): Container(imports=kinds("import_spec")),
            ("interface_type", "*"): Container(definitions=kinds("method_elem"), free=True),
        },
    ),
    orders=re.compile(r"^//(?:go:|export |line )|^// ?\+build|#cgo|#include"),
    verbatim=kinds("interpreted_string_literal raw_string_literal rune_literal"),
    placed={("keyed_element", "key"): "literal_key"},
    unwrapped=kinds("parenthesized_expression"),
    trailing=kinds("argument_list parameter_list literal_value type_arguments type_parameter_list"),
    separators={"*": frozenset({"\n", ";", "\0"})},
)
