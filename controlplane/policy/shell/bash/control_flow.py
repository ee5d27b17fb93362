"""Conditions and loops: every branch is walked, what comes out is what all of them allow."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from tree_sitter import Node

from controlplane.policy.shell.bash.expansions import vet_arithmetic
from controlplane.policy.shell.bash.walker import Walker
from controlplane.policy.shell.result import UnclearError
from controlplane.policy.shell.state import Constant, Feed, Outcome, State, always, merge
from controlplane.policy.shell.variables import vet_inert
from controlplane.policy.shell.word import Word

NOTHING: Mapping[str, Constant] = {}
A_FILE = Constant("", listed=True)
READS_LINE = re.compile(r"(?:IFS= )?read(?: -r)?( -d '')? ([A-Za-z_]\w*)")
MAX_ROUNDS = 32  # values of a `for` loop that are walked one by one


def then(first: Outcome, operator: str, run: Callable[[State], Outcome]) -> Outcome:
    """`first && second` or `first || second`; `run` walks the second from a state."""
    if operator == "&&":
        second = run(first.success)
        failure = second.failure if first.sure else merge(first.failure, second.failure)
        return Outcome(second.success, failure, first.sure and second.sure)
    if operator != "||":
        raise UnclearError(f"{operator} is not understood here")
    second = run(first.failure)
    success = first.success if first.sure else merge(first.success, second.success)
    return Outcome(success, second.failure, first.sure or second.sure)


def if_statement(walker: Walker, node: Node, state: State, _feed: Feed) -> Outcome:
    """`if`, any number of `elif`, `else`: conditions run in turn, each body from its condition."""
    ends: list[State] = []
    failed = state
    for clause in (node, *(child for child in node.children if child.type in ("elif_clause", "else_clause"))):
        if clause.type == "else_clause":
            ends.append(walker.sequence(clause.children[1:], failed).after)
            failed = state.gone()
            continue
        condition, body = _split(clause)
        asked = walker.sequence(condition, failed)
        ends.append(walker.sequence(body, asked.success).after)
        failed = asked.failure
    return always(_merge_all([*ends, failed]))


def _split(clause: Node) -> tuple[list[Node], list[Node]]:
    """The statements before and after `then`."""
    border = _border(clause, "then")
    inner = [child for child in clause.children[border + 1 :] if child.type not in IF_PARTS]
    return clause.children[1:border], inner


def _border(node: Node, token: str) -> int:
    """Where a token stands among the children."""
    for at, child in enumerate(node.children):
        if child.type == token:
            return at
    raise UnclearError(f"{node.type} is not understood")


IF_PARTS = frozenset({"elif_clause", "else_clause", "fi"})


def _merge_all(states: Sequence[State]) -> State:
    found = states[0]
    for state in states[1:]:
        found = merge(found, state)
    return found


def while_statement(walker: Walker, node: Node, state: State, feed: Feed) -> Outcome:
    """`while read -r f` behind a command that lists files: f is one of these."""
    condition = [child for child in node.children[1:] if child.type != "do_group"]
    asked = READS_LINE.fullmatch(
        " ".join(walker.tree.node_text(child) for child in condition if child.is_named)
    )
    fits = feed is Feed.LINES or (feed is Feed.NULS and asked is not None and asked[1] is not None)
    given = {asked[2]: A_FILE} if asked and fits else {}
    reopens = walker.scene.reopens
    outcome = _rounds(walker, condition, node.children_by_field_name("body"), state, given)
    if given and walker.scene.reopens != reopens:
        raise UnclearError("the input changes inside a loop")
    return outcome


def c_style_for_statement(walker: Walker, node: Node, state: State, _feed: Feed) -> Outcome:
    for child in node.children:
        if child.type not in ("do_group", "compound_statement"):
            vet_arithmetic(child, walker)
    return _rounds(walker, [], node.children_by_field_name("body"), state)


def _rounds(
    walker: Walker,
    condition: Sequence[Node],
    body: Sequence[Node],
    state: State,
    given: Mapping[str, Constant] = NOTHING,
) -> Outcome:
    """Any number of rounds. Two are walked: the second sees what the first has made. `given`: what variables
    hold whenever the body begins."""
    start = replace(state, constants={})
    for _ in range(2):
        asked = walker.sequence(condition, start)
        before = merge(asked.success, asked.failure)
        before = replace(before, constants={**before.constants, **given})
        after = walker.sequence(body, before).after
        if {start.folders} != {asked.after.folders, after.folders} - {()}:
            raise UnclearError("the folder changes inside a loop")
    return always(replace(start, stack=()))


def for_statement(walker: Walker, node: Node, state: State, _feed: Feed) -> Outcome:
    """Known values are walked one by one; otherwise the variable is unknown in the body."""
    variable, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
    if node.children[0].type != "for" or variable is None or body is None:
        raise UnclearError("a loop that is not understood")
    name = walker.tree.node_text(variable)
    vet_inert(name, (variable.start_byte, variable.end_byte))
    given = node.children_by_field_name("value")
    words = [word for value in given for word in walker.words(value, state)]
    if not words or len(words) > MAX_ROUNDS or not all(_is_known(word) for word in words):
        is_listed = len(words) > 0 and all(word.listed for word in words)
        return _rounds(walker, [], [body], state, {name: A_FILE} if is_listed else NOTHING)
    return _each(walker, body, name, words, state)


def _is_known(word: Word) -> bool:
    return word.value is not None and not word.tilde


def _each(walker: Walker, body: Node, name: str, words: Sequence[Word], state: State) -> Outcome:
    """After `break` or `continue` nothing is certain about the variables that the body sets."""
    jumps = walker.scene.jumps
    now = state
    for word in words:
        if walker.scene.jumps != jumps:
            now = replace(now, constants={})
        now = now.with_constant(name, Constant(word.value or "", word.wild))
        now = walker.sequence([body], now).after
    if walker.scene.jumps == jumps:
        return always(now)
    if now.folders != state.folders:
        raise UnclearError("the folder changes inside a loop")
    return always(replace(now, constants={}, stack=()))


def case_statement(walker: Walker, node: Node, state: State, _feed: Feed) -> Outcome:
    """Every item may run, after any that falls through into it."""
    ends = [state]
    for child in node.children:
        if child.type == "case_item":
            ends.append(_item(walker, child, merge(state, ends[-1])))
        elif child.is_named and child.type != "comment":
            walker.words(child, state)
    return always(_merge_all(ends))


def _item(walker: Walker, item: Node, state: State) -> State:
    border = _border(item, ")")
    for pattern in item.children[:border]:
        if pattern.type == "extglob_pattern":
            vet_pattern(walker.tree.node_text(pattern), pattern)
        elif pattern.is_named:
            walker.words(pattern, state)
    return walker.sequence(item.children[border + 1 :], state).after


def vet_pattern(text: str, node: Node) -> None:
    """A pattern or regular expression whose text the grammar does not take apart."""
    if "$" in text.rstrip("$") or "`" in text or "<(" in text or ">(" in text:
        raise UnclearError("an expansion in a pattern", (node.start_byte, node.end_byte))
