"""Decide whether a statement prints only names of files that it has looked through (taint analysis).

Only such names may be passed to a reader (`xargs cat`, `wc -l $(git ls-files)`): other text could name any
file. `programs.file_names` knows the programs that print them.
"""

from __future__ import annotations

import re

from tree_sitter import Node

from controlplane.policy.shell.bash.syntax_tree import SyntaxTree
from controlplane.policy.shell.programs.file_names import classify_output
from controlplane.policy.shell.state import StreamContent

PARTS = frozenset({"word", "number", "string", "raw_string", "concatenation"})
SUBSTITUTIONS = frozenset({"command_substitution", "process_substitution"})
# Where error messages go does not matter, but for standard output: they repeat text of the command.
ERRORS = re.compile(r"2>>?\s*(?:/dev/null|(?!/dev/)[\w./-]+)")
QUOTED = frozenset({"string", "raw_string"})
WILD = re.compile(r"[*?\[]")


def classify_statement(
    node: Node, tree: SyntaxTree, stdin: StreamContent = StreamContent.ANYTHING
) -> StreamContent:
    """Return what a statement prints, given what it reads on standard input."""
    if node.type == "pipeline":
        for child in node.named_children:
            stdin = classify_statement(child, tree, stdin)
        return stdin
    if node.type == "redirected_statement":
        body, *redirects = node.named_children
        is_plain = all(ERRORS.fullmatch(tree.node_text(redirect)) for redirect in redirects)
        return classify_statement(body, tree, stdin) if is_plain else StreamContent.ANYTHING
    words = _literal_words(node, tree)
    # A wildcard may expand to a file that is read instead of standard input.
    is_wild = any(
        child.type not in QUOTED and WILD.search(tree.node_text(child)) for child in node.named_children
    )
    if not words:
        return StreamContent.ANYTHING
    return classify_output(words, StreamContent.ANYTHING if is_wild else stdin)


def is_name_list(node: Node, tree: SyntaxTree) -> bool:
    """Return whether a substitution, in quotes or not, expands to file names only.

    Names behind a NUL do not count: bash drops the NUL, and `.` and `./x` become `../x`.
    """
    children = node.named_children
    if node.type == "string" and len(children) == 1 and _size(node) == _size(children[0]) + 2:
        return is_name_list(children[0], tree)
    return (
        node.type == "command_substitution"
        and classify_substitution(node, tree) is StreamContent.NAMES_BY_LINE
    )


def classify_substitution(node: Node, tree: SyntaxTree) -> StreamContent:
    """Return what `$(…)` or `<(…)` yields."""
    children = node.named_children
    reads = node.type == "command_substitution" or tree.node_text(node).startswith("<(")
    is_single = reads and node.type in SUBSTITUTIONS and len(children) == 1
    return classify_statement(children[0], tree) if is_single else StreamContent.ANYTHING


def _size(node: Node) -> int:
    return node.end_byte - node.start_byte


def _literal_words(node: Node, tree: SyntaxTree) -> list[str]:
    """Return the words of a simple command without their quotes; none where it holds anything but words."""
    name, *arguments = node.named_children if node.type == "command" else [node]
    if name.type != "command_name" or any(child.type not in PARTS for child in arguments):
        return []
    words = [_unquote(child, tree) for child in (name, *arguments)]
    return [] if None in words else [word for word in words if word is not None]


def _unquote(node: Node, tree: SyntaxTree) -> str | None:
    """Return a word without quotes and backslashes; None where bash would expand it."""
    text = tree.node_text(node)
    if node.type == "raw_string":
        return text[1:-1]
    if re.search(r"[$`]|\\\n", text) or (node.type != "string" and re.search("[{}]", text)):
        return None
    return text[1:-1] if node.type == "string" else re.sub(r"""\\(.)|['"]""", r"\1", text)
