"""Conditions and loops: every branch is walked, what comes out is what all of them allow."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from tree_sitter import Node

from controlplane.policy.shell.bash.expansions import check_arithmetic
from controlplane.policy.shell.bash.walker import Walker
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.state import CommandOutcome, Constant, State, StreamContent, always, merge
from controlplane.policy.shell.variables import check_inert
from controlplane.policy.shell.word import Word

NOTHING: Mapping[str, Constant] = {}
A_FILE = Constant("", is_file_name=True)
READS_LINE = re.compile(r"(?:IFS= )?read(?: -r)?( -d '')? ([A-Za-z_]\w*)")
MAX_ROUNDS = 32  # values of a `for` loop that are walked one by one


def run_connected(
    first: CommandOutcome, operator: str, run: Callable[[State], CommandOutcome]
) -> CommandOutcome:
    """`first && second` or `first || second`; `run` walks the second from a state."""
    if operator == "&&":
        second = run(first.success)
        failure = second.failure if first.cannot_fail else merge(first.failure, second.failure)
        return CommandOutcome(second.success, failure, first.cannot_fail and second.cannot_fail)
    if operator != "||":
        raise UnclearCommandError(f"{operator} is not understood here")
    second = run(first.failure)
    success = first.success if first.cannot_fail else merge(first.success, second.success)
    return CommandOutcome(success, second.failure, first.cannot_fail or second.cannot_fail)


def if_statement(walker: Walker, node: Node, state: State, _feed: StreamContent) -> CommandOutcome:
    """`if`, any number of `elif`, `else`: conditions run in turn, each body from its condition."""
    ends: list[State] = []
    failed = state
    for clause in (node, *(child for child in node.children if child.type in ("elif_clause", "else_clause"))):
        if clause.type == "else_clause":
            ends.append(walker.sequence(clause.children[1:], failed).after)
            failed = state.after_exit()
            continue
        condition, body = _split(clause)
        asked = walker.sequence(condition, failed)
        ends.append(walker.sequence(body, asked.success).after)
        failed = asked.failure
    return always(_merge_all([*ends, failed]))


def _split(clause: Node) -> tuple[list[Node], list[Node]]:
    """The statements before and after `then`."""
    border = _find_token(clause, "then")
    inner = [child for child in clause.children[border + 1 :] if child.type not in IF_PARTS]
    return clause.children[1:border], inner


def _find_token(node: Node, token: str) -> int:
    """Where a token stands among the children."""
    for at, child in enumerate(node.children):
        if child.type == token:
            return at
    raise UnclearCommandError(f"{node.type} is not understood")


IF_PARTS = frozenset({"elif_clause", "else_clause", "fi"})


def _merge_all(states: Sequence[State]) -> State:
    found = states[0]
    for state in states[1:]:
        found = merge(found, state)
    return found


def while_statement(walker: Walker, node: Node, state: State, feed: StreamContent) -> CommandOutcome:
    """`while read -r f` behind a command that lists files: f is one of these."""
    condition = [child for child in node.children[1:] if child.type != "do_group"]
    asked = READS_LINE.fullmatch(
        " ".join(walker.tree.node_text(child) for child in condition if child.is_named)
    )
    fits = feed is StreamContent.NAMES_BY_LINE or (
        feed is StreamContent.NAMES_BY_NUL and asked is not None and asked[1] is not None
    )
    given = {asked[2]: A_FILE} if asked and fits else {}
    reopens = walker.scene.exec_redirects
    outcome = _rounds(walker, condition, node.children_by_field_name("body"), state, given)
    if given and walker.scene.exec_redirects != reopens:
        raise UnclearCommandError("the input changes inside a loop")
    return outcome


def c_style_for_statement(walker: Walker, node: Node, state: State, _feed: StreamContent) -> CommandOutcome:
    for child in node.children:
        if child.type not in ("do_group", "compound_statement"):
            check_arithmetic(child, walker)
    return _rounds(walker, [], node.children_by_field_name("body"), state)


def _rounds(
    walker: Walker,
    condition: Sequence[Node],
    body: Sequence[Node],
    state: State,
    given: Mapping[str, Constant] = NOTHING,
) -> CommandOutcome:
    """Any number of rounds. Two are walked: the second sees what the first has made. `given`: what variables
    hold whenever the body begins."""
    start = replace(state, constants={})
    for _ in range(2):
        asked = walker.sequence(condition, start)
        before = merge(asked.success, asked.failure)
        before = replace(before, constants={**before.constants, **given})
        after = walker.sequence(body, before).after
        if {start.directories} != {asked.after.directories, after.directories} - {()}:
            raise UnclearCommandError("the folder changes inside a loop")
    return always(replace(start, directory_stack=()))


def for_statement(walker: Walker, node: Node, state: State, _feed: StreamContent) -> CommandOutcome:
    """Known values are walked one by one; otherwise the variable is unknown in the body."""
    variable, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
    if node.children[0].type != "for" or variable is None or body is None:
        raise UnclearCommandError("a loop that is not understood")
    name = walker.tree.node_text(variable)
    check_inert(name, variable.byte_range)
    given = node.children_by_field_name("value")
    words = [word for value in given for word in walker.words(value, state)]
    if not words or len(words) > MAX_ROUNDS or not all(_is_known(word) for word in words):
        is_listed = len(words) > 0 and all(word.is_file_name for word in words)
        return _rounds(walker, [], [body], state, {name: A_FILE} if is_listed else NOTHING)
    return _each(walker, body, name, words, state)


def _is_known(word: Word) -> bool:
    return word.value is not None and not word.has_tilde


def _each(walker: Walker, body: Node, name: str, words: Sequence[Word], state: State) -> CommandOutcome:
    """After `break` or `continue` nothing is certain about the variables that the body sets."""
    jumps = walker.scene.jump_count
    now = state
    for word in words:
        if walker.scene.jump_count != jumps:
            now = replace(now, constants={})
        now = now.with_constant(name, Constant(word.value or "", word.has_wildcard))
        now = walker.sequence([body], now).after
    if walker.scene.jump_count == jumps:
        return always(now)
    if now.directories != state.directories:
        raise UnclearCommandError("the folder changes inside a loop")
    return always(replace(now, constants={}, directory_stack=()))


def case_statement(walker: Walker, node: Node, state: State, _feed: StreamContent) -> CommandOutcome:
    """Every item may run, after any that falls through into it."""
    ends = [state]
    for child in node.children:
        if child.type == "case_item":
            ends.append(_item(walker, child, merge(state, ends[-1])))
        elif child.is_named and child.type != "comment":
            walker.words(child, state)
    return always(_merge_all(ends))


def _item(walker: Walker, item: Node, state: State) -> State:
    border = _find_token(item, ")")
    for pattern in item.children[:border]:
        if pattern.type == "extglob_pattern":
            check_pattern(walker.tree.node_text(pattern), pattern)
        elif pattern.is_named:
            walker.words(pattern, state)
    return walker.sequence(item.children[border + 1 :], state).after


def check_pattern(text: str, node: Node) -> None:
    """A pattern or regular expression whose text the grammar does not take apart."""
    if "$" in text.rstrip("$") or "`" in text or "<(" in text or ">(" in text:
        raise UnclearCommandError("an expansion in a pattern", node.byte_range)
