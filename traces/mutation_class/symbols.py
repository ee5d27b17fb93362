"""Find the functions, classes and methods of a text, with their lines, in the tree of its grammar."""

from __future__ import annotations

from typing import NamedTuple

from tree_sitter import Node

from traces.entry_schema import MAX_SYMBOLS
from traces.mutation_class.compare import CPU_SECONDS, MAX_BYTES
from traces.mutation_class.languages import find_grammar
from traces.mutation_class.languages.grammar import parse_kinds
from traces.mutation_class.parse import CpuLimit, UnclassifiableError, parse

MAX_NAME_LENGTH = 100
MAX_DEPTH = 60  # of classes and blocks; bodies of functions are not entered
# Kinds of nodes in all grammars: none means something else in another language.
CLASSES = parse_kinds(
    "class_definition class_declaration abstract_class_declaration interface_declaration enum_declaration "
    "record_declaration annotation_type_declaration class_specifier struct_specifier union_specifier "
    "enum_specifier struct_item enum_item union_item trait_item type_spec class"
)
NEED_BODY = parse_kinds("class_specifier struct_specifier union_specifier enum_specifier")  # `struct S x;`
FUNCTIONS = parse_kinds(
    "function_definition function_declaration generator_function_declaration function_item method "
    "method_definition method_declaration constructor_declaration compact_constructor_declaration "
    "singleton_method"
)
VARIABLES = parse_kinds("variable_declarator public_field_definition field_definition")
FUNCTION_VALUES = parse_kinds("arrow_function function_expression generator_function")


class Symbol(NamedTuple):
    """A definition; the lines are 1-based and inclusive. `kind` is function, class or method."""

    name: str
    kind: str
    start_line: int
    end_line: int


def find_symbols(path: str, text: str, *, seconds: float = CPU_SECONDS) -> list[Symbol] | None:
    """Return at most MAX_SYMBOLS definitions, without those inside of functions.

    None where nothing can be claimed: the limits are those of `classify_change`. Never raises.
    """
    grammar = find_grammar(path)
    if grammar is None or len(text) > MAX_BYTES:
        return None
    cpu_limit = CpuLimit(seconds)
    try:
        symbols: list[Symbol] = []
        _collect(parse(grammar, text.encode(), cpu_limit), symbols, cpu_limit)
    except (UnclassifiableError, UnicodeEncodeError):
        return None
    return symbols


def _collect(root: Node, symbols: list[Symbol], cpu_limit: CpuLimit) -> None:
    """Walk in the order of the text, with a stack of its own: the depth is the text's to choose."""
    stack = [(root, False, 0)]
    while stack and len(symbols) < MAX_SYMBOLS:
        node, is_member, depth = stack.pop()
        cpu_limit.count_steps()
        kind = _find_kind(node, is_member=is_member)
        name = _find_name(node) if kind else ""
        if name:
            lines = node.start_point.row + 1, node.end_point.row + 1
            symbols.append(Symbol(name, "method" if "::" in name else kind, *lines))
        if kind in {"function", "method"} or depth == MAX_DEPTH:
            continue
        is_owner = is_member or kind == "class" or node.type == "impl_item"
        stack += [(child, is_owner, depth + 1) for child in reversed(node.named_children)]


def _find_kind(node: Node, *, is_member: bool) -> str:
    """Return the kind of symbol that a node defines; "" for none. Functions in an `impl_item` are methods."""
    if node.type == "module":  # Ruby's; the whole text is one in Python, a namespace may be one in TypeScript
        name = node.child_by_field_name("name")
        return "class" if name is not None and name.type in {"constant", "scope_resolution"} else ""
    if node.type in CLASSES:
        return "class" if node.type not in NEED_BODY or node.child_by_field_name("body") else ""
    value = node.child_by_field_name("value") if node.type in VARIABLES else None
    if node.type in FUNCTIONS or (value is not None and value.type in FUNCTION_VALUES):
        return "method" if is_member or node.type == "method_declaration" else "function"
    return ""


def _find_name(node: Node) -> str:
    """Return the name of a definition. C hides it behind pointers, references and parameters."""
    name = node.child_by_field_name("name") or node.child_by_field_name("property")
    declarator = node.child_by_field_name("declarator") if name is None else None
    for _ in range(MAX_DEPTH):
        if declarator is None:
            break
        name = declarator
        declarator = declarator.child_by_field_name("declarator")
        if declarator is None and name.type in {"reference_declarator", "parenthesized_declarator"}:
            declarator = name.named_children[0] if name.named_children else None
    text = name.text.decode(errors="replace") if name is not None and name.text else ""
    text = " ".join(text.split())[:MAX_NAME_LENGTH]
    return text if text.isprintable() else ""
