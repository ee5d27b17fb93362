"""Find the variables that hold numbers for certain, and where in a command.

`arithmetic` evaluates the text of a variable, so it may only use one that has been set to a number before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from controlplane.policy.shell.bash.syntax_tree import SyntaxTree
from controlplane.policy.shell.names import to_names

INTEGER = re.compile(r"-?\d+")
NUMERIC = re.compile(r"\$[?#$]|\$\{#\w+(?:\[[@*]\])?\}")  # they stand for a number, whatever the state is
COUNTING = re.compile(r"-[lwcm]|--(lines|words|bytes|chars)")
NAMED_BY = {"variable_assignment": "name", "for_statement": "variable", "binary_expression": "left"}
ARITHMETIC = frozenset({"arithmetic_expansion", "binary_expression", "postfix_expression"})
# In these a statement has run by the time the next one does.
BLOCKS = to_names(
    "program do_group compound_statement subshell command_substitution else_clause case_item",
)


@dataclass(frozen=True, slots=True)
class Variables:
    """The variables that a command sets.

    `texts`: set somewhere to anything but an integer or arithmetic. `loops`: set by `for`. `numbers`: name,
    start and end of each span in which a variable holds a number, whatever it held before.
    """

    texts: frozenset[str]
    loops: frozenset[str]
    numbers: tuple[tuple[str, int, int], ...]

    def is_number_at(self, name: str, offset: int) -> bool:
        return any(name == variable and start <= offset < end for variable, start, end in self.numbers)


def find_variables(tree: SyntaxTree) -> Variables:
    """Find every variable that a command sets."""
    text_variables: set[str] = set()
    loop_variables: set[str] = set()
    numbers: list[tuple[str, int, int]] = []
    for node, target in _find_assignments(tree.root):
        name = tree.node_text(target).partition("[")[0]
        if node.type == "for_statement":
            loop_variables.add(name)
        if not _assigns_number(node, tree):
            text_variables.add(name)
        elif target.type in ("variable_name", "word"):  # `a[1]=1` leaves a itself as it is
            numbers.extend((name, *span) for span in _find_number_spans(node, target))
    return Variables(frozenset(text_variables), frozenset(loop_variables), tuple(numbers))


def _is_assignment(node: Node) -> bool:
    """Return whether a node is `x=1`; the grammar shows that of arithmetic as a binary expression."""
    return (
        node.child_count > 1
        and node.type in ("variable_assignment", "binary_expression")
        and (node.children[1].type == "=")
    )


def _find_assignments(root: Node) -> Iterator[tuple[Node, Node]]:
    """Yield each node that sets a variable, with the node of its name."""
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
    """Return whether a node stands in arithmetic, and not in a test, where `=` compares."""
    parent = node.parent
    while parent is not None and parent.type in ("binary_expression", "parenthesized_expression"):
        parent = parent.parent
    return parent is not None and parent.type != "test_command"


def _assigns_number(node: Node, tree: SyntaxTree) -> bool:
    if node.type == "binary_expression":
        return True
    values = node.children_by_field_name("value")
    return bool(values) and all(_is_number(value, tree) for value in values)


def _is_number(value: Node, tree: SyntaxTree) -> bool:
    text = tree.node_text(value)
    is_plain = value.type in ARITHMETIC or INTEGER.fullmatch(text) or NUMERIC.fullmatch(text.strip('"'))
    return bool(is_plain) or is_line_count(value, tree)


def is_line_count(node: Node, tree: SyntaxTree) -> bool:
    """Return whether a node is `$(… | wc -l)`, in quotes or not: one number, whatever is counted."""
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


def _find_number_spans(node: Node, target: Node) -> Iterator[tuple[int, int]]:
    """Yield the spans in which a name that a node sets holds a number."""
    if _is_assignment(node):
        yield target.byte_range  # it is set there, not evaluated
    reach = _find_reach(node)
    if reach is not None:
        yield reach


def _find_reach(node: Node) -> tuple[int, int] | None:
    """Return the span in which an assignment has happened for certain; None if that depends on a branch."""
    if node.type == "for_statement":
        body = node.child_by_field_name("body")
        return None if body is None else body.byte_range
    if not _is_assignment(node):  # `x+=1` keeps what was there, which may be text
        return None
    # Climb as long as the assignment is what its parent runs first: up to there it has happened for certain.
    current, parent = node, node.parent
    while parent is not None and not _is_background(current):
        if parent.type in BLOCKS and parent.children[0].type != "((":
            return node.end_byte, parent.end_byte
        if not _runs_first(current, parent):
            break
        current, parent = parent, parent.parent
    return None


def _is_background(node: Node) -> bool:
    """Return whether `&` runs a node in a subshell, whose variables are lost."""
    return node.next_sibling is not None and node.next_sibling.type == "&"


def _runs_first(child: Node, parent: Node) -> bool:
    """Return whether a node that runs has always run this child."""
    if parent.type == "variable_assignments":
        return True
    first = next(iter(parent.named_children), None)
    return parent.type in ("list", "c_style_for_statement", "compound_statement") and first == child
