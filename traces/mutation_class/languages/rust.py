"""Rust. Macros hide what a name means, so a change of names alone stays unclear."""

from __future__ import annotations

from traces.mutation_class.languages.grammar import (
    Container,
    Grammar,
    Naming,
    Ordering,
    Role,
    ScopeKind,
    kinds,
    places,
)

RUST_ITEMS = kinds(
    "function_item function_signature_item struct_item enum_item union_item impl_item "
    "trait_item type_item const_item static_item mod_item associated_type"
)
RUST_BODY = Container(definitions=RUST_ITEMS, imports=kinds("use_declaration"))

RUST = Grammar(
    "tree_sitter_rust",
    Naming(
        roles=dict.fromkeys(
            ("identifier", "type_identifier", "field_identifier", "shorthand_field_identifier"), Role.NAME
        ),
        known=False,
        scopes={"function_item": ScopeKind.FUNCTION, "closure_expression": ScopeKind.FUNCTION},
    ),
    ordering=Ordering(
        containers={
            ("source_file", ""): RUST_BODY,
            ("declaration_list", "*"): RUST_BODY,
            ("use_list", "*"): Container(
                imports=kinds("identifier scoped_identifier use_as_clause scoped_use_list self")
            ),
        },
        later=frozenset((kind, "body") for kind in RUST_ITEMS) | places("static_item.value const_item.value"),
        glued=kinds("attribute_item"),
        stars=kinds("use_wildcard"),
    ),
    comments=kinds("line_comment block_comment"),
    verbatim=kinds("string_literal raw_string_literal char_literal"),
    unwrapped=kinds("parenthesized_expression"),
    trailing=kinds(
        "arguments parameters array_expression struct_expression field_initializer_list "
        "field_declaration_list enum_variant_list use_list type_parameters type_arguments"
    ),
    separators={"match_arm": kinds(","), "use_list": kinds(",")},
)
