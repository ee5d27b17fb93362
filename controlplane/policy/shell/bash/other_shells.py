"""What dash and zsh read otherwise than bash, in commands that they may run.

Where another shell only fails, the command does less than was judged. Here is what makes it do
something else.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tree_sitter import Node

from controlplane.policy.shell.bash.syntax_tree import SyntaxTree
from controlplane.policy.shell.recorder import Recorder
from controlplane.policy.shell.shells import DASH, ZSH

# Where it stands in the text, who reads it otherwise, how; a node in which it is plain text does not count.
Difference = tuple[re.Pattern[bytes], str, str]
DIFFERENCES: tuple[Difference, ...] = (
    (re.compile(rb"\[\["), DASH, "[[ is a program for dash, and what compares redirects"),
    (re.compile(rb"\(\("), DASH, "(( opens two subshells for dash, and what compares redirects"),
    (re.compile(rb"&>"), DASH, "&> sends a command of dash to the background"),
    (re.compile(rb"\$'(?=[^']*\\')"), DASH, "a quote behind a backslash ends the text in dash"),
    (re.compile(rb"[<>]&\d+-"), ZSH, "a file descriptor with a dash behind it is the name of a file in zsh"),
    (re.compile(rb">[>&]?!"), ZSH, "! belongs to the redirect in zsh"),
    (re.compile(rb"(?<![^\s;&|(])=(?=[\w./~-])"), ZSH, "= stands for the path of a program in zsh"),
)
LITERAL = frozenset(
    {"raw_string", "ansi_c_string", "comment", "heredoc_content", "heredoc_body", "string_content"}
)
# No program has a name with a dash in front: `[[ -f a && -f b ]]` fails in dash.
COMPARES = re.compile(rb"[<>()]|(?:&&|\|\|)\s*(?!-|!\s+-)\S")


def check_other_shells(tree: SyntaxTree, recorder: Recorder) -> None:
    """Record as unknown what one of the shells that may run the command reads otherwise."""
    for pattern, shell, reason in DIFFERENCES:
        if shell not in recorder.shells:
            continue
        for match in pattern.finditer(tree.data):
            node = tree.root.descendant_for_byte_range(*match.span())
            if node is not None and not _is_literal(node, match) and _matters(node, match):
                recorder.add_unknown(
                    f"{reason}: say which shell runs it, or write it another way", match.span()
                )


def _is_literal(node: Node, match: re.Match[bytes]) -> bool:
    starts_it = node.type == "ansi_c_string" and node.start_byte == match.start()
    return not starts_it and (node.type in LITERAL or node.type == "string")


def _matters(node: Node, match: re.Match[bytes]) -> bool:
    check = CHECKS.get(match.group())
    return check is None or check(node, match)


def _is_conditional(node: Node, match: re.Match[bytes]) -> bool:
    """Return whether this is `[[ … ]]` with more in it than words: dash finds no program `[[`."""
    parent = node if node.type == "test_command" else node.parent
    if parent is None or parent.type != "test_command":
        return False  # a character class
    return COMPARES.search(match.string, match.end(), parent.end_byte) is not None


def _is_arithmetic(_node: Node, match: re.Match[bytes]) -> bool:
    """Return whether this is `((…))`, and not `$((…))`, which all of them know."""
    return match.string[match.start() - 1 : match.start()] != b"$"


def _begins_assignment(node: Node, _match: re.Match[bytes]) -> bool:
    return node.type in {"word", "concatenation"}


CHECKS: dict[bytes, Callable[[Node, re.Match[bytes]], bool]] = {
    b"[[": _is_conditional,
    b"((": _is_arithmetic,
    b"=": _begins_assignment,
}
