"""A simple command of the tree: its words, prefixes and redirects, brought together and judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tree_sitter import Node

from controlplane.policy.shell.bash import assignments, redirects
from controlplane.policy.shell.bash.walker import Walker
from controlplane.policy.shell.bash.words import EXPANSIONS
from controlplane.policy.shell.recorder import Mark
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.state import CommandOutcome, State, StreamContent, always, merge
from controlplane.policy.shell.word import Word

LONE_TOKENS = frozenset({"$", "==", "=", "=~", "!"})


@dataclass(frozen=True, slots=True)
class CommandSetting:
    """What stands around a simple command: whether names are fed to it, arguments that the grammar put
    behind a redirect, and where its effects begin."""

    feed: StreamContent = StreamContent.ANYTHING
    extra: Sequence[Word] = ()
    mark: Mark | None = None


def run_simple_command(walker: Walker, node: Node, state: State, around: CommandSetting) -> CommandOutcome:
    scene = walker.scene
    mark = around.mark or scene.mark()
    try:
        scene.count_command()
        words, feed = _gather(walker, node, state, around.feed)
        call = replace(walker.call(node, state, feed), redirects_to_file=scene.has_written(mark))
        outcome = call.run_nested([*words, *around.extra])
        if node.child_count > 2:
            outcome = with_skipped(outcome, state)
    except UnclearCommandError as error:
        scene.add_unknown(error.reason, error.span or node.byte_range)
        outcome = always(state)
    scene.add_part(node.byte_range, mark)
    return outcome


def _gather(
    walker: Walker, node: Node, state: State, feed: StreamContent
) -> tuple[list[Word], StreamContent]:
    words: list[Word] = []
    for at, child in enumerate(node.children):
        if child.type == "variable_assignment":
            _prefix(walker, child, state, node)
        elif child.type in redirects.REDIRECTS:
            found = redirects.open_redirect(walker, child, state)
            words.extend(found.extra)
            feed = found.content if found.is_stdin else feed
        elif child.type == "command_name":
            _check_program_name(child)
            words[:0] = [word for part in child.children for word in walker.words(part, state)]
        elif child.is_named:
            words.extend(walker.words(child, state))
        else:
            words.append(_token(walker, node, at))
    return words, feed


def _check_program_name(node: Node) -> None:
    """A program whose name comes out of an expansion is not known, whatever the value seems to be."""
    stack = [node]
    while stack:
        part = stack.pop()
        if part.type in EXPANSIONS:
            raise UnclearCommandError("the program is not known", node.byte_range)
        stack.extend(part.children)


def _prefix(walker: Walker, node: Node, state: State, command: Node) -> None:
    """A variable that is not inert is unknown, but the command behind it may still be refused."""
    name = command.child_by_field_name("name")
    try:
        assignments.check_prefix(walker, node, state, "" if name is None else walker.tree.node_text(name))
    except UnclearCommandError as error:
        walker.scene.add_unknown(error.reason, error.span or node.byte_range)


def _token(walker: Walker, node: Node, at: int) -> Word:
    """A lone token among the arguments, such as `$` or `==`."""
    child = node.children[at]
    text = walker.tree.node_text(child)
    follows = node.children[at + 1].start_byte if at + 1 < len(node.children) else None
    if follows == child.end_byte or text not in LONE_TOKENS:
        raise UnclearCommandError(f"{text} is not understood here", child.byte_range)
    return Word(text, text, child.start_byte, child.end_byte)


def with_skipped(outcome: CommandOutcome, state: State) -> CommandOutcome:
    """A redirect or an expansion that fails keeps a command from running."""
    return CommandOutcome(outcome.success, merge(outcome.failure, state))
