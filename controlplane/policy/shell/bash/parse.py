"""Parse a bash command and verify the tree.

The grammar is tree-sitter-bash. It never raises, but it is not bash: it repairs broken input, splits words
at a line continuation, and joins `} {` to one word. So every node must be of a known type and every byte
must belong to one; any other tree is rejected.
"""

from __future__ import annotations

import re
import time

import tree_sitter_bash
from tree_sitter import Language, Node, Parser, Point

from controlplane.policy.shell.bash.syntax_tree import SyntaxTree
from controlplane.policy.shell.command_text import encode_command
from controlplane.policy.shell.names import to_names
from controlplane.policy.shell.result import UnclearCommandError

LANGUAGE = Language(tree_sitter_bash.language())

FREE_BYTES = 2 * 1024  # up to here the slowest input found takes 25 ms
CPU_SECONDS = 0.03  # beyond FREE_BYTES, where hostile input takes quadratic time
MAX_NODES = 4_000
MAX_DEPTH = 40

BLANK = re.compile(rb"(?:[ \t\n]|\\\n)*")
CONTINUED = re.compile(rb"(?<!\\)(?:\\\\)*(\\\n)")
UNICODE_BLANK = re.compile(r"[\x85\xa0\u1680\u180e\u2000-\u200b\u2028\u2029\u202f\u205f\u2060\u3000\ufeff]")
# The grammar loses a lone dash in front of a here-document or a descriptor: `cat - <<E`, `diff a - 2>&1`.
LOST_DASH = re.compile(rb"(?<=[ \t])-(?=[ \t]+(?:<<|\d+[<>]))")
QUOTED_HEREDOC = re.compile(rb"""<<-?[ \t]*(['"])([A-Za-z_]\w*)\1""")
# The grammar knows no redirect between a here-document and a pipe: `python3 - <<E 2>&1 | tail`.
ERRORS_BEHIND = re.compile(rb"""(<<-?[ \t]*(['"]?)[A-Za-z_]\w*\2[ \t]+)(2>&1|2>/dev/null)(?=[ \t]*\|)""")
HEREDOC_WORD = re.compile(rb"""(?P<quote>['"]?)\\?(?P<word>[A-Za-z_]\w*)(?P=quote)""")

# Nodes whose text is read character by character elsewhere, so that gaps between their children are covered.
TEXT_NODES = to_names(
    "string raw_string ansi_c_string comment word number variable_name special_variable_name",
    "simple_expansion expansion arithmetic_expansion brace_expression regex extglob_pattern",
    "test_operator string_content heredoc_start heredoc_body heredoc_content heredoc_end",
    "file_descriptor",
)
# Nodes whose children must cover every byte but blanks.
STRUCTURE_NODES = to_names(
    "program list pipeline command command_name redirected_statement file_redirect heredoc_redirect",
    "herestring_redirect negated_command subshell compound_statement test_command if_statement",
    "elif_clause else_clause while_statement for_statement c_style_for_statement do_group",
    "case_statement case_item function_definition variable_assignment variable_assignments",
    "declaration_command unset_command array subscript concatenation command_substitution",
    "process_substitution binary_expression unary_expression postfix_expression ternary_expression",
    "parenthesized_expression",
)
# Nodes in which a line continuation or a Unicode blank is plain text for bash as well.
LITERAL_NODES = to_names(
    "raw_string string string_content comment heredoc_body heredoc_content ansi_c_string word",
)


def parse(command: str) -> SyntaxTree:
    """Parse and verify a command; raises UnclearCommandError for a tree that may not be what bash reads."""
    data = encode_command(command)
    tree = SyntaxTree(command, data, _parse(data))
    if tree.root.has_error:
        tree = _close_heredoc(_drop_errors(tree))
    if tree.root.descendant_count > MAX_NODES:
        raise UnclearCommandError("the command is too long to analyse")
    if tree.root.has_error:
        raise UnclearCommandError("the command does not parse as bash")
    _verify(tree)
    return tree


def _drop_errors(tree: SyntaxTree) -> SyntaxTree:
    """Leave out where error messages go, behind a here-document that is piped: it makes no difference."""
    data = ERRORS_BEHIND.sub(lambda match: match[1] + b" " * len(match[3]), tree.data)
    if data == tree.data:
        return tree
    parsed = SyntaxTree(tree.text, data, _parse(data))
    spans = (match.span(3) for match in ERRORS_BEHIND.finditer(tree.data))
    nodes = [parsed.root.descendant_for_byte_range(*span) for span in spans]
    is_bare = all(node is not None and node.type == "heredoc_redirect" for node in nodes)
    return parsed if is_bare else tree


def _close_heredoc(tree: SyntaxTree) -> SyntaxTree:
    """Write the delimiter below a here-document that lasts to the end of the text, as all shells read it."""
    starts = list(QUOTED_HEREDOC.finditer(tree.data))
    if not starts:
        return tree
    word = starts[-1][2]
    data = tree.data + b"\n" + word
    closed = SyntaxTree(tree.text, data, _parse(data))
    end = closed.root.descendant_for_byte_range(len(data) - len(word), len(data))
    is_closed = end is not None and end.type == "heredoc_end" and not closed.root.has_error
    return closed if is_closed else tree


def _parse(data: bytes) -> Node:
    parser = Parser(LANGUAGE)
    data = LOST_DASH.sub(b"+", data)
    if len(data) <= FREE_BYTES:
        return parser.parse(data).root_node

    def read(offset: int, _point: Point) -> bytes:
        return data[offset:]

    deadline = time.thread_time() + CPU_SECONDS

    def is_late(_offset: int, _has_error: bool) -> bool:
        return time.thread_time() > deadline

    try:
        return parser.parse(read, progress_callback=is_late).root_node
    except ValueError:  # the binding raises it when the callback stops the parser
        raise UnclearCommandError("the command takes too long to parse") from None


def _verify(tree: SyntaxTree) -> None:
    """Require that every node is of a known type and every byte belongs to one."""
    stack = [(tree.root, 0)]
    while stack:
        node, depth = stack.pop()
        if depth > MAX_DEPTH:
            raise UnclearCommandError("the command is nested too deeply")
        if node.is_named:
            _verify_node(tree, node)
        stack.extend((child, depth + 1) for child in node.children)
    _verify_blanks(tree)


def _verify_node(tree: SyntaxTree, node: Node) -> None:
    span = node.byte_range
    if node.type in STRUCTURE_NODES:
        _verify_coverage(tree.data, node)
    elif node.type not in TEXT_NODES:
        raise UnclearCommandError(f"bash syntax that is not supported: {node.type}", span)
    elif node.type == "comment":
        before = tree.data[node.start_byte - 1 : node.start_byte]
        if before not in (b"", b" ", b"\t", b"\n", b";", b"&", b"|", b"(", b")"):
            raise UnclearCommandError("a # inside a word", span)


def _verify_coverage(data: bytes, node: Node) -> None:
    position = node.start_byte
    for start, end in (*(child.byte_range for child in node.children), (node.end_byte, node.end_byte)):
        if position < start and not BLANK.fullmatch(data, position, start):
            raise UnclearCommandError("the command does not parse as bash")
        position = end


def _verify_blanks(tree: SyntaxTree) -> None:
    """Refuse what bash and the grammar split differently: continued lines and Unicode blanks inside words."""
    data = tree.data
    for match in CONTINUED.finditer(data):
        start, end = match.span(1)
        if not any(side in (b"", b" ", b"\t") for side in (data[start - 1 : start], data[end : end + 1])):
            _require_literal(tree, start, end, "a line continuation inside a word")
    if len(data) == len(tree.text):
        return
    for blank in UNICODE_BLANK.finditer(tree.text):
        start = len(tree.text[: blank.start()].encode())
        _require_literal(tree, start, start + len(blank.group().encode()), "a Unicode space character")


def _require_literal(tree: SyntaxTree, start: int, end: int, reason: str) -> None:
    node = tree.root.descendant_for_byte_range(start, end)
    if node is None or node.type not in LITERAL_NODES:
        raise UnclearCommandError(reason, (start, end))


def verify_heredoc(data: bytes, start: Node, body: Node, end: Node) -> bool:
    """Check where a here-document ends for bash; returns whether its body is literal.

    A body that is not literal is expanded. In it a line continuation could join two lines to the delimiter,
    so that is rejected.
    """
    match = HEREDOC_WORD.fullmatch(data, start.start_byte, start.end_byte)
    span = (start.start_byte, end.end_byte)
    if match is None:
        raise UnclearCommandError("an unusual here-document delimiter", span)
    word = match["word"]
    text = data[body.start_byte : end.start_byte]
    lines = [line.lstrip(b"\t") for line in text.split(b"\n")]
    is_closed = data[end.start_byte : end.end_byte].strip() == word and data[
        end.end_byte : end.end_byte + 1
    ] in (b"", b"\n")
    if not is_closed or word in lines:
        raise UnclearCommandError("the end of the here-document is unclear", span)
    is_literal = data[start.start_byte : start.end_byte] != word
    if not is_literal and b"\\\n" in text:
        raise UnclearCommandError("a continued line in a here-document", span)
    return is_literal
