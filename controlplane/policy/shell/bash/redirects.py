"""Redirects: where they write, what they read, and what the grammar hides behind them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from tree_sitter import Node

from controlplane.policy.shell.bash import control_flow
from controlplane.policy.shell.bash.command_output import is_list, listed
from controlplane.policy.shell.bash.parse import verify_heredoc
from controlplane.policy.shell.bash.walker import Walker
from controlplane.policy.shell.bash.words import Context, double_quoted
from controlplane.policy.shell.result import UnclearError
from controlplane.policy.shell.state import Feed, Outcome, State
from controlplane.policy.shell.word import Word

REDIRECTS = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})
WRITES = frozenset({">", ">>", ">|", "&>", "&>>"})
READS = frozenset({"<"})
DUPLICATES = frozenset({">&", "<&"})
CLOSES = frozenset({">&-", "<&-"})
NAMED_DESCRIPTOR = re.compile(rb"\{\w+\}\Z")
DIGITS = re.compile(rb"\d+\Z")
DESCRIPTOR = re.compile(r"\d+-?|-")


@dataclass(frozen=True, slots=True)
class Redirect:
    """`extra`: words that belong to the command. `feeds`: its input comes from here, `lists`: what that
    is. `rest`: what follows on the line of a here-document, pipes and `&&`."""

    extra: tuple[Word, ...] = ()
    feeds: bool = False
    lists: Feed = Feed.NONE
    rest: tuple[Node, ...] = field(default=())

    def follow(self, walker: Walker, outcome: Outcome, state: State) -> Outcome:
        """Run what the grammar hangs below a here-document although it comes after the command."""
        operator = ""
        for node in self.rest:
            if node.type == "pipeline":
                walker.statement(node, state)
            elif node.is_named:
                outcome = control_flow.then(outcome, operator, partial(walker.statement, node))
            else:
                operator = node.type
        return outcome


def redirect(walker: Walker, node: Node, state: State) -> Redirect:
    """Judge one redirect; raises UnclearError."""
    if NAMED_DESCRIPTOR.search(walker.tree.data, 0, node.start_byte):
        raise UnclearError("a redirect that sets a variable", (node.start_byte, node.end_byte))
    if node.type == "herestring_redirect":
        given = [child for child in node.children if child.is_named]
        for child in given:
            walker.words(child, state)
        lists = all(is_list(child, walker.tree) for child in given)
        return Redirect(feeds=_is_input(node, walker, "<"), lists=Feed.LINES if lists else Feed.NONE)
    if node.type == "heredoc_redirect":
        return _heredoc(walker, node, state)
    return _file(walker, node, state)


def _file(walker: Walker, node: Node, state: State) -> Redirect:
    operator = next((child.type for child in node.children if not child.is_named), "")
    first, *others = node.children_by_field_name("destination") or (None,)
    extra = tuple(word for other in others if other is not None for word in walker.words(other, state))
    if first is None:
        if operator not in CLOSES:
            raise UnclearError("a redirect without a target")
        return Redirect(extra)
    if operator in CLOSES:
        extra = (*walker.words(first, state), *extra)
    else:
        _open(walker, operator, first, state)
    lists = listed(first, walker.tree) if operator == "<" else Feed.NONE
    return Redirect(extra, feeds=_is_input(node, walker, operator), lists=lists)


def _is_input(node: Node, walker: Walker, operator: str) -> bool:
    """Whether standard input is meant: `3< f` opens another descriptor, and `0>&3` that one, though the
    grammar takes this 0 for a word."""
    descriptor = node.child_by_field_name("descriptor")
    end = node.start_byte if descriptor is None else descriptor.end_byte
    number = DIGITS.search(walker.tree.data, 0, end)
    return operator.startswith("<") if number is None else int(number[0]) == 0


def _open(walker: Walker, operator: str, destination: Node, state: State) -> None:
    word = walker.word(destination, state)
    if operator in DUPLICATES and DESCRIPTOR.fullmatch(word.value or ""):
        return
    call = walker.call(destination, state)
    if operator in READS and not word.wild:
        call.read(word)
    elif operator in WRITES or operator == ">&":
        call.write(word)
    else:
        raise UnclearError(
            "a redirect that is not understood", (destination.start_byte, destination.end_byte)
        )


def _heredoc(walker: Walker, node: Node, state: State) -> Redirect:
    parts = {child.type: child for child in node.children}
    start, body, end = (parts.get(name) for name in ("heredoc_start", "heredoc_body", "heredoc_end"))
    if start is None or body is None or end is None:
        raise UnclearError("a here-document that is not understood")
    if not verify_heredoc(walker.tree.data, start, body, end):
        for _ in double_quoted(body, (body.start_byte, end.start_byte), Context(walker, state)):
            pass
    extra, rest = _line(walker, node.children, state)
    return Redirect(extra, feeds=True, rest=rest)


def _line(
    walker: Walker, children: Sequence[Node], state: State
) -> tuple[tuple[Word, ...], tuple[Node, ...]]:
    """What stands on the line of the here-document: more redirects, arguments, pipes, lists."""
    extra: list[Word] = []
    rest: list[Node] = []
    for child in children:
        if child.type in REDIRECTS:
            extra.extend(redirect(walker, child, state).extra)
        elif child.type in ("&&", "||") or (child.is_named and not child.type.startswith(HEREDOC)):
            is_statement = child.type in ("pipeline", "&&", "||") or (rest and not rest[-1].is_named)
            rest.append(child) if is_statement else extra.extend(walker.words(child, state))
        elif not child.is_named and child.type not in ("<<", "<<-", "\n"):
            raise UnclearError("a here-document that is not understood")
    return tuple(extra), tuple(rest)


HEREDOC = ("heredoc", "file_descriptor")
