"""Check parameter expansions that run code although they look like data.

`${x@P}` expands the value of x as a prompt, `${!x}` reads a name out of x, and a subscript or an offset is
arithmetic (see `arithmetic`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from controlplane.policy.shell.bash.number_variables import INTEGER
from controlplane.policy.shell.bash.syntax_tree import SyntaxTree
from controlplane.policy.shell.result import UnclearCommandError

OPERATORS = frozenset(
    [":-", "-", ":+", "+", "%", "%%", "#", "##", "/", "//", "^", "^^", ",", ",,", ":?", "?"]
)
PLAIN_NODES = frozenset(
    ["variable_name", "special_variable_name", "number", "word", "regex", "string_content"]
)
SUBSCRIPTS = frozenset({"@", "*"})


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
