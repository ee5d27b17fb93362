"""Walks the tree of a command the way bash runs it, carrying folder and variables along."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial

from tree_sitter import Node

from controlplane.policy.shell.bash import assignments, conditional_expressions, control_flow, redirects
from controlplane.policy.shell.bash.arithmetic import Variables, find_variables
from controlplane.policy.shell.bash.command_output import classify_statement
from controlplane.policy.shell.bash.expansions import check_arithmetic, check_parameter
from controlplane.policy.shell.bash.simple_command import CommandSetting, run_simple_command, with_skipped
from controlplane.policy.shell.bash.syntax_tree import SyntaxTree
from controlplane.policy.shell.bash.words import WordContext, expand_single_word, expand_word
from controlplane.policy.shell.command import ProgramCall
from controlplane.policy.shell.dispatch import run_program
from controlplane.policy.shell.recorder import Recorder
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.state import CommandOutcome, State, StreamContent, always
from controlplane.policy.shell.word import Word

SEPARATORS = frozenset(
    {";", "&", "\n", "&&", "||", "|", "|&", "(", ")", "{", "}", "do", "done", ";;", ";&", ";;&"}
)
BORDERS = frozenset({"$(", "`", ")", "<(", ">("})
Late = tuple[Node, ...]  # redirects that stand behind a statement
NONE: Late = ()


class Interpreter:
    """Judges statements one by one; what it cannot judge becomes an unknown, never an exception."""

    def __init__(self, scene: Recorder, tree: SyntaxTree) -> None:
        self.scene = scene
        self.tree = tree

    @cached_property
    def variables(self) -> Variables:
        return find_variables(self.tree)

    def statement(
        self, node: Node, state: State, feed: StreamContent = StreamContent.ANYTHING
    ) -> CommandOutcome:
        """One statement of any kind. An exhausted scene judges no further."""
        if self.scene.is_exhausted:
            return always(state)
        try:
            return STATEMENTS.get(node.type, _unsupported)(self, node, state, feed)
        except UnclearCommandError as error:
            self.scene.add_unknown(error.reason, error.span or node.byte_range)
            return always(state)

    def attached(self, node: Node, state: State, feed: StreamContent, late: Late) -> CommandOutcome:
        """A statement to which the grammar has hung redirects.

        It hangs those behind `a && b > f` or `a | b > f` on the whole, for bash they are b's.
        """
        judge = RIGHTMOST.get(node.type)
        if not late:
            return self.statement(node, state, feed)
        if judge is not None:
            return judge(self, node, state, feed, late)
        return _opened(self, node, state, feed, late)

    def sequence(self, nodes: Iterable[Node], state: State) -> CommandOutcome:
        """Statements one after the other; one in front of `&` runs beside the shell."""
        outcome = always(state)
        statements = [node for node in nodes if node.type != "comment"]
        for at, node in enumerate(statements):
            if not node.is_named and node.type.strip() in SEPARATORS | BORDERS:
                continue
            found = self.statement(node, outcome.after)
            follower = statements[at + 1].type if at + 1 < len(statements) else ""
            outcome = always(outcome.after) if follower == "&" else found
        return outcome

    def words(self, node: Node, state: State) -> list[Word]:
        return expand_word(node, WordContext(self, state))

    def word(self, node: Node, state: State) -> Word:
        return expand_single_word(node, WordContext(self, state))

    def call(self, node: Node, state: State, feed: StreamContent = StreamContent.ANYTHING) -> ProgramCall:
        """A call of no program, that only resolves paths."""
        return ProgramCall("", (), node.byte_range, state, self.scene, run_program, feed)

    def expansion(self, node: Node, state: State) -> None:
        """Judge what an expansion runs; what it yields is not known."""
        span = node.byte_range
        if node.type == "expansion":
            for inner in check_parameter(node, self.tree):
                self.words(inner, state)
        elif node.type == "arithmetic_expansion":
            for child in node.children:
                check_arithmetic(child, self)
        elif node.type in ("command_substitution", "process_substitution"):
            if node.children[0].type.strip() == "`" and "\\" in self.tree.node_text(node):
                raise UnclearCommandError("a backslash between backticks", span)
            mark = self.scene.mark()
            self.sequence(node.children, state)
            if self.scene.has_written(mark):
                self.scene.add_unknown("a substitution that writes", span)


def _list(
    walker: Interpreter, node: Node, state: State, feed: StreamContent, late: Late = NONE
) -> CommandOutcome:
    outcome, operator = always(state), ""
    last = node.children[-1].id
    for child in node.children:
        if not child.is_named:
            operator = child.type
        elif child.type != "comment":
            step = partial(walker.attached, child, feed=feed, late=late if child.id == last else NONE)
            outcome = control_flow.run_connected(outcome, operator, step) if operator else step(state)
            operator, feed = "none", StreamContent.ANYTHING
    return outcome


def _pipeline(
    walker: Interpreter, node: Node, state: State, feed: StreamContent, late: Late = NONE
) -> CommandOutcome:
    """Every stage runs in a shell of its own."""
    for child in node.children:
        if child.is_named and child.type != "comment":
            attached = late if child.id == node.children[-1].id else NONE
            walker.attached(child, state, feed, attached)
            feed = classify_statement(child, walker.tree, fed=feed)
    return always(state)


def _command(walker: Interpreter, node: Node, state: State, feed: StreamContent) -> CommandOutcome:
    return run_simple_command(walker, node, state, CommandSetting(feed))


def _redirected(walker: Interpreter, node: Node, state: State, feed: StreamContent) -> CommandOutcome:
    body = node.child_by_field_name("body")
    nodes = tuple(child for child in node.children if child.type in redirects.REDIRECTS)
    if body is None:
        return _opened(walker, None, state, feed, nodes)
    return walker.attached(body, state, feed, nodes)


def _opened(
    walker: Interpreter, body: Node | None, state: State, feed: StreamContent, late: Late
) -> CommandOutcome:
    """Redirects are opened before the body runs, in the folder where the shell stands."""
    mark = walker.scene.mark()
    found = [redirects.open_redirect(walker, node, state) for node in late]
    extra = [word for each in found for word in each.extra]
    for each in found:
        feed = each.content if each.is_stdin else feed
    if body is not None and body.type == "command":
        outcome = run_simple_command(walker, body, state, CommandSetting(feed, extra, mark))
    elif extra:
        raise UnclearCommandError("words behind a redirect")
    else:
        outcome = always(state) if body is None else walker.statement(body, state, feed)
    outcome = with_skipped(outcome, state)
    for each in found:
        outcome = each.run_following(walker, outcome, state)
    return outcome


def _negated(
    walker: Interpreter, node: Node, state: State, feed: StreamContent, late: Late = NONE
) -> CommandOutcome:
    found = walker.attached(node.children[-1], state, feed, late)
    return CommandOutcome(found.success if found.cannot_fail else found.failure, found.success)


def _subshell(walker: Interpreter, node: Node, state: State, _feed: StreamContent) -> CommandOutcome:
    walker.sequence(node.children, state)
    return always(state)


def _compound(walker: Interpreter, node: Node, state: State, _feed: StreamContent) -> CommandOutcome:
    if node.children[0].type != "((":
        return walker.sequence(node.children, state)
    for child in node.children:
        check_arithmetic(child, walker)
    return always(state)


def _do_group(walker: Interpreter, node: Node, state: State, _feed: StreamContent) -> CommandOutcome:
    return walker.sequence(node.children, state)


def _bare_redirect(walker: Interpreter, node: Node, state: State, feed: StreamContent) -> CommandOutcome:
    """`$(< file)`."""
    return _opened(walker, None, state, feed, (node,))


def _unsupported(_walker: Interpreter, node: Node, _state: State, _feed: StreamContent) -> CommandOutcome:
    raise UnclearCommandError(f"{node.type} is not understood here")


def _function(_walker: Interpreter, _node: Node, _state: State, _feed: StreamContent) -> CommandOutcome:
    raise UnclearCommandError("defines a function")


RIGHTMOST: Mapping[str, Callable[[Interpreter, Node, State, StreamContent, Late], CommandOutcome]] = {
    "list": _list,
    "pipeline": _pipeline,
    "negated_command": _negated,
}
Statement = Callable[[Interpreter, Node, State, StreamContent], CommandOutcome]
STATEMENTS: Mapping[str, Statement] = {
    "program": _do_group,
    "list": _list,
    "pipeline": _pipeline,
    "command": _command,
    "redirected_statement": _redirected,
    "negated_command": _negated,
    "subshell": _subshell,
    "compound_statement": _compound,
    "do_group": _do_group,
    "function_definition": _function,
    "test_command": conditional_expressions.run_test,
    "if_statement": control_flow.if_statement,
    "while_statement": control_flow.while_statement,
    "for_statement": control_flow.for_statement,
    "c_style_for_statement": control_flow.c_style_for_statement,
    "case_statement": control_flow.case_statement,
    "variable_assignment": assignments.assign,
    "variable_assignments": assignments.assign_all,
    "file_redirect": _bare_redirect,
    "declaration_command": assignments.declare,
    "unset_command": assignments.unset,
}
