"""Python. Texts and numbers count by what they mean, docstrings as comments."""

from __future__ import annotations

import ast
import re
import warnings

from tree_sitter import Node

from traces.mutation_class.languages.grammar import (
    Binds,
    Container,
    Grammar,
    Naming,
    Ordering,
    Role,
    ScopeKind,
    kinds,
    places,
)

MAX_LITERAL_LENGTH = 20_000  # characters of a text or number that is worked out

NAMING = Naming(
    roles={"identifier": Role.NAME},
    places={
        ("attribute", "attribute"): Role.MEMBER,
        ("keyword_argument", "name"): Role.KEYWORD,
        ("keyword_pattern", None): Role.EXTERNAL,
        ("dotted_name", None): Role.EXTERNAL,
    },
    declares={
        ("function_definition", "name"): Binds.ENCLOSING,
        ("class_definition", "name"): Binds.ENCLOSING,
        ("parameters", None): Binds.INNERMOST,
        ("lambda_parameters", None): Binds.INNERMOST,
        ("typed_parameter", None): Binds.INNERMOST,
        ("default_parameter", "name"): Binds.INNERMOST,
        ("typed_default_parameter", "name"): Binds.INNERMOST,
        ("assignment", "left"): Binds.INNERMOST,
        ("augmented_assignment", "left"): Binds.INNERMOST,
        ("named_expression", "name"): Binds.FUNCTION,
        ("for_statement", "left"): Binds.INNERMOST,
        ("for_in_clause", "left"): Binds.INNERMOST,
        ("as_pattern", "alias"): Binds.INNERMOST,
        ("delete_statement", None): Binds.INNERMOST,
        ("import_statement", "name"): Binds.INNERMOST,
        ("import_from_statement", "name"): Binds.INNERMOST,
        ("aliased_import", "alias"): Binds.INNERMOST,
        ("type_alias_statement", "left"): Binds.INNERMOST,
    },
    patterns=kinds(
        "pattern_list tuple_pattern list_pattern list_splat_pattern "
        "dictionary_splat_pattern as_pattern_target dotted_name expression_list type"
    ),
    scopes={
        "function_definition": ScopeKind.FUNCTION,
        "lambda": ScopeKind.FUNCTION,
        "class_definition": ScopeKind.CLASS,
        "list_comprehension": ScopeKind.BLOCK,
        "set_comprehension": ScopeKind.BLOCK,
        "dictionary_comprehension": ScopeKind.BLOCK,
        "generator_expression": ScopeKind.BLOCK,
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
