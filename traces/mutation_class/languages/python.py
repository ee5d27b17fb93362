"""Python. Strings and numbers count by value, docstrings as comments."""

from __future__ import annotations

import ast
import re
import warnings

from tree_sitter import Node

from traces.mutation_class.languages.grammar import (
    Binds,
    Container,
    Grammar,
    NameRole,
    Naming,
    Ordering,
    ScopeKind,
    parse_kinds,
    parse_positions,
)

MAX_LITERAL_LENGTH = 20_000  # characters of a text or number that is worked out

NAMING = Naming(
    roles={"identifier": NameRole.NAME},
    roles_by_position={
        ("attribute", "attribute"): NameRole.MEMBER,
        ("keyword_argument", "name"): NameRole.KEYWORD,
        ("keyword_pattern", None): NameRole.EXTERNAL,
        ("dotted_name", None): NameRole.EXTERNAL,
    },
    bindings={
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
    patterns=parse_kinds(
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
    rebinding=parse_kinds("global_statement nonlocal_statement"),
    parameters=parse_kinds("parameters lambda_parameters"),
    base_class_children=frozenset({("class_definition", "argument_list")}),
    assignments=parse_kinds("assignment"),
    self_attribute=("attribute", "object", parse_kinds("self cls")),
    hides_class_scope=True,
    name_patterns=re.compile(
        r"(?P<fixed>__\w+__$|setUp|tearDown)|(?P<test>test)|(?P<tests>Test)|(?P<mangled>__)"
    ),
)

ORDERING = Ordering(
    containers={
        ("module", ""): Container(
            definitions=parse_kinds("function_definition class_definition"),
            imports=parse_kinds("import_statement import_from_statement"),
            values=parse_kinds("expression_statement"),
        ),
        ("block", "class_definition"): Container(
            definitions=parse_kinds("function_definition class_definition"),
            values=parse_kinds("expression_statement"),
            keeps_value_order=True,
        ),
        ("import_from_statement", "*"): Container(imports=parse_kinds("dotted_name aliased_import")),
    },
    wrappers=parse_kinds("decorated_definition"),
    deferred=parse_positions("function_definition.body lambda.body"),
    executing=parse_kinds(
        "call await yield attribute subscript named_expression list_comprehension "
        "set_comprehension dictionary_comprehension generator_expression "
        "augmented_assignment"
    ),
    order_free_decorators=re.compile(
        r"@(?:(?:abc|functools|typing|dataclasses)\.)?"
        r"(?:property|staticmethod|classmethod|abstractmethod|overload|override|final|cached_property|dataclass"
        r"|\w+\.(?:setter|getter|deleter))"
    ),
    decorators=parse_kinds("decorator"),
    wildcard_imports=parse_kinds("wildcard_import"),
)


def evaluate_literal(node: Node, text: str) -> str | None:
    """Return the value of a literal as Python reads it; None for an f-string or anything else."""
    if len(text) > MAX_LITERAL_LENGTH or any(_is_formatted(part) for part in (node, *node.named_children)):
        return None
    try:
        with warnings.catch_warnings():
            value = ast.literal_eval(f"({text})")
            return repr((type(value).__name__, value))
    except (ValueError, SyntaxError, MemoryError, RecursionError, Warning):
        return None


def _is_formatted(node: Node) -> bool:
    return node.type == "interpolation" or any(child.type == "interpolation" for child in node.children)


def normalize_quote(_node: Node, text: str) -> str:
    """Return the prefix of a string; which quote follows does not count."""
    return text.strip("'\"").lower()


PYTHON = Grammar(
    "tree_sitter_python",
    NAMING,
    ordering=ORDERING,
    comments=parse_kinds("comment line_continuation"),
    directives=re.compile(r"^#!|^#.*?coding[:=]"),
    verbatim=parse_kinds("string_content format_specifier"),
    aliases={"expression_list": "tuple", "pattern_list": "tuple_pattern", "concatenated_string": "string"},
    transparent=parse_kinds("parenthesized_expression"),
    without_parentheses=parse_kinds(
        "tuple tuple_pattern import_from_statement with_clause argument_list generator_expression"
    ),
    implicit_parents={("call", "arguments"): "argument_list"},
    trailing=parse_kinds(
        "argument_list parameters lambda_parameters list dictionary set tuple "
        "tuple_pattern list_pattern expression_list pattern_list import_from_statement "
        "with_clause"
    ),
    separators={"*": parse_kinds(";"), "import_from_statement": parse_kinds(",")},
    dropped_when_empty=parse_kinds("argument_list"),
    docstring_parents={
        "module": frozenset({""}),
        "block": parse_kinds("function_definition class_definition"),
    },
    converters={
        "string": evaluate_literal,
        "concatenated_string": evaluate_literal,
        "integer": evaluate_literal,
        "float": evaluate_literal,
        "string_start": normalize_quote,
        "string_end": lambda _node, _text: "",
    },
)
