"""Assignments: which variables may be set, and which values are certain."""

from __future__ import annotations

import re

from tree_sitter import Node

from controlplane.policy.shell.bash.arithmetic import INTEGER
from controlplane.policy.shell.bash.walker import Walker
from controlplane.policy.shell.result import UnclearError
from controlplane.policy.shell.state import Constant, Feed, Outcome, State, always
from controlplane.policy.shell.variables import is_harmless, is_quiet, vet_inert

TARGET = re.compile(r"([A-Za-z_]\w*)(?:\[\d+\])?")


def vet_prefix(walker: Walker, node: Node, state: State, command: str) -> None:
    """`NAME=value` in front of a command. `IFS= read` only says where a line is split."""
    name, value = walker.tree.node_text(node.children[0]), _value_of(walker, node, state)
    is_whole = node.children[1].type == "="
    if name == "IFS" and command == "read":
        return
    walker.scene.passes_variables |= not is_quiet(name)
    if not is_harmless(name, value.text if value and is_whole else None):
        _name_of(walker, node)


def assign(walker: Walker, node: Node, state: State, _feed: Feed) -> Outcome:
    """`name=value` as a command of its own."""
    name = _name_of(walker, node)
    value = _value_of(walker, node, state)
    is_whole = node.children[1].type == "=" and node.children[0].type == "variable_name"
    return always(state.with_constant(name, value if is_whole else None))


def assign_all(walker: Walker, node: Node, state: State, feed: Feed) -> Outcome:
    for child in node.children:
        state = assign(walker, child, state, feed).success
    return always(state)


def declare(walker: Walker, node: Node, state: State, feed: Feed) -> Outcome:
    """`export NAME=value` of variables that nothing listens to; no other declaration."""
    if node.children[0].type != "export":
        raise UnclearError("a declaration may run code or change the shell")
    for child in node.children[1:]:
        name = child.children[0] if child.type == "variable_assignment" else child
        walker.scene.passes_variables |= not is_quiet(walker.tree.node_text(name))
        if child.type == "variable_assignment":
            state = assign(walker, child, state, feed).success
        else:
            _plain_name(walker, child)
    return always(state)


def unset(walker: Walker, node: Node, state: State, _feed: Feed) -> Outcome:
    for child in node.children[1:]:
        state = state.with_constant(_plain_name(walker, child), None)
    return always(state)


def _plain_name(walker: Walker, node: Node) -> str:
    if node.type != "variable_name":
        raise UnclearError("a declaration that is not understood", (node.start_byte, node.end_byte))
    name = walker.tree.node_text(node)
    vet_inert(name, (node.start_byte, node.end_byte))
    return name


def _name_of(walker: Walker, node: Node) -> str:
    """The variable; a subscript must be a number, for bash evaluates it."""
    target = node.children[0]
    match = TARGET.fullmatch(walker.tree.node_text(target))
    span = (node.start_byte, node.end_byte)
    if match is None:
        raise UnclearError("a subscript that may run code", span)
    vet_inert(match[1], span)
    return match[1]


def _value_of(walker: Walker, node: Node, state: State) -> Constant | None:
    """What is certain about the value, after judging the commands in it."""
    value = node.child_by_field_name("value")
    if value is None:
        return Constant("")
    if value.type == "array":
        for child in value.children:
            if child.is_named:
                walker.words(child, state)
        return None
    words = walker.words(value, state)
    word = words[0]
    if len(words) != 1 or word.value is None or word.wild or word.tilde:
        return None
    return None if INTEGER.fullmatch(word.value) else Constant(word.value)  # arithmetic may change it
