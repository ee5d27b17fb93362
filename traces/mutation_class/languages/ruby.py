"""Ruby. Names can be made at run time, so a change of names alone stays unclear."""

from __future__ import annotations

import re

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

RUBY = Grammar(
    "tree_sitter_ruby",
    Naming(
        roles=dict.fromkeys(("identifier", "constant", "instance_variable"), Role.NAME),
        known=False,
        scopes={"method": ScopeKind.FUNCTION, "singleton_method": ScopeKind.FUNCTION},
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
