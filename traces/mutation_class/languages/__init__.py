"""Map file extensions to grammars. A new language is a row here and a module in this package."""

from __future__ import annotations

from collections.abc import Mapping

from traces.mutation_class.languages.c_cpp import CPP, C
from traces.mutation_class.languages.go import GO
from traces.mutation_class.languages.grammar import Grammar
from traces.mutation_class.languages.java import JAVA
from traces.mutation_class.languages.javascript import JAVASCRIPT, TSX, TYPESCRIPT
from traces.mutation_class.languages.json_css import CSS, JSON
from traces.mutation_class.languages.python import PYTHON
from traces.mutation_class.languages.ruby import RUBY
from traces.mutation_class.languages.rust import RUST

GRAMMARS: Mapping[str, Grammar] = {
    ending: grammar
    for endings, grammar in (
        ("py pyi", PYTHON),
        ("js mjs cjs jsx", JAVASCRIPT),
        ("ts mts cts", TYPESCRIPT),
        ("tsx", TSX),
        ("go", GO),
        ("java", JAVA),
        ("rs", RUST),
        ("c", C),
        ("cc cpp cxx hpp hh hxx", CPP),
        ("rb rake gemspec", RUBY),
        ("json", JSON),
        ("css", CSS),
    )
    for ending in endings.split()
}


def find_grammar(path: str) -> Grammar | None:
    """Find the grammar by extension, ignoring case;

    None for unknown ones such as `.h`, which may be C or C++.
    """
    name = path.rpartition("/")[2]
    stem, _, extension = name.rpartition(".")
    return GRAMMARS.get(extension.lower()) if stem else None
