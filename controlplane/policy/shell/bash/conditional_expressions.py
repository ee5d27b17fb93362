"""Conditional expressions: `[ … ]` and `[[ … ]]`.

The grammar shows `[ a > b ]` as a comparison, but `[` is an ordinary command and bash opens b. The
numeric comparisons of `[[` evaluate their operands as arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from controlplane.policy.shell.bash.arithmetic import check_arithmetic
from controlplane.policy.shell.bash.control_flow import check_pattern
from controlplane.policy.shell.bash.number_variables import INTEGER
from controlplane.policy.shell.bash.walker import Walker
from controlplane.policy.shell.programs.test import check_test_words, read_tested_files
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.state import CommandOutcome, State, StreamContent
from controlplane.policy.shell.word import Word

GROUPS = frozenset({"binary_expression", "unary_expression", "parenthesized_expression"})
NUMERIC = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
OPENS = {">": "write", ">>": "write", "<": "read"}
SINGLE_OPERATORS = frozenset({"=", "==", "!=", "!", "[", "]", "(", ")", "=~"})
DOUBLE_OPERATORS = SINGLE_OPERATORS | {"<", ">", "&&", "||", "[[", "]]"}
WORDS = frozenset({"word", "string", "raw_string", "concatenation", "number", "ansi_c_string"})


def walk_test(walker: Walker, node: Node, state: State, _stdin: StreamContent) -> CommandOutcome:
    is_double = node.children[0].type == "[["
    span = node.byte_range
    mark = walker.recorder.mark()
    walker.recorder.count_command()
    words: list[Word] = []
    for child in node.children[1:-1]:
        words.extend(_flatten(walker, child, state, is_double=is_double))
    if not is_double:
        check_test_words(words)
    read_tested_files(walker.build_call(node, state), words)
    walker.recorder.add_part(span, mark)
    return CommandOutcome.from_state(state)


def _flatten(walker: Walker, node: Node, state: State, *, is_double: bool) -> Iterator[Word]:
    """Yield operands and operators in the order of the text."""
    text = walker.tree.node_text(node)
    span = node.byte_range
    if node.type in GROUPS:
        _check_group(walker, node, state, is_double=is_double)
        for child in node.children:
            yield from _flatten(walker, child, state, is_double=is_double)
    elif node.type == "test_operator" or not node.is_named:
        known = DOUBLE_OPERATORS if is_double else SINGLE_OPERATORS | OPENS.keys()
        if node.type != "test_operator" and node.type not in known:
            raise UnclearCommandError(f"{text} is not understood in a test", span)
        yield Word(text, text, *span)
    elif node.type in ("extglob_pattern", "regex"):
        check_pattern(text, node)
        yield Word(text, text, *span)
    else:
        yield from walker.expand_words(node, state)


def _check_group(walker: Walker, node: Node, state: State, *, is_double: bool) -> None:
    operator = node.child_by_field_name("operator")
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if operator is None or left is None or right is None:
        return
    name = walker.tree.node_text(operator)
    if is_double and name in NUMERIC:
        for side in (left, right):
            _check_numeric(walker, side)
    elif not is_double and name in OPENS:
        _open(walker, OPENS[name], right, state)


def _check_numeric(walker: Walker, side: Node) -> None:
    text = walker.tree.node_text(side).strip('"')
    if side.type == "string" and side.named_child_count == 1:
        side = side.named_children[0]
    if not INTEGER.fullmatch(text):
        check_arithmetic(side, walker)


def _open(walker: Walker, op: str, right: Node, state: State) -> None:
    """Record the target of a redirect that the grammar shows as a comparison."""
    if right.type not in WORDS:
        raise UnclearCommandError("a redirect in a test", right.byte_range)
    call = walker.build_call(right, state)
    word = walker.expand_word(right, state)
    if op == "write":
        call.write(word)
    else:
        call.read(word)
