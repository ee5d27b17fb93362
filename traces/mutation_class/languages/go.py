"""Go. Definitions may be anywhere; variables keep their order, and so does every `init`."""

from __future__ import annotations

import re
from collections import Counter

from traces.mutation_class.forms import NormalNode
from traces.mutation_class.languages.grammar import (
    Binds,
    Container,
    Grammar,
    NameRole,
    Naming,
    Ordering,
    PublicNameRules,
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
    public=PublicNameRules(private=re.compile(r"(?![A-Z])"), imports=parse_kinds("import_declaration")),
    name_patterns=re.compile(
        r"(?P<fixed>(?:init|main|_|String|Error|Close|Read|Write|Len|Less|Swap)$)"
        r"|(?P<test>Test|Benchmark|Fuzz|Example)|(?P<public>[A-Z])"
    ),
)


def split_parameters(parameters: NormalNode) -> list[NormalNode]:
    """Write `a, b int` as `a int, b int`."""
    children: list[NormalNode] = []
    for child in parameters.children:
        names = [part for part in child.children if part.field == "name"]
        if child.kind != "parameter_declaration" or len(names) < 2:
            children.append(child)
            continue
        types = [part for part in child.children if part.field == "type"]
        for name in names:
            comma = [NormalNode("", ",")] if name is not names[0] else []
            children += [*comma, NormalNode(child.kind, children=[name, *types], field=child.field)]
    parameters.children = children
    return [parameters]


def name_empty_interface(interface: NormalNode) -> list[NormalNode]:
    """Write `interface{}` as `any`."""
    if any(child.kind for child in interface.children):
        return [interface]
    return [NormalNode("type_identifier", "any", NameRole.NAME, field=interface.field)]


def drop_unused_parameters(function: NormalNode) -> list[NormalNode]:
    """Name parameters without a use `_`."""
    texts = Counter(node.text for node in function.walk() if node.role)
    for parameters in function.children:
        if parameters.field in {"parameters", "receiver"}:
            for name in [part for child in parameters.children for part in child.children]:
                if name.field == "name" and texts[name.text] == 1:
                    name.text = "_"
    return [function]


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
    strings=parse_kinds("interpreted_string_literal"),
    rewrites={
        "parameter_list": split_parameters,
        "interface_type": name_empty_interface,
        **dict.fromkeys(
            ("function_declaration", "method_declaration", "func_literal"), drop_unused_parameters
        ),
    },
    separators={"*": frozenset({"\n", ";", "\0"})},
)
