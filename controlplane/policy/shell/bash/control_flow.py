"""Conditions and loops: walk every branch and merge the states behind them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from tree_sitter import Node

from controlplane.policy.shell.bash.arithmetic import check_arithmetic
from controlplane.policy.shell.bash.walker import Walker
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.state import CommandOutcome, Constant, State, StreamContent, merge
from controlplane.policy.shell.variables import check_inert
from controlplane.policy.shell.word import Word

NO_CONSTANTS: Mapping[str, Constant] = {}
SOME_FILE = Constant("", is_file_name=True)
READS_LINE = re.compile(r"(?:IFS= )?read(?: -r)?( -d '')? ([A-Za-z_]\w*)")
MAX_ROUNDS = 32  # of a `for` loop with known values


def walk_and_or(
    first: CommandOutcome, operator: str, run: Callable[[State], CommandOutcome]
) -> CommandOutcome:
    """Walk `first && second` or `first || second`; `run` walks the second from a state."""
    if operator == "&&":
        second = run(first.success)
        failure = second.failure if first.cannot_fail else merge(first.failure, second.failure)
        return CommandOutcome(second.success, failure, first.cannot_fail and second.cannot_fail)
    if operator != "||":
        raise UnclearCommandError(f"{operator} is not understood here")
    second = run(first.failure)
    success = first.success if first.cannot_fail else merge(first.success, second.success)
    return CommandOutcome(success, second.failure, first.cannot_fail or second.cannot_fail)


def walk_if(walker: Walker, node: Node, state: State, _stdin: StreamContent) -> CommandOutcome:
    """Walk `if`, `elif` and `else`: conditions run in turn, each body from its condition."""
    end_states: list[State] = []
    failed = state
    for clause in (node, *(child for child in node.children if child.type in ("elif_clause", "else_clause"))):
        if clause.type == "else_clause":
            end_states.append(walker.walk_sequence(clause.children[1:], failed).after)
            failed = state.after_exit()  # with `else`, no way leads past all of the bodies
            continue
        condition, body = _split_clause(clause)
        condition_outcome = walker.walk_sequence(condition, failed)
        end_states.append(walker.walk_sequence(body, condition_outcome.success).after)
        failed = condition_outcome.failure
    return CommandOutcome.from_state(_merge_all([*end_states, failed]))


def _split_clause(clause: Node) -> tuple[list[Node], list[Node]]:
    """Return the statements before and after `then`."""
    index = _find_token(clause, "then")
    body = [child for child in clause.children[index + 1 :] if child.type not in IF_PARTS]
    return clause.children[1:index], body


def _find_token(node: Node, token: str) -> int:
    """Return the position of a token among the children."""
    for at, child in enumerate(node.children):
        if child.type == token:
            return at
    raise UnclearCommandError(f"bash syntax that is not supported: {node.type}")


IF_PARTS = frozenset({"elif_clause", "else_clause", "fi"})


def _merge_all(states: Sequence[State]) -> State:
    merged = states[0]
    for state in states[1:]:
        merged = merge(merged, state)
    return merged


def walk_while(walker: Walker, node: Node, state: State, stdin: StreamContent) -> CommandOutcome:
    """Walk `while` and `until`. In `find . | while read -r f`, f is one of the files that find prints."""
    condition = [child for child in node.children[1:] if child.type != "do_group"]
    match = READS_LINE.fullmatch(
        " ".join(walker.tree.node_text(child) for child in condition if child.is_named)
    )
    is_readable = stdin is StreamContent.NAMES_BY_LINE or (
        stdin is StreamContent.NAMES_BY_NUL and match is not None and match[1] is not None
    )
    file_names = {match[2]: SOME_FILE} if match and is_readable else {}
    redirects = walker.recorder.exec_redirects
    outcome = _walk_rounds(walker, condition, node.children_by_field_name("body"), state, file_names)
    if file_names and walker.recorder.exec_redirects != redirects:
        raise UnclearCommandError("standard input changes inside a loop")
    return outcome


def walk_c_style_for(walker: Walker, node: Node, state: State, _stdin: StreamContent) -> CommandOutcome:
    for child in node.children:
        if child.type not in ("do_group", "compound_statement"):
            check_arithmetic(child, walker)
    return _walk_rounds(walker, [], node.children_by_field_name("body"), state)


def _walk_rounds(
    walker: Walker,
    condition: Sequence[Node],
    body: Sequence[Node],
    state: State,
    file_names: Mapping[str, Constant] = NO_CONSTANTS,
) -> CommandOutcome:
    """Walk a loop of any number of rounds. Two are enough: the second sees what the first has made.

    `file_names`: what variables hold whenever the body begins.
    """
    # Any variable may hold another value in a later round, so none is certain at the start of one.
    start = replace(state, constants={})
    for _ in range(2):
        condition_outcome = walker.walk_sequence(condition, start)
        before = merge(condition_outcome.success, condition_outcome.failure)
        before = replace(before, constants={**before.constants, **file_names})
        after = walker.walk_sequence(body, before).after
        # A `cd` in a loop would have to be followed for every possible number of rounds.
        if {start.directories} != {condition_outcome.after.directories, after.directories} - {()}:
            raise UnclearCommandError("the current directory changes inside a loop")
    return CommandOutcome.from_state(replace(start, directory_stack=()))


def walk_for(walker: Walker, node: Node, state: State, _stdin: StreamContent) -> CommandOutcome:
    """Walk `for`: known values one by one; otherwise the variable is unknown in the body."""
    variable, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
    if node.children[0].type != "for" or variable is None or body is None:
        raise UnclearCommandError("a loop that is not understood")
    name = walker.tree.node_text(variable)
    check_inert(name, variable.byte_range)
    values = node.children_by_field_name("value")
    words = [word for value in values for word in walker.expand_words(value, state)]
    if not words or len(words) > MAX_ROUNDS or not all(_is_known(word) for word in words):
        are_file_names = len(words) > 0 and all(word.is_file_name for word in words)
        return _walk_rounds(walker, [], [body], state, {name: SOME_FILE} if are_file_names else NO_CONSTANTS)
    return _walk_values(walker, body, name, words, state)


def _is_known(word: Word) -> bool:
    return word.value is not None and not word.has_tilde


def _walk_values(
    walker: Walker, body: Node, name: str, words: Sequence[Word], state: State
) -> CommandOutcome:
    """Walk the body once for each word; `break` and `continue` make its variables uncertain."""
    jumps = walker.recorder.jump_count
    current = state
    for word in words:
        if walker.recorder.jump_count != jumps:
            current = replace(current, constants={})
        current = current.with_constant(name, Constant(word.value or "", word.has_wildcard))
        current = walker.walk_sequence([body], current).after
    if walker.recorder.jump_count == jumps:
        return CommandOutcome.from_state(current)
    if current.directories != state.directories:
        raise UnclearCommandError("the current directory changes inside a loop")
    return CommandOutcome.from_state(replace(current, constants={}, directory_stack=()))


def walk_case(walker: Walker, node: Node, state: State, _stdin: StreamContent) -> CommandOutcome:
    """Walk `case`: every item may run, also behind one that falls through (`;&`)."""
    end_states = [state]
    for child in node.children:
        if child.type == "case_item":
            end_states.append(_walk_item(walker, child, merge(state, end_states[-1])))
        elif child.is_named and child.type != "comment":
            walker.expand_words(child, state)
    return CommandOutcome.from_state(_merge_all(end_states))


def _walk_item(walker: Walker, item: Node, state: State) -> State:
    index = _find_token(item, ")")
    for pattern in item.children[:index]:
        if pattern.type == "extglob_pattern":
            check_pattern(walker.tree.node_text(pattern), pattern)
        elif pattern.is_named:
            walker.expand_words(pattern, state)
    return walker.walk_sequence(item.children[index + 1 :], state).after


def check_pattern(text: str, node: Node) -> None:
    """Check a pattern or regular expression, whose text the grammar does not take apart, for expansions."""
    if "$" in text.rstrip("$") or "`" in text or "<(" in text or ">(" in text:
        raise UnclearCommandError("an expansion in a pattern", node.byte_range)
