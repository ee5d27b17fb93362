"""Go. Definitions may be anywhere; variables keep their order, and so does every `init`."""

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
        "identifier": NameRole.NAME,
        "type_identifier": NameRole.NAME,
        "package_identifier": NameRole.NAME,
        "field_identifier": NameRole.MEMBER,
        "label_name": NameRole.EXTERNAL,
    },
    roles_by_position={
        ("package_clause", None): NameRole.EXTERNAL,
        ("literal_key", None): NameRole.NAME_AND_MEMBER,
        ("qualified_type", "name"): NameRole.EXTERNAL,
    },
    bindings={
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
    required_siblings={
        ("range_clause", "left"): parse_kinds(":="),
        ("receive_statement", "left"): parse_kinds(":="),
    },
    patterns=parse_kinds("expression_list"),
    scopes={
        **dict.fromkeys(("function_declaration", "method_declaration", "func_literal"), ScopeKind.FUNCTION),
        **dict.fromkeys(BLOCKS, ScopeKind.BLOCK),
    },
    member_positions=parse_positions("field_declaration.name method_declaration.name method_elem.name"),
    name_patterns=re.compile(
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
                definitions=parse_kinds(
                    "function_declaration method_declaration type_declaration const_declaration"
                ),
                imports=parse_kinds("import_declaration"),
                is_unordered=True,
            ),
            ("import_spec_list", "*"): Container(imports=parse_kinds("import_spec")),
            ("interface_type", "*"): Container(definitions=parse_kinds("method_elem"), is_unordered=True),
        },
    ),
    directives=re.compile(r"^//(?:go:|export |line )|^// ?\+build|#cgo|#include"),
    verbatim=parse_kinds("interpreted_string_literal raw_string_literal rune_literal"),
    kinds_by_position={("keyed_element", "key"): "literal_key"},
    transparent=parse_kinds("parenthesized_expression"),
    trailing=parse_kinds("argument_list parameter_list literal_value type_arguments type_parameter_list"),
    separators={"*": frozenset({"\n", ";", "\0"})},
)
