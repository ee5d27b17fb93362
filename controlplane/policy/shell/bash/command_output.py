"""Tell whether what a statement prints is names of files, and nothing else.

Only such names may be handed on to a reader (`xargs cat`, `wc -l $(git ls-files)`): any other text could name
any file. Which programs print such names is known in `programs.file_names`.
"""

from __future__ import annotations

import re

from tree_sitter import Node

from controlplane.policy.shell.bash.syntax_tree import SyntaxTree
from controlplane.policy.shell.programs.file_names import classify_output
from controlplane.policy.shell.state import StreamContent

PARTS = frozenset({"word", "number", "string", "raw_string", "concatenation"})
SUBSTITUTIONS = frozenset({"command_substitution", "process_substitution"})
# Where messages go does not matter, unless they go among the names: they repeat what stands in the command.
ERRORS = re.compile(r"2>>?\s*(?:/dev/null|(?!/dev/)[\w./-]+)")
QUOTED = frozenset({"string", "raw_string"})
WILD = re.compile(r"[*?\[]")


def classify_statement(
    node: Node, tree: SyntaxTree, fed: StreamContent = StreamContent.ANYTHING
) -> StreamContent:
    """Whether a statement prints nothing but names; `fed`: whether such names come in on its input."""
    if node.type == "pipeline":
        for child in node.named_children:
            fed = classify_statement(child, tree, fed)
        return fed
    if node.type == "redirected_statement":
        body, *redirects = node.named_children
        is_plain = all(ERRORS.fullmatch(tree.node_text(one)) for one in redirects)
        return classify_statement(body, tree, fed) if is_plain else StreamContent.ANYTHING
    words = _words(node, tree)
    # What a wildcard becomes may be a file to read instead of what comes in.
    is_wild = any(
        child.type not in QUOTED and WILD.search(tree.node_text(child)) for child in node.named_children
    )
    return (
        classify_output(words, StreamContent.ANYTHING if is_wild else fed)
        if words
        else StreamContent.ANYTHING
    )


def is_name_list(node: Node, tree: SyntaxTree) -> bool:
    """Whether a substitution, in quotes as well, stands for nothing but names. bash drops what separates
    them where that is NUL, and `.` and `./x` become `../x`."""
    inner = node.named_children
    if node.type == "string" and len(inner) == 1 and _size(node) == _size(inner[0]) + 2:
        return is_name_list(inner[0], tree)
    return (
        node.type == "command_substitution"
        and classify_substitution(node, tree) is StreamContent.NAMES_BY_LINE
    )


def classify_substitution(node: Node, tree: SyntaxTree) -> StreamContent:
    """What `$(…)` or `<(…)` gives."""
    inner = node.named_children
    reads = node.type == "command_substitution" or tree.node_text(node).startswith("<(")
    is_one = reads and node.type in SUBSTITUTIONS and len(inner) == 1
    return classify_statement(inner[0], tree) if is_one else StreamContent.ANYTHING


def _size(node: Node) -> int:
    return node.end_byte - node.start_byte


def _words(node: Node, tree: SyntaxTree) -> list[str]:
    """The words of a simple command without their quotes; none where it holds anything but words."""
    name, *rest = node.named_children if node.type == "command" else [node]
    if name.type != "command_name" or any(child.type not in PARTS for child in rest):
        return []
    words = [_plain(child, tree) for child in (name, *rest)]
    return [] if None in words else [word for word in words if word is not None]


def _plain(node: Node, tree: SyntaxTree) -> str | None:
    """A word without quotes and backslashes; None where bash would put in something else."""
    text = tree.node_text(node)
    if node.type == "raw_string":
        return text[1:-1]
    if re.search(r"[$`]|\\\n", text) or (node.type != "string" and re.search("[{}]", text)):
        return None
    return text[1:-1] if node.type == "string" else re.sub(r"""\\(.)|['"]""", r"\1", text)
