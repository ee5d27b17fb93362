"""Check expansions that run code although they look like data.

Arithmetic evaluates the *values* of variables, array subscripts too: with `x='a[$(rm y)]'`, `$((x))`
runs rm, even if an earlier call has set x in a shell that is still open. `${x@P}` expands x as a prompt,
`${!x}` reads a name out of a variable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from controlplane.policy.shell.bash.arithmetic import INTEGER, is_line_count
from controlplane.policy.shell.bash.syntax_tree import SyntaxTree
from controlplane.policy.shell.bash.walker import Walker
from controlplane.policy.shell.result import Span, UnclearCommandError
from controlplane.policy.shell.variables import is_inert

OPERATORS = frozenset(
    [":-", "-", ":+", "+", "%", "%%", "#", "##", "/", "//", "^", "^^", ",", ",,", ":?", "?"]
)
PLAIN_NODES = frozenset(
    ["variable_name", "special_variable_name", "number", "word", "regex", "string_content"]
)
SUBSCRIPTS = frozenset({"@", "*"})
ARITHMETIC = frozenset(
    [
        "binary_expression",
        "unary_expression",
        "postfix_expression",
        "parenthesized_expression",
        "ternary_expression",
        "number",
        "variable_name",
        "word",
        "simple_expansion",
        "compound_statement",
        "arithmetic_expansion",
        "c_style_for_statement",
        "variable_assignment",
    ]
)
SETS = re.compile(rb"(?<![=!<>])=(?!=)|\+\+|--|<<=|>>=")
NUMERIC = re.compile(r"\$[?#$]|\$\{#\w+(?:\[[@*]\])?\}")
NAME = re.compile(r"[A-Za-z_]\w*")


def check_parameter(node: Node, tree: SyntaxTree) -> Iterator[Node]:
    """Check `${…}`; yields the words inside of it, which have expansions of their own."""
    span = node.byte_range
    if _is_slice(node):
        return
    for child in node.children:
        text = tree.node_text(child)
        if child.type == "subscript":
            index = text.partition("[")[2].rstrip("]")
            if index not in SUBSCRIPTS and not INTEGER.fullmatch(index):
                raise UnclearCommandError("an array subscript that may run code", span)
        elif child.is_named and child.type not in PLAIN_NODES:
            yield child
        elif not child.is_named and text.strip() not in OPERATORS | {"${", "}", '"', ""}:
            raise UnclearCommandError(f"the expansion {text[:20]} is not understood", span)
        elif child.type in ("word", "regex") and re.search(r"[`$]", text):
            raise UnclearCommandError("an expansion that is not understood", span)


def _is_slice(node: Node) -> bool:
    """Return whether a node is `${x:1:2}` with plain numbers; anything else there is arithmetic."""
    children = node.children[1:-1]
    marks = all(child.type == ":" for child in children[1::2])
    return len(children) > 2 and marks and all(child.type == "number" for child in children[2::2])


def check_arithmetic(node: Node, walker: Walker) -> None:
    """Check `$((…))`, `((…))` and the like: numbers, operators, variables that hold numbers.

    A loop variable must not be set there, for its values are taken from the loop's head.
    """
    stack = [node]
    while stack:
        current = stack.pop()
        if not current.is_named:
            continue
        span = current.byte_range
        if current.type not in ARITHMETIC:
            raise UnclearCommandError("arithmetic that may run code", span)
        if current.type in ("variable_name", "word"):
            _check_number(walker.tree.node_text(current), walker, span)
        elif SETS.search(walker.tree.data, *span) and walker.variables.loops & set(
            NAME.findall(walker.tree.node_text(current))
        ):
            raise UnclearCommandError("arithmetic that changes a loop's variable", span)
        stack.extend(current.children)


def _check_number(name: str, walker: Walker, span: Span) -> None:
    """Require that a variable has been set to a number before, and to text nowhere in the command."""
    if not NAME.fullmatch(name):
        raise UnclearCommandError("arithmetic that may run code", span)
    if name in walker.recorder.filled_variables or name in walker.variables.texts:
        raise UnclearCommandError(f"{name[:40]} may hold text that arithmetic runs as code", span)
    # Names that are not inert cannot hold such text: no call may set them without an approval (check_inert).
    if is_inert(name) and not walker.variables.is_number_at(name, span[0]):
        raise UnclearCommandError(
            f"{name[:40]} may hold text from an earlier call that arithmetic runs as code", span
        )


def is_number(node: Node, name: str, walker: Walker) -> bool:
    """Return whether an expansion yields one number for certain: `$?`, `${#x}`, a count."""
    text = walker.tree.node_text(node).strip()
    if node.type == "arithmetic_expansion" or NUMERIC.fullmatch(text):
        return True
    if is_line_count(node, walker.tree):
        return True
    is_text = name in walker.recorder.filled_variables or name in walker.variables.texts
    return not is_text and walker.variables.is_number_at(name, node.start_byte)
