"""Go. Definitions may stand anywhere; variables keep their order, and so does every `init`."""

from __future__ import annotations

import re

from traces.mutation_class.languages.grammar import (
    Binds,
    Container,
    Grammar,
    Naming,
    Ordering,
    Role,
    ScopeKind,
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
        "identifier": Role.NAME,
        "type_identifier": Role.NAME,
        "package_identifier": Role.NAME,
        "field_identifier": Role.MEMBER,
        "label_name": Role.EXTERNAL,
    },
    places={
        ("package_clause", None): Role.EXTERNAL,
        ("literal_key", None): Role.NAME_AND_MEMBER,
        ("qualified_type", "name"): Role.EXTERNAL,
    },
    declares={
        ("function_declaration", "name"): Binds.ENCLOSING,
        ("type_spec", "name"): Binds.ENCLOSING,
        ("type_alias", "name"): Binds.ENCLOSING,
        ("const_spec", "name"): Binds.INNERMOST,
        ("var_spec", "name"): Binds.INNERMOST,
        ("parameter_declaration", "name"): Binds.INNERMOST,
        ("variadic_parameter_declaration", "name"): Binds.INNERMOST,
        ("type_parameter_declaration", "name"): Binds.INNERMOST,
        ("short_var_declaration", "left"): Binds.INNERMOST,
        ("range_clause", "left"): Binds.INNERMOST,
        ("receive_statement", "left"): Binds.INNERMOST,
        ("type_switch_statement", "alias"): Binds.INNERMOST,
        ("import_spec", "name"): Binds.INNERMOST,
    },
    needs={
        ("range_clause", "left"): kinds(":="),
        ("receive_statement", "left"): kinds(":="),
    },
    patterns=kinds("expression_list"),
    scopes={
        **dict.fromkeys(("function_declaration", "method_declaration", "func_literal"), ScopeKind.FUNCTION),
        **dict.fromkeys(BLOCKS, ScopeKind.BLOCK),
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
