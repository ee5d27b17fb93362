"""Redirects: which files they read and write, and what the grammar puts below them."""

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
from controlplane.policy.shell.bash.word_expansion import WordContext, read_double_quoted
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.state import CommandOutcome, State, StreamContent
from controlplane.policy.shell.word import Word

REDIRECTS = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})
WRITES = frozenset({">", ">>", ">|", "&>", "&>>"})
READS = frozenset({"<"})
DUPLICATES = frozenset({">&", "<&"})
CLOSES = frozenset({">&-", "<&-"})
NAMED_DESCRIPTOR = re.compile(rb"\{\w+\}\Z")
OUTPUT = re.compile(r"(?:[12]?>>?(?!&)|&>>?)[^<]+|[12]>&[12]")
EXPANDED = re.compile(r"[$`\\]")  # what a here-document is searched for
DIGITS = re.compile(rb"\d+\Z")
DESCRIPTOR = re.compile(r"\d+-?|-")


@dataclass(frozen=True, slots=True)
class Redirect:
    """What one redirect means for its command.

    `extra_words`: arguments of the command that the grammar puts behind the redirect. `is_stdin`: it replaces
    standard input, by `content`, and by `text` where that is certain. `following`: pipes and lists behind a
    here-document on its line.
    """

    extra_words: tuple[Word, ...] = ()
    is_stdin: bool = False
    content: StreamContent = StreamContent.ANYTHING
    following: tuple[Node, ...] = field(default=())
    text: str | None = None

    def run_following(self, walker: Walker, outcome: CommandOutcome, state: State) -> CommandOutcome:
        """Walk what stands below a here-document in the tree although it runs after the command."""
        operator = ""
        for node in self.following:
            if node.type == "pipeline":
                walker.walk_statement(node, state)
            elif node.is_named:
                outcome = control_flow.walk_and_or(outcome, operator, partial(walker.walk_statement, node))
            else:
                operator = node.type
        return outcome


def open_redirect(walker: Walker, node: Node, state: State) -> Redirect:
    """Record what one redirect reads or writes; raises UnclearCommandError."""
    # `{fd}> f` sets the variable fd; the grammar takes `{fd}` for a word in front of the redirect.
    if NAMED_DESCRIPTOR.search(walker.tree.data, 0, node.start_byte):
        raise UnclearCommandError("a redirect that sets a variable", node.byte_range)
    if node.type == "herestring_redirect":
        values = [child for child in node.children if child.is_named]
        for child in values:
            walker.expand_words(child, state)
        is_list = all(is_name_list(child, walker.tree) for child in values)
        return Redirect(
            is_stdin=_is_input(node, walker, "<"),
            content=StreamContent.NAMES_BY_LINE if is_list else StreamContent.ANYTHING,
        )
    if node.type == "heredoc_redirect":
        return _open_heredoc(walker, node, state)
    return _open_file(walker, node, state)


def _open_file(walker: Walker, node: Node, state: State) -> Redirect:
    operator = next((child.type for child in node.children if not child.is_named), "")
    first, *more = node.children_by_field_name("destination") or (None,)
    extra_words = tuple(
        word for other in more if other is not None for word in walker.expand_words(other, state)
    )
    if first is None:
        if operator not in CLOSES:
            raise UnclearCommandError("a redirect without a target")
        return Redirect(extra_words)
    if operator in CLOSES:
        extra_words = (*walker.expand_words(first, state), *extra_words)
    else:
        _record_target(walker, operator, first, state)
    content = classify_substitution(first, walker.tree) if operator == "<" else StreamContent.ANYTHING
    return Redirect(extra_words, is_stdin=_is_input(node, walker, operator), content=content)


def _is_input(node: Node, walker: Walker, operator: str) -> bool:
    """Return whether a redirect replaces standard input: `< f` does, `3< f` does not.

    `0>&3` does so too, and the grammar takes its 0 for a word.
    """
    descriptor = node.child_by_field_name("descriptor")
    end = node.start_byte if descriptor is None else descriptor.end_byte
    number = DIGITS.search(walker.tree.data, 0, end)
    return operator.startswith("<") if number is None else int(number[0]) == 0


def _record_target(walker: Walker, operator: str, destination: Node, state: State) -> None:
    word = walker.expand_word(destination, state)
    if operator in DUPLICATES and DESCRIPTOR.fullmatch(word.value or ""):
        return
    call = walker.build_call(destination, state)
    if operator in READS and not word.has_wildcard:
        call.read(word)
    elif operator in WRITES or operator == ">&":
        call.write(word)
    else:
        raise UnclearCommandError("a redirect that is not understood", destination.byte_range)


def _open_heredoc(walker: Walker, node: Node, state: State) -> Redirect:
    parts = {child.type: child for child in node.children}
    start, body, end = (parts.get(name) for name in ("heredoc_start", "heredoc_body", "heredoc_end"))
    if start is None or body is None or end is None:
        raise UnclearCommandError("a here-document that is not understood")
    is_literal = verify_heredoc(walker.tree.data, start, body, end)
    if not is_literal:
        # The text does not matter, but every expansion in it is checked and recorded.
        for _ in read_double_quoted(body, (body.start_byte, end.start_byte), WordContext(walker, state)):
            pass
    extra_words, following = _read_line(walker, node.children, state)
    text = walker.tree.slice(body.start_byte, end.start_byte)
    is_certain = "<<" in parts and "file_descriptor" not in parts
    is_certain &= all(_is_output(child, walker) for child in node.children if child.type in REDIRECTS)
    is_certain &= is_literal or not EXPANDED.search(text)
    return Redirect(extra_words, is_stdin=True, following=following, text=text if is_certain else None)


def _is_output(node: Node, walker: Walker) -> bool:
    """Return whether a redirect behind a here-document leaves standard input to it."""
    return OUTPUT.fullmatch(walker.tree.node_text(node)) is not None


def _read_line(
    walker: Walker, children: Sequence[Node], state: State
) -> tuple[tuple[Word, ...], tuple[Node, ...]]:
    """Return the arguments and the statements that stand on the line of a here-document."""
    extra_words: list[Word] = []
    following: list[Node] = []
    for child in children:
        if child.type in REDIRECTS:
            extra_words.extend(open_redirect(walker, child, state).extra_words)
        elif child.type in ("&&", "||") or (child.is_named and not child.type.startswith(HEREDOC)):
            is_statement = child.type in ("pipeline", "&&", "||") or (
                following and not following[-1].is_named
            )
            following.append(child) if is_statement else extra_words.extend(walker.expand_words(child, state))
        elif not child.is_named and child.type not in ("<<", "<<-", "\n"):
            raise UnclearCommandError("a here-document that is not understood")
    return tuple(extra_words), tuple(following)


HEREDOC = ("heredoc", "file_descriptor")
