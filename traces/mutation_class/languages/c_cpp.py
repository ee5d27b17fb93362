"""C and C++. Macros hide what a name means, so a change of names alone stays unclear."""

from __future__ import annotations

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

C_NAMES = dict.fromkeys(
    ("identifier", "type_identifier", "field_identifier", "statement_identifier", "namespace_identifier"),
    NameRole.NAME,
)
C_NAMING = Naming(
    roles=C_NAMES,
    is_complete=False,
    scopes={"function_definition": ScopeKind.FUNCTION, "lambda_expression": ScopeKind.FUNCTION},
)
C_TOP = Container(definitions=parse_kinds("function_definition"), imports=parse_kinds("preproc_include"))
C_VERBATIM = parse_kinds("string_literal raw_string_literal char_literal preproc_arg system_lib_string")

C = Grammar(
    "tree_sitter_c",
    C_NAMING,
    ordering=Ordering(
        containers={("translation_unit", ""): C_TOP}, deferred=parse_positions("function_definition.body")
    ),
    verbatim=C_VERBATIM,
    trailing=parse_kinds("initializer_list enumerator_list"),
    converters={"preproc_arg": lambda _node, text: " ".join(text.split())},
)

CPP = Grammar(
    "tree_sitter_cpp",
    C_NAMING,
    ordering=Ordering(
        containers={("translation_unit", ""): Container(imports=parse_kinds("preproc_include"))},
    ),
    verbatim=C_VERBATIM,
    trailing=parse_kinds("initializer_list enumerator_list"),
    converters={"preproc_arg": lambda _node, text: " ".join(text.split())},
)
