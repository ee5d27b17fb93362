"""Languages of which layout and comments are known, and little more: Ruby, JSON, CSS."""

from __future__ import annotations

import re

from traces.mutation_class.grammar import FUNCTION, NAME, Container, Grammar, Naming, Ordering, kinds, places

NO_NAMES = Naming(roles={})

RUBY = Grammar(
    "tree_sitter_ruby",
    Naming(
        roles=dict.fromkeys(("identifier", "constant", "instance_variable"), NAME),
        known=False,
        scopes={"method": FUNCTION, "singleton_method": FUNCTION},
    ),
    ordering=Ordering(
        containers={
            ("body_statement", kind): Container(definitions=kinds("method singleton_method"))
            for kind in ("class", "module")
        },
        later=places("method.body singleton_method.body"),
    ),
    orders=re.compile(
        r"^#!|^#\s*(?:-\*-)?\s*(?:frozen[_-]string[_-]literal|encoding|coding|warn[_-]indent)\s*:",
        re.IGNORECASE,
    ),
    verbatim=kinds("string_content heredoc_content regex simple_symbol string_array symbol_array"),
    trailing=kinds("array hash"),
    separators={"*": kinds(";")},
)
JSON = Grammar("tree_sitter_json", NO_NAMES, verbatim=kinds("string"))
CSS = Grammar(
    "tree_sitter_css",
    NO_NAMES,
    verbatim=kinds("string_value plain_value"),
    separators={"declaration": kinds(";")},
)
