"""Redirects: where they write, what they read, and what the grammar hides behind them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from tree_sitter import Node

from controlplane.policy.shell.bash import control_flow
from controlplane.policy.shell.bash.command_output import classify_substitution, is_name_list
from controlplane.policy.shell.bash.parse import verify_heredoc
from controlplane.policy.shell.bash.walker import Walker
from controlplane.policy.shell.bash.words import WordContext, double_quoted
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.state import CommandOutcome, State, StreamContent
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
    is_stdin: bool = False
    content: StreamContent = StreamContent.ANYTHING
    following: tuple[Node, ...] = field(default=())

    def run_following(self, walker: Walker, outcome: CommandOutcome, state: State) -> CommandOutcome:
        """Run what the grammar hangs below a here-document although it comes after the command."""
        operator = ""
        for node in self.following:
            if node.type == "pipeline":
                walker.statement(node, state)
            elif node.is_named:
                outcome = control_flow.run_connected(outcome, operator, partial(walker.statement, node))
            else:
                operator = node.type
        return outcome


def open_redirect(walker: Walker, node: Node, state: State) -> Redirect:
    """Judge one redirect; raises UnclearError."""
    if NAMED_DESCRIPTOR.search(walker.tree.data, 0, node.start_byte):
        raise UnclearCommandError("a redirect that sets a variable", node.byte_range)
    if node.type == "herestring_redirect":
        given = [child for child in node.children if child.is_named]
        for child in given:
            walker.words(child, state)
        lists = all(is_name_list(child, walker.tree) for child in given)
        return Redirect(
            is_stdin=_is_input(node, walker, "<"),
            content=StreamContent.NAMES_BY_LINE if lists else StreamContent.ANYTHING,
        )
    if node.type == "heredoc_redirect":
        return _heredoc(walker, node, state)
    return _file(walker, node, state)


def _file(walker: Walker, node: Node, state: State) -> Redirect:
    operator = next((child.type for child in node.children if not child.is_named), "")
    first, *others = node.children_by_field_name("destination") or (None,)
    extra = tuple(word for other in others if other is not None for word in walker.words(other, state))
    if first is None:
        if operator not in CLOSES:
            raise UnclearCommandError("a redirect without a target")
        return Redirect(extra)
    if operator in CLOSES:
        extra = (*walker.words(first, state), *extra)
    else:
        _open(walker, operator, first, state)
    lists = classify_substitution(first, walker.tree) if operator == "<" else StreamContent.ANYTHING
    return Redirect(extra, is_stdin=_is_input(node, walker, operator), content=lists)


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
    if operator in READS and not word.has_wildcard:
        call.read(word)
    elif operator in WRITES or operator == ">&":
        call.write(word)
    else:
        raise UnclearCommandError("a redirect that is not understood", destination.byte_range)


def _heredoc(walker: Walker, node: Node, state: State) -> Redirect:
    parts = {child.type: child for child in node.children}
    start, body, end = (parts.get(name) for name in ("heredoc_start", "heredoc_body", "heredoc_end"))
    if start is None or body is None or end is None:
        raise UnclearCommandError("a here-document that is not understood")
    if not verify_heredoc(walker.tree.data, start, body, end):
        for _ in double_quoted(body, (body.start_byte, end.start_byte), WordContext(walker, state)):
            pass
    extra, rest = _line(walker, node.children, state)
    return Redirect(extra, is_stdin=True, following=rest)


def _line(
    walker: Walker, children: Sequence[Node], state: State
) -> tuple[tuple[Word, ...], tuple[Node, ...]]:
    """What stands on the line of the here-document: more redirects, arguments, pipes, lists."""
    extra: list[Word] = []
    rest: list[Node] = []
    for child in children:
        if child.type in REDIRECTS:
            extra.extend(open_redirect(walker, child, state).extra)
        elif child.type in ("&&", "||") or (child.is_named and not child.type.startswith(HEREDOC)):
            is_statement = child.type in ("pipeline", "&&", "||") or (rest and not rest[-1].is_named)
            rest.append(child) if is_statement else extra.extend(walker.words(child, state))
        elif not child.is_named and child.type not in ("<<", "<<-", "\n"):
            raise UnclearCommandError("a here-document that is not understood")
    return tuple(extra), tuple(rest)


HEREDOC = ("heredoc", "file_descriptor")
