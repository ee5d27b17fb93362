"""Which variables hold numbers for certain, and where in a command: arithmetic runs what text they hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from controlplane.policy.shell.bash.syntax_tree import SyntaxTree

INTEGER = re.compile(r"-?\d+")
COUNTING = re.compile(r"-[lwcm]|--(lines|words|bytes|chars)")
NAMED_BY = {"variable_assignment": "name", "for_statement": "variable", "binary_expression": "left"}
ARITHMETIC = frozenset({"arithmetic_expansion", "binary_expression", "postfix_expression"})
# What stands in one of these has run before what stands behind it there.
BLOCKS = frozenset(
    [
        "program",
        "do_group",
        "compound_statement",
        "subshell",
        "command_substitution",
        "else_clause",
        "case_item",
    ]
)


@dataclass(frozen=True, slots=True)
class Variables:
    """`texts`: set somewhere to anything but a whole number or arithmetic. `loops`: set by `for`.
    `numbers`: the spans of the command in which a name holds a number, whatever it held before."""

    texts: frozenset[str]
    loops: frozenset[str]
    numbers: tuple[tuple[str, int, int], ...]

    def is_number_at(self, name: str, byte: int) -> bool:
        return any(name == known and start <= byte < end for known, start, end in self.numbers)


def find_variables(tree: SyntaxTree) -> Variables:
    """All variables that a command sets, wherever it does."""
    texts: set[str] = set()
    loops: set[str] = set()
    numbers: list[tuple[str, int, int]] = []
    for node, target in _settings(tree.root):
        name = tree.node_text(target).partition("[")[0]
        if node.type == "for_statement":
            loops.add(name)
        if not _gives_number(node, tree):
            texts.add(name)
        elif target.type in ("variable_name", "word"):  # of a[1] nobody knows what a itself holds
            numbers.extend((name, *span) for span in _spans(node, target))
    return Variables(frozenset(texts), frozenset(loops), tuple(numbers))


def _is_assignment(node: Node) -> bool:
    """`x = 1`, in arithmetic too, where the grammar may show it as a comparison."""
    return (
        node.child_count > 1
        and node.type in ("variable_assignment", "binary_expression")
        and (node.children[1].type == "=")
    )


def _settings(root: Node) -> Iterator[tuple[Node, Node]]:
    """Each node that sets a variable, with the node of its name."""
    stack = [root]
    while stack:
        node = stack.pop()
        stack.extend(node.children)
        if node.type == "binary_expression" and not (_is_assignment(node) and _in_arithmetic(node)):
            continue
        target = node.child_by_field_name(NAMED_BY[node.type]) if node.type in NAMED_BY else None
        if target is not None:
            yield node, target


def _in_arithmetic(node: Node) -> bool:
    """Not in a test, where `=` compares."""
    parent = node.parent
    while parent is not None and parent.type in ("binary_expression", "parenthesized_expression"):
        parent = parent.parent
    return parent is not None and parent.type != "test_command"


def _gives_number(node: Node, tree: SyntaxTree) -> bool:
    if node.type == "binary_expression":
        return True
    values = node.children_by_field_name("value")
    return bool(values) and all(_is_number(value, tree) for value in values)


def _is_number(value: Node, tree: SyntaxTree) -> bool:
    is_plain = value.type in ARITHMETIC or INTEGER.fullmatch(tree.node_text(value)) is not None
    return is_plain or is_line_count(value, tree)


def is_line_count(node: Node, tree: SyntaxTree) -> bool:
    """`$(… | wc -l)`, in quotes as well: one number and nothing else, whatever is counted."""
    if node.type == "string" and node.named_child_count == 1:
        node = node.named_children[0] if node.end_byte - node.start_byte > 2 else node
    if node.type != "command_substitution" or node.named_child_count != 1:
        return False
    last = node.named_children[0]
    while last.type in ("pipeline", "redirected_statement"):
        last = last.named_children[-1] if last.type == "pipeline" else last.named_children[0]
    name, *options = last.named_children if last.type == "command" else [last]
    return (
        tree.node_text(name) == "wc"
        and len(options) == 1
        and COUNTING.fullmatch(tree.node_text(options[0])) is not None
    )


def _spans(node: Node, target: Node) -> Iterator[tuple[int, int]]:
    """Where a name that a node sets holds a number."""
    if _is_assignment(node):
        yield target.byte_range  # to be set is not to be evaluated
    reach = _reach(node)
    if reach is not None:
        yield reach


def _reach(node: Node) -> tuple[int, int] | None:
    """Where in the command a setting has surely happened; None where that hangs on other things."""
    if node.type == "for_statement":
        body = node.child_by_field_name("body")
        return None if body is None else body.byte_range
    if not _is_assignment(node):  # `x+=1` leaves what was there
        return None
    current, parent = node, node.parent
    while parent is not None and not _is_beside(current):
        if parent.type in BLOCKS and parent.children[0].type != "((":
            return node.end_byte, parent.end_byte
        if not _runs_first(current, parent):
            break
        current, parent = parent, parent.parent
    return None


def _is_beside(node: Node) -> bool:
    """Whether `&` sends it to a shell of its own."""
    return node.next_sibling is not None and node.next_sibling.type == "&"


def _runs_first(child: Node, parent: Node) -> bool:
    """Whether a node that runs at all has run this child."""
    if parent.type == "variable_assignments":
        return True
    first = next(iter(parent.named_children), None)
    return parent.type in ("list", "c_style_for_statement", "compound_statement") and first == child
