"""Ruby. Names can be made at run time, so a change of names alone stays unclear."""

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

RUBY = Grammar(
    "tree_sitter_ruby",
    Naming(
        roles=dict.fromkeys(("identifier", "constant", "instance_variable"), NameRole.NAME),
        is_complete=False,
        scopes={"method": ScopeKind.FUNCTION, "singleton_method": ScopeKind.FUNCTION},
    ),
    ordering=Ordering(
        containers={
            ("body_statement", kind): Container(definitions=parse_kinds("method singleton_method"))
            for kind in ("class", "module")
        },
        deferred=parse_positions("method.body singleton_method.body"),
    ),
    directives=re.compile(
        r"^#!|^#\s*(?:-\*-)?\s*(?:frozen[_-]string[_-]literal|encoding|coding|warn[_-]indent)\s*:",
        re.IGNORECASE,
    ),
    verbatim=parse_kinds("string_content heredoc_content regex simple_symbol string_array symbol_array"),
    trailing=parse_kinds("array hash"),
    separators={"*": parse_kinds(";")},
)
