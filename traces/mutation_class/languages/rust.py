"""Rust. Macros hide what a name means, so a change of names alone stays unclear."""

from __future__ import annotations

import re

from traces.mutation_class.languages.grammar import (
    Container,
    Grammar,
    NameRole,
    Naming,
    Ordering,
    ScopeKind,
    parse_kinds,
    parse_positions,
)

ITEMS = parse_kinds(
    "function_item function_signature_item struct_item enum_item union_item impl_item "
    "trait_item type_item const_item static_item mod_item associated_type"
)
BODY = Container(definitions=ITEMS, imports=parse_kinds("use_declaration"))

RUST = Grammar(
    "tree_sitter_rust",
    Naming(
        roles=dict.fromkeys(
            ("identifier", "type_identifier", "field_identifier", "shorthand_field_identifier"), NameRole.NAME
        ),
        is_complete=False,
        scopes={"function_item": ScopeKind.FUNCTION, "closure_expression": ScopeKind.FUNCTION},
    ),
    ordering=Ordering(
        containers={
            ("source_file", ""): BODY,
            ("declaration_list", "*"): BODY,
            ("use_list", "*"): Container(
                imports=parse_kinds("identifier scoped_identifier use_as_clause scoped_use_list self")
            ),
        },
        deferred=frozenset((kind, "body") for kind in ITEMS)
        | parse_positions("static_item.value const_item.value"),
        attached=parse_kinds("attribute_item"),
        wildcard_imports=parse_kinds("use_wildcard"),
    ),
    comments=parse_kinds("line_comment block_comment"),
    documentation=re.compile(r"^//[/!](?!/)|^/\*[*!](?!\*)"),
    documentation_readers=re.compile(
        r"derive\([^)]*\b(?:Parser|Args|Subcommand|ValueEnum|StructOpt|FromArgs|JsonSchema|ToSchema|IntoParams"
        r"|SimpleObject|InputObject|GraphQL\w*)\b"
    ),
    verbatim=parse_kinds("string_literal raw_string_literal char_literal"),
    transparent=parse_kinds("parenthesized_expression"),
    trailing=parse_kinds(
        "arguments parameters array_expression struct_expression field_initializer_list "
        "field_declaration_list enum_variant_list use_list type_parameters type_arguments"
    ),
    separators={"match_arm": parse_kinds(","), "use_list": parse_kinds(",")},
)
