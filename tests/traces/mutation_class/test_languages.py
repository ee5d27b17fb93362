"""In a sample of each language everything that means something is replaced, and no replacement may pass."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tree_sitter import Node

from traces.mutation_class import REFACTOR, classify_change
from traces.mutation_class.languages import GRAMMARS, find_grammar
from traces.mutation_class.languages.grammar import load_language
from traces.mutation_class.parse import CpuLimit, parse

SAMPLES = sorted((Path(__file__).parents[2] / "data" / "mutation_class").iterdir())
NAMES = re.compile(r"[A-Za-z_]\w*")
OPERATORS = {
    "+": "-", "-": "+", "*": "+", "/": "*", "<": "<=", ">": ">=", "<=": "<", ">=": ">", "==": "!=", "!=": "==",
    "+=": "-=", "-=": "+=", "&&": "||", "||": "&&", "and": "or", "or": "and", "true": "false", "false": "true",
    "!": "-", "not": "-", "??": "||", "?.": ".", "++": "--", "return": "throw", "if": "while", "===": "!==",
}  # fmt: skip
COMMENTS = {"py": "# so", "rb": "# so", "css": "/* so */"}


def sample(path):
    """(the name that decides the language, the text)."""
    return path.name.removesuffix(".txt"), path.read_text(encoding="utf-8")


def leaves(node: Node, comments):
    if node.type in comments:
        return
    if not node.children:
        yield node
    for child in node.children:
        yield from leaves(child, comments)


def replacements(name, text):
    """The text with one leaf replaced, for every leaf and every replacement that there is for it."""
    data, grammar = text.encode(), find_grammar(name)
    found = list(leaves(parse(grammar, data, CpuLimit(9.0)), grammar.comments))
    said = {leaf: data[leaf.start_byte : leaf.end_byte].decode() for leaf in found}
    names = sorted({word for leaf, word in said.items() if leaf.is_named and NAMES.fullmatch(word)})
    for at, (leaf, word) in enumerate(said.items()):
        if is_documentation(leaf):
            continue
        for other in others(word, leaf, names, at):
            yield word, other, (data[: leaf.start_byte] + other.encode() + data[leaf.end_byte :]).decode()


def is_documentation(leaf):
    while leaf is not None and leaf.type != "expression_statement":
        leaf = leaf.parent
    return leaf is not None and leaf.text.startswith(b'"""')


def others(word, leaf, names, at):
    if word in OPERATORS:
        yield OPERATORS[word]
    elif word.isdigit():
        yield str(int(word) + 1)
    elif leaf.is_named and NAMES.fullmatch(word):
        yield from {names[(at * 7) % len(names)], names[(at * 13 + 5) % len(names)]} - {word}
    elif leaf.is_named and word.strip() and not re.search(r"\w\W|\W", word):
        yield f"{word}x"


@pytest.mark.deep
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_no_replacement_passes_as_a_refactoring(path):
    name, text = sample(path)
    tried = list(replacements(name, text))
    assert len(tried) > 8
    passed = [
        (word, other) for word, other, changed in tried if classify_change(name, text, changed) == REFACTOR
    ]
    assert passed == []


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_blank_lines_and_comments_pass(path):
    name, text = sample(path)
    assert classify_change(name, text, text.replace("\n", "\n\n")) == REFACTOR
    if not name.endswith(".json"):
        comment = COMMENTS.get(name.rpartition(".")[2], "// so")
        assert classify_change(name, text, f"{text}\n{comment}\n") == REFACTOR


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_every_line_counts(path):
    """Without a line it is another program, or none; the comments of the samples aside."""
    name, text = sample(path)
    lines = text.splitlines(keepends=True)
    quiet = ("#", "//", "/*", '"""', "    def ", " private", " public")
    for at, line in enumerate(lines):
        if line.strip() and not line.strip().startswith(quiet) and '"""' not in line:
            assert classify_change(name, text, "".join((*lines[:at], *lines[at + 1 :]))) != REFACTOR, line


@pytest.mark.parametrize("extension", GRAMMARS)
def test_every_kind_that_a_table_names_is_one_of_its_grammar(extension):
    """A misspelled kind would never match, so its rule would never apply."""
    grammar = GRAMMARS[extension]
    language = load_language(grammar.package, grammar.function)
    known = {language.node_kind_for_id(number) for number in range(language.node_kind_count)}
    naming = grammar.naming
    named = {*naming.roles, *naming.scopes, *naming.patterns, *naming.pattern_fields, *naming.rebinding}
    named |= {kind for kind, _ in (*naming.bindings, *naming.roles_by_position, *naming.member_positions)}
    named |= {
        *grammar.comments,
        *grammar.verbatim,
        *grammar.transparent,
        *grammar.trailing,
        *grammar.without_parentheses,
    }
    invented = set(grammar.kinds_by_position.values())
    assert sorted(named - known - invented - FOREIGN.get(extension, set())) == []


# JavaScript and TypeScript share a table, and so do C and C++ a part of one.
TYPES = {
    "abstract_class_declaration", "abstract_method_signature", "enum_body", "enum_declaration", "function_signature",
    "function_type", "interface_declaration", "internal_module", "method_signature", "optional_parameter",
    "public_field_definition", "required_parameter", "tuple_type", "type_alias_declaration", "type_arguments",
    "type_identifier", "type_parameter", "type_parameters",
}  # fmt: skip
FOREIGN = {
    **dict.fromkeys(("js", "mjs", "cjs", "jsx"), TYPES),
    **{ending: {"field_definition"} for ending in ("ts", "mts", "cts", "tsx")},
    "c": {"namespace_identifier", "lambda_expression", "raw_string_literal"},
}
