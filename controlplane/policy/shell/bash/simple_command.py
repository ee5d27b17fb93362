"""Simple commands: gather prefixes, words and redirects of the tree, and call the program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tree_sitter import Node

from controlplane.policy.shell.bash import assignments, redirects
from controlplane.policy.shell.bash.walker import Walker
from controlplane.policy.shell.bash.word_expansion import EXPANSIONS
from controlplane.policy.shell.recorder import Mark
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.state import CommandOutcome, State, StreamContent, merge
from controlplane.policy.shell.word import Word

LONE_TOKENS = frozenset({"$", "==", "=", "=~", "!"})


@dataclass(frozen=True, slots=True)
class CommandContext:
    """What surrounds a simple command.

    Its standard input and the text of that, arguments that the grammar put behind a redirect, the mark where
    its effects begin.
    """

    stdin: StreamContent = StreamContent.ANYTHING
    extra_words: Sequence[Word] = ()
    mark: Mark | None = None
    stdin_text: str | None = None


def walk_simple_command(walker: Walker, node: Node, state: State, setting: CommandContext) -> CommandOutcome:
    recorder = walker.recorder
    mark = setting.mark or recorder.mark()
    try:
        recorder.count_command()
        words, stdin, text = _gather_words(walker, node, state, setting)
        is_to_file = recorder.has_written(mark)
        call = walker.build_call(node, state, stdin)
        call = replace(call, redirects_to_file=is_to_file, stdin_text=text)
        outcome = call.run_nested([*words, *setting.extra_words])
        if node.child_count > 2:
            outcome = add_skipped(outcome, state)
    except UnclearCommandError as error:
        recorder.add_unknown(error.reason, error.span or node.byte_range)
        outcome = CommandOutcome.from_state(state)
    recorder.add_part(node.byte_range, mark)
    return outcome


def _gather_words(
    walker: Walker, node: Node, state: State, setting: CommandContext
) -> tuple[list[Word], StreamContent, str | None]:
    words: list[Word] = []
    stdin, text = setting.stdin, setting.stdin_text
    for index, child in enumerate(node.children):
        if child.type == "variable_assignment":
            _check_prefix(walker, child, state, node)
        elif child.type in redirects.REDIRECTS:
            opened = redirects.open_redirect(walker, child, state)
            words.extend(opened.extra_words)
            stdin, text = (opened.content, opened.text) if opened.is_stdin else (stdin, text)
        elif child.type == "command_name":
            _check_program_name(child)
            words[:0] = [word for part in child.children for word in walker.expand_words(part, state)]
        elif child.is_named:
            words.extend(walker.expand_words(child, state))
        else:
            words.append(_lone_token(walker, node, index))
    return words, stdin, text


def _check_program_name(node: Node) -> None:
    """Refuse a program name that comes out of an expansion, even where its value seems to be certain."""
    stack = [node]
    while stack:
        part = stack.pop()
        if part.type in EXPANSIONS:
            raise UnclearCommandError(
                "the name of the program is known only when the command runs", node.byte_range
            )
        stack.extend(part.children)


def _check_prefix(walker: Walker, node: Node, state: State, command: Node) -> None:
    """Check `NAME=value` in front of the command.

    What is unclear about it is recorded and not raised: the writes of the command may still be refused.
    """
    name = command.child_by_field_name("name")
    try:
        assignments.check_prefix(walker, node, state, "" if name is None else walker.tree.node_text(name))
    except UnclearCommandError as error:
        walker.recorder.add_unknown(error.reason, error.span or node.byte_range)


def _lone_token(walker: Walker, node: Node, index: int) -> Word:
    """Return a lone token among the arguments, such as `$` or `==`."""
    child = node.children[index]
    text = walker.tree.node_text(child)
    next_start = node.children[index + 1].start_byte if index + 1 < len(node.children) else None
    if next_start == child.end_byte or text not in LONE_TOKENS:
        raise UnclearCommandError(f"{text} is not understood here", child.byte_range)
    return Word(text, text, child.start_byte, child.end_byte)


def add_skipped(outcome: CommandOutcome, state: State) -> CommandOutcome:
    """Add the outcome that the command does not run at all, as a redirect or an expansion has failed."""
    return CommandOutcome(outcome.success, merge(outcome.failure, state))
