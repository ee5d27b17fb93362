"""From text to a syntax tree that may be believed.

The grammar is tree-sitter-bash. It never raises, but it is not bash: it repairs broken input,
splits words at a line continuation, glues `} {` into one word. So whatever it returns is checked
here, and a tree that leaves any byte unexplained is refused as a whole.
"""

from __future__ import annotations

import re
import time

import tree_sitter_bash
from tree_sitter import Language, Node, Parser, Point

from controlplane.policy.shell.bash.syntax_tree import SyntaxTree
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.source import encode_command

LANGUAGE = Language(tree_sitter_bash.language())

FREE_BYTES = 2 * 1024  # below this the slowest input that we found parses in 25 ms
CPU_SECONDS = 0.03  # above it the parser is quadratic on hostile input
MAX_NODES = 4_000
MAX_DEPTH = 40

BLANK = re.compile(rb"(?:[ \t\n]|\\\n)*")
CONTINUED = re.compile(rb"(?<!\\)(?:\\\\)*(\\\n)")
WIDE_SPACE = re.compile(r"[\x85\xa0\u1680\u180e\u2000-\u200b\u2028\u2029\u202f\u205f\u2060\u3000\ufeff]")
HEREDOC_WORD = re.compile(rb"""(?P<quote>['"]?)\\?(?P<word>[A-Za-z_]\w*)(?P=quote)""")

# Nodes whose text is read character by character elsewhere: what lies between their children counts.
TEXT = frozenset(
    [
        "string",
        "raw_string",
        "ansi_c_string",
        "comment",
        "word",
        "number",
        "variable_name",
        "special_variable_name",
        "simple_expansion",
        "expansion",
        "arithmetic_expansion",
        "brace_expression",
        "regex",
        "extglob_pattern",
        "test_operator",
        "string_content",
        "heredoc_start",
        "heredoc_body",
        "heredoc_content",
        "heredoc_end",
        "file_descriptor",
    ]
)
# Nodes whose children must explain every byte but blanks.
FRAME = frozenset(
    [
        "program",
        "list",
        "pipeline",
        "command",
        "command_name",
        "redirected_statement",
        "file_redirect",
        "heredoc_redirect",
        "herestring_redirect",
        "negated_command",
        "subshell",
        "compound_statement",
        "test_command",
        "if_statement",
        "elif_clause",
        "else_clause",
        "while_statement",
        "for_statement",
        "c_style_for_statement",
        "do_group",
        "case_statement",
        "case_item",
        "function_definition",
        "variable_assignment",
        "variable_assignments",
        "declaration_command",
        "unset_command",
        "array",
        "subscript",
        "concatenation",
        "command_substitution",
        "process_substitution",
        "binary_expression",
        "unary_expression",
        "postfix_expression",
        "ternary_expression",
        "parenthesized_expression",
    ]
)
# Where a line continuation or an exotic blank is ordinary text for bash as well.
LITERAL = frozenset(
    [
        "raw_string",
        "string",
        "string_content",
        "comment",
        "heredoc_body",
        "heredoc_content",
        "ansi_c_string",
        "word",
    ]
)


def parse(command: str) -> SyntaxTree:
    """Parse and verify; raises UnclearError for all that cannot be believed."""
    data = encode_command(command)
    tree = SyntaxTree(command, data, _parse(data))
    if tree.root.descendant_count > MAX_NODES:
        raise UnclearCommandError("the command is too long to judge as a whole")
    if tree.root.has_error:
        raise UnclearCommandError("the command does not parse as bash")
    _verify(tree)
    return tree


def _parse(data: bytes) -> Node:
    parser = Parser(LANGUAGE)
    if len(data) <= FREE_BYTES:
        return parser.parse(data).root_node

    def read(offset: int, _point: Point) -> bytes:
        return data[offset:]

    deadline = time.thread_time() + CPU_SECONDS

    def too_long(_offset: int, _has_error: bool) -> bool:
        return time.thread_time() > deadline

    try:
        return parser.parse(read, progress_callback=too_long).root_node
    except ValueError:  # how the binding reports that the callback stopped it
        raise UnclearCommandError("the command takes too long to parse") from None


def _verify(tree: SyntaxTree) -> None:
    """Every node is of a known type and every byte belongs to one."""
    stack = [(tree.root, 0)]
    while stack:
        node, depth = stack.pop()
        if depth > MAX_DEPTH:
            raise UnclearCommandError("the command is nested too deeply")
        if node.is_named:
            _verify_node(tree, node)
        stack.extend((child, depth + 1) for child in node.children)
    _verify_places(tree)


def _verify_node(tree: SyntaxTree, node: Node) -> None:
    span = node.byte_range
    if node.type in FRAME:
        _verify_gaps(tree.data, node)
    elif node.type not in TEXT:
        raise UnclearCommandError(f"{node.type} is not understood", span)
    elif node.type == "comment":
        before = tree.data[node.start_byte - 1 : node.start_byte]
        if before not in (b"", b" ", b"\t", b"\n", b";", b"&", b"|", b"(", b")"):
            raise UnclearCommandError("a # inside a word", span)


def _verify_gaps(data: bytes, node: Node) -> None:
    at = node.start_byte
    for start, end in (*(child.byte_range for child in node.children), (node.end_byte, node.end_byte)):
        if at < start and not BLANK.fullmatch(data, at, start):
            raise UnclearCommandError("the command does not parse as bash")
        at = end


def _verify_places(tree: SyntaxTree) -> None:
    """A continued line joins two words for bash; an exotic blank is a letter for bash."""
    data = tree.data
    for match in CONTINUED.finditer(data):
        start, end = match.span(1)
        if not any(side in (b"", b" ", b"\t") for side in (data[start - 1 : start], data[end : end + 1])):
            _require_literal(tree, start, end, "a line continuation inside a word")
    if len(data) == len(tree.text):
        return
    for blank in WIDE_SPACE.finditer(tree.text):
        start = len(tree.text[: blank.start()].encode())
        _require_literal(tree, start, start + len(blank.group().encode()), "an exotic blank")


def _require_literal(tree: SyntaxTree, start: int, end: int, why: str) -> None:
    node = tree.root.descendant_for_byte_range(start, end)
    if node is None or node.type not in LITERAL:
        raise UnclearCommandError(why, (start, end))


def verify_heredoc(data: bytes, start: Node, body: Node, end: Node) -> bool:
    """Check a here-document's borders as bash sees them; returns whether its body is literal.

    A body that is not literal undergoes expansion; in it a line continuation could even join the
    delimiter together, so that is refused.
    """
    match = HEREDOC_WORD.fullmatch(data, start.start_byte, start.end_byte)
    span = (start.start_byte, end.end_byte)
    if match is None:
        raise UnclearCommandError("an unusual here-document delimiter", span)
    word = match["word"]
    text = data[body.start_byte : end.start_byte]
    lines = [line.lstrip(b"\t") for line in text.split(b"\n")]
    closes = data[end.start_byte : end.end_byte].strip() == word and data[
        end.end_byte : end.end_byte + 1
    ] in (b"", b"\n")
    if not closes or word in lines:
        raise UnclearCommandError("the end of the here-document is unclear", span)
    literal = data[start.start_byte : start.end_byte] != word
    if not literal and b"\\\n" in text:
        raise UnclearCommandError("a continued line in a here-document", span)
    return literal
