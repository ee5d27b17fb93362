"""Python. Strings and numbers count by value, docstrings as comments."""

from __future__ import annotations

import ast
import re
import warnings
from collections import Counter

from tree_sitter import Node

from traces.mutation_class.forms import NormalNode
from traces.mutation_class.languages.grammar import (
    Binds,
    Container,
    Exposure,
    Grammar,
    NameRole,
    Naming,
    Ordering,
    PublicNameRules,
    ScopeKind,
    parse_kinds,
    parse_positions,
)

MAX_LITERAL_LENGTH = 20_000  # characters of a text or number that is worked out
_PRIVATE = re.compile(r"_(?!_\w*__$)")
# Decorators that show the docstring to somebody: on a command line, in an API's description, to a model.
SHOWN = re.compile(
    r"(?:^@|\.)(?:command|group|callback|route|get|post|put|patch|delete|head|options|websocket|tool|\w+_tool"
    r"|resource|prompt|action|agent|step)\b"
)


def is_decorated(definition: Node) -> bool:
    """Whether a decorator sees a function or class, with its parameters and members."""
    return definition.parent is not None and definition.parent.type == "decorated_definition"


def judge_parameters(function: Node) -> Exposure:
    """Decorators and pytest read the names of parameters, and callers may use those of a public function."""
    name = function.child_by_field_name("name")
    if name is None:
        return Exposure.NONE
    text = (name.text or b"").decode()
    if is_decorated(function) or text.startswith("test"):
        return Exposure.CERTAIN
    return Exposure.NONE if _PRIVATE.match(text) or _is_nested(function) else Exposure.POSSIBLE


def find_keyword_only(function: Node) -> frozenset[str]:
    """Return the parameters behind `*`, which callers can only pass by name."""
    parameters = function.child_by_field_name("parameters")
    names: list[str] = []
    is_behind = False
    for child in parameters.named_children if parameters is not None else ():
        word = next(iter(child.named_children), child)
        if is_behind:
            names.append((word.text or b"").decode())
        is_behind = is_behind or bool({child.type, word.type} & {"keyword_separator", "list_splat_pattern"})
    return frozenset(names)


def _is_nested(function: Node) -> bool:
    parent = function.parent
    while parent is not None and parent.type != "function_definition":
        parent = parent.parent
    return parent is not None


def prints_its_source(node: Node) -> bool:
    """Whether a node is `{x=}` of an f-string, which shows the name itself."""
    return node.type == "interpolation" and any(child.type == "=" for child in node.children)


def is_docstring_read(body: Node) -> bool:
    """Whether a decorator shows the docstring of a definition to somebody."""
    definition = body.parent
    decorated = definition.parent if definition is not None else None
    return decorated is not None and any(
        SHOWN.search((child.text or b"").decode("utf-8", "replace"))
        for child in decorated.children
        if child.type == "decorator"
    )


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
    public=PublicNameRules(
        private=_PRIVATE,
        imports=parse_kinds("import_statement import_from_statement"),  # PEP 8: no part of the interface
        package=re.compile(r"(?:^|/)__init__\.pyi?$"),
        judge_parameters=judge_parameters,
        find_keyword_only=find_keyword_only,
        has_public_members=is_decorated,
        callees=frozenset({("call", "function")}),
        accesses=parse_kinds("attribute"),
        no_keywords=parse_kinds("list_splat_pattern dictionary_splat_pattern"),
        reflection=parse_kinds("locals vars dir eval exec globals currentframe _getframe"),
        reads_names=prints_its_source,
    ),
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


def flatten_else_if(statement: NormalNode) -> list[NormalNode]:
    """Write `else:` with nothing but an `if` as `elif`."""
    last = statement.children[-1]
    body = last.children[-1] if last.kind == "else_clause" else None
    if body is None or [child.kind for child in body.children] != ["if_statement"]:
        return [statement]
    rest = body.children[0].children[1:]  # behind `if`
    length = next(
        (at for at, child in enumerate(rest) if child.kind in {"elif_clause", "else_clause"}), len(rest)
    )
    clause = NormalNode("elif_clause", children=[NormalNode("", "elif"), *rest[:length]], field=last.field)
    statement.children[-1:] = [clause, *rest[length:]]
    return [statement]


def split_imports(statement: NormalNode) -> list[NormalNode]:
    """Write one statement for each imported name."""
    names = [child for child in statement.children if child.field == "name"]
    if len(names) < 2:
        return [statement]
    others = [child for child in statement.children if child.field != "name" and child.text != ","]
    return [NormalNode(statement.kind, children=[*others, name], field=statement.field) for name in names]


def drop_unused(function: NormalNode) -> list[NormalNode]:
    """Drop a last `return` of nothing, and names of exceptions without a use."""
    texts = Counter(node.text for node in function.walk() if node.role)
    for clause in function.walk():
        if clause.kind == "except_clause":
            clause.children = [_drop_alias(child, texts) for child in clause.children]
    body = function.children[-1].children
    if len(body) > 1 and body[-1].kind == "return_statement":
        values = [child.kind for child in body[-1].children if child.kind]
        if values in ([], ["none"]):
            body.pop()
    return [function]


def _drop_alias(pattern: NormalNode, texts: Counter[str]) -> NormalNode:
    if pattern.kind != "as_pattern" or texts[pattern.children[-1].children[0].text] > 1:
        return pattern
    pattern.children[0].field = pattern.field
    return pattern.children[0]


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
    documentation_readers=re.compile(r"__doc__|\bgetdoc\b|\bdocopt\b|\bdoctest\b"),
    is_documentation_read=is_docstring_read,
    examples=re.compile(r">>>.*(?:\n[ \t]*\S.*)*"),
    attribute_owners=parse_kinds("assignment"),
    strings=parse_kinds("string"),
    rewrites={
        "if_statement": flatten_else_if,
        "import_statement": split_imports,
        "import_from_statement": split_imports,
        "function_definition": drop_unused,
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
