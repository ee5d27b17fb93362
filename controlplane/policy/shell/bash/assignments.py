"""Assignments: check which variables are set, and keep the values that are certain."""

from __future__ import annotations

import re

from tree_sitter import Node

from controlplane.policy.shell.bash.number_variables import INTEGER
from controlplane.policy.shell.bash.walker import Walker
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.state import CommandOutcome, Constant, State, StreamContent
from controlplane.policy.shell.variables import SETS, check_inert, find_setting, is_harmless, is_quiet

TARGET = re.compile(r"([A-Za-z_]\w*)(?:\[\d+\])?")


def check_prefix(walker: Walker, node: Node, state: State, command: str) -> None:
    """Check `NAME=value` in front of a command. `IFS= read` only says where a line is split."""
    name, value = walker.tree.node_text(node.children[0]), _evaluate(walker, node, state)
    replaces_value = node.children[1].type == "="
    if name == "IFS" and command == "read":
        return
    if replaces_value and _claim_setting(walker, node, name, value):
        return
    walker.recorder.exports_variables |= not is_quiet(name)
    if not is_harmless(name, value.text if value and replaces_value else None):
        _check_target(walker, node)


def _claim_setting(walker: Walker, node: Node, name: str, value: Constant | None) -> bool:
    """Record `RUST_LOG=info` by its kind; returns whether it is such a setting."""
    literal = node.child_by_field_name("value")
    text = "" if literal is None else walker.tree.node_text(literal)
    setting = find_setting(name, text if INTEGER.fullmatch(text) else value.text if value else None)
    if setting is not None:
        walker.recorder.claim(*setting, SETS.format(name))
    return setting is not None


def walk_assignment(walker: Walker, node: Node, state: State, _stdin: StreamContent) -> CommandOutcome:
    """Run `name=value` as a command of its own."""
    name = _check_target(walker, node)
    value = _evaluate(walker, node, state)
    replaces_value = node.children[1].type == "=" and node.children[0].type == "variable_name"
    return CommandOutcome.from_state(state.with_constant(name, value if replaces_value else None))


def walk_assignments(walker: Walker, node: Node, state: State, stdin: StreamContent) -> CommandOutcome:
    for child in node.children:
        state = walk_assignment(walker, child, state, stdin).success
    return CommandOutcome.from_state(state)


def walk_declaration(walker: Walker, node: Node, state: State, stdin: StreamContent) -> CommandOutcome:
    """Run `export NAME=value` for variables that no program reads; other declarations are unclear."""
    if node.children[0].type != "export":
        raise UnclearCommandError("a declaration may run code or change the shell")
    for child in node.children[1:]:
        name = child.children[0] if child.type == "variable_assignment" else child
        walker.recorder.exports_variables |= not is_quiet(walker.tree.node_text(name))
        if child.type == "variable_assignment":
            state = walk_assignment(walker, child, state, stdin).success
        else:
            _check_name(walker, child)
    return CommandOutcome.from_state(state)


def walk_unset(walker: Walker, node: Node, state: State, _stdin: StreamContent) -> CommandOutcome:
    for child in node.children[1:]:
        state = state.with_constant(_check_name(walker, child), None)
    return CommandOutcome.from_state(state)


def _check_name(walker: Walker, node: Node) -> str:
    if node.type != "variable_name":
        raise UnclearCommandError("a declaration that is not understood", node.byte_range)
    name = walker.tree.node_text(node)
    check_inert(name, node.byte_range)
    return name


def _check_target(walker: Walker, node: Node) -> str:
    """Return the variable's name; its subscript must be a number, as bash evaluates it."""
    target = node.children[0]
    match = TARGET.fullmatch(walker.tree.node_text(target))
    span = node.byte_range
    if match is None:
        raise UnclearCommandError("an array subscript that may run code", span)
    check_inert(match[1], span)
    return match[1]


def _evaluate(walker: Walker, node: Node, state: State) -> Constant | None:
    """Return the value where it is certain, and record what the commands in it do."""
    value = node.child_by_field_name("value")
    if value is None:
        return Constant("")
    if value.type == "array":
        for child in value.children:
            if child.is_named:
                walker.expand_words(child, state)
        return None
    words = walker.expand_words(value, state)
    word = words[0]
    if len(words) != 1 or word.value is None or word.has_wildcard or word.has_tilde:
        return None
    # Arithmetic may change a number later without an assignment that this walk follows.
    return None if INTEGER.fullmatch(word.value) else Constant(word.value)
