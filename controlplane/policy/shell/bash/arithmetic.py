"""Check arithmetic, which runs code although it looks like data.

It evaluates the *values* of variables, array subscripts too: with `x='a[$(rm y)]'`, `$((x))` runs rm, even if
an earlier call has set x in a shell that is still open.
"""

from __future__ import annotations

import re

from tree_sitter import Node

from controlplane.policy.shell.bash.number_variables import NUMERIC, is_line_count
from controlplane.policy.shell.bash.walker import Walker
from controlplane.policy.shell.names import to_names
from controlplane.policy.shell.result import Span, UnclearCommandError
from controlplane.policy.shell.variables import check_inert, is_inert

ARITHMETIC = to_names(
    "binary_expression unary_expression postfix_expression parenthesized_expression",
    "ternary_expression number variable_name word simple_expansion compound_statement",
    "arithmetic_expansion c_style_for_statement variable_assignment",
)
SETS = re.compile(rb"(?<![=!<>])=(?!=)|\+\+|--|<<=|>>=")
NAME = re.compile(r"[A-Za-z_]\w*")


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
        elif SETS.search(walker.tree.data, *span):
            _check_set_names(set(NAME.findall(walker.tree.node_text(current))), walker, span)
        stack.extend(current.children)


def _check_set_names(names: set[str], walker: Walker, span: Span) -> None:
    """Check the names in arithmetic that sets any: `((PATH = 1))` changes which programs run."""
    if walker.variables.loops & names:
        raise UnclearCommandError("arithmetic that changes a loop's variable", span)
    for name in sorted(names):
        check_inert(name, span)


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
