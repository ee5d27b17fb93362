"""JSON and CSS: only layout and comments may change without changing what the text means."""

from __future__ import annotations

from traces.mutation_class.languages.grammar import Grammar, Naming, parse_kinds

NO_NAMES = Naming(roles={})

JSON = Grammar("tree_sitter_json", NO_NAMES, verbatim=parse_kinds("string"))
CSS = Grammar(
    "tree_sitter_css",
    NO_NAMES,
    verbatim=parse_kinds("string_value plain_value"),
    separators={"declaration": parse_kinds(";")},
)
