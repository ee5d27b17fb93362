"""Python. Texts and numbers count by what they mean, docstrings as comments."""

from __future__ import annotations

import ast
import re
import warnings

from tree_sitter import Node

from traces.mutation_class.grammar import (
    BLOCK,
    CLASS,
    FIXED,
    FUNCTION,
    HERE,
    KEYWORD,
    MEMBER,
    NAME,
    OUTSIDE,
    Container,
    Grammar,
    Naming,
    Ordering,
    kinds,
    places,
)

MAX_LITERAL_LENGTH = 20_000  # characters of a text or number that is worked out

NAMING = Naming(
    roles={"identifier": NAME},
    places={
        ("attribute", "attribute"): MEMBER,
        ("keyword_argument", "name"): KEYWORD,
        ("keyword_pattern", None): FIXED,
        ("dotted_name", None): FIXED,
    },
    declares={
        ("function_definition", "name"): OUTSIDE,
        ("class_definition", "name"): OUTSIDE,
        ("parameters", None): HERE,
        ("lambda_parameters", None): HERE,
        ("typed_parameter", None): HERE,
        ("default_parameter", "name"): HERE,
        ("typed_default_parameter", "name"): HERE,
        ("assignment", "left"): HERE,
        ("augmented_assignment", "left"): HERE,
        ("named_expression", "name"): FUNCTION,
        ("for_statement", "left"): HERE,
        ("for_in_clause", "left"): HERE,
        ("as_pattern", "alias"): HERE,
        ("delete_statement", None): HERE,
        ("import_statement", "name"): HERE,
        ("import_from_statement", "name"): HERE,
        ("aliased_import", "alias"): HERE,
        ("type_alias_statement", "left"): HERE,
    },
    patterns=kinds(
        "pattern_list tuple_pattern list_pattern list_splat_pattern "
        "dictionary_splat_pattern as_pattern_target dotted_name expression_list type"
    ),
    scopes={
        "function_definition": FUNCTION,
        "lambda": FUNCTION,
        "class_definition": CLASS,
        "list_comprehension": BLOCK,
        "set_comprehension": BLOCK,
        "dictionary_comprehension": BLOCK,
        "generator_expression": BLOCK,
    },
    releases=kinds("global_statement nonlocal_statement"),
    parameters=kinds("parameters lambda_parameters"),
    bases=frozenset({("class_definition", "argument_list")}),
    assigns=kinds("assignment"),
    selves=("attribute", "object", kinds("self cls")),
    hides_classes=True,
    forms=re.compile(r"(?P<fixed>__\w+__$|setUp|tearDown)|(?P<test>test)|(?P<tests>Test)|(?P<mangled>__)"),
)

ORDERING = Ordering(
    containers={
        ("module", ""): Container(
            definitions=kinds("function_definition class_definition"),
            imports=kinds("import_statement import_from_statement"),
            values=kinds("expression_statement"),
        ),
        ("block", "class_definition"): Container(
            definitions=kinds("function_definition class_definition"),
            values=kinds("expression_statement"),
            values_in_order=True,
        ),
        ("import_from_statement", "*"): Container(imports=kinds("dotted_name aliased_import")),
    },
    wrappers=kinds("decorated_definition"),
    later=places("function_definition.body lambda.body"),
    acting=kinds(
        "call await yield attribute subscript named_expression list_comprehension "
        "set_comprehension dictionary_comprehension generator_expression "
        "augmented_assignment"
    ),
    inert=re.compile(
        r"@(?:(?:abc|functools|typing|dataclasses)\.)?"
        r"(?:property|staticmethod|classmethod|abstractmethod|overload|override|final|cached_property|dataclass"
        r"|\w+\.(?:setter|getter|deleter))"
    ),
    decorators=kinds("decorator"),
    stars=kinds("wildcard_import"),
)


def value_of(node: Node, text: str) -> str | None:
    """A text or a number as Python reads it; None for one with expressions in it, or that is no literal."""
    if len(text) > MAX_LITERAL_LENGTH or any(_is_formatted(one) for one in (node, *node.named_children)):
        return None
    try:
        with warnings.catch_warnings():
            value = ast.literal_eval(f"({text})")
            return repr((type(value).__name__, value))
    except (ValueError, SyntaxError, MemoryError, RecursionError, Warning):
        return None


def _is_formatted(node: Node) -> bool:
    return node.type == "interpolation" or any(child.type == "interpolation" for child in node.children)


def quote_of(_node: Node, text: str) -> str:
    """The letters before a quote; which quote it is says nothing."""
    return text.strip("'\"").lower()


PYTHON = Grammar(
    "tree_sitter_python",
    NAMING,
    ordering=ORDERING,
    comments=kinds("comment line_continuation"),
    orders=re.compile(r"^#!|^#.*?coding[:=]"),
    verbatim=kinds("string_content format_specifier"),
    same={"expression_list": "tuple", "pattern_list": "tuple_pattern", "concatenated_string": "string"},
    unwrapped=kinds("parenthesized_expression"),
    bare=kinds("tuple tuple_pattern import_from_statement with_clause argument_list generator_expression"),
    wraps={("call", "arguments"): "argument_list"},
    trailing=kinds(
        "argument_list parameters lambda_parameters list dictionary set tuple "
        "tuple_pattern list_pattern expression_list pattern_list import_from_statement "
        "with_clause"
    ),
    separators={"*": kinds(";"), "import_from_statement": kinds(",")},
    empties=kinds("argument_list"),
    documented={"module": frozenset({""}), "block": kinds("function_definition class_definition")},
    special={
        "string": value_of,
        "concatenated_string": value_of,
        "integer": value_of,
        "float": value_of,
        "string_start": quote_of,
        "string_end": lambda _node, _text: "",
    },
)
