"""Walk the syntax tree of a command as bash would run it, with directory and variables as state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial

from tree_sitter import Node

from controlplane.policy.shell.bash import assignments, conditional_expressions, control_flow, redirects
from controlplane.policy.shell.bash.arithmetic import check_arithmetic
from controlplane.policy.shell.bash.command_output import classify_statement
from controlplane.policy.shell.bash.number_variables import Variables, find_variables
from controlplane.policy.shell.bash.parameter_expansion import check_parameter
from controlplane.policy.shell.bash.simple_command import CommandContext, add_skipped, walk_simple_command
from controlplane.policy.shell.bash.syntax_tree import SyntaxTree
from controlplane.policy.shell.bash.word_expansion import WordContext, expand_word, expand_words
from controlplane.policy.shell.dispatch import run_program
from controlplane.policy.shell.lexical_path import CommandPath
from controlplane.policy.shell.program_call import ProgramCall
from controlplane.policy.shell.programs.mktemp import find_new_name
from controlplane.policy.shell.recorder import Recorder
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.state import CommandOutcome, State, StreamContent
from controlplane.policy.shell.word import Word

SEPARATORS = frozenset(
    {";", "&", "\n", "&&", "||", "|", "|&", "(", ")", "{", "}", "do", "done", ";;", ";&", ";;&"}
)
DELIMITERS = frozenset({"$(", "`", ")", "<(", ">("})
RedirectNodes = tuple[Node, ...]  # redirects behind a statement
NO_REDIRECTS: RedirectNodes = ()


class Interpreter:
    """An abstract interpreter: it runs nothing, and records what it cannot follow as unknown."""

    def __init__(self, recorder: Recorder, tree: SyntaxTree) -> None:
        self.recorder = recorder
        self.tree = tree

    @cached_property
    def variables(self) -> Variables:
        return find_variables(self.tree)

    def walk_statement(
        self, node: Node, state: State, stdin: StreamContent = StreamContent.ANYTHING
    ) -> CommandOutcome:
        """Walk one statement of any kind; nothing more behind MAX_COMMANDS."""
        if self.recorder.is_exhausted:
            return CommandOutcome.from_state(state)
        try:
            return STATEMENTS.get(node.type, _reject)(self, node, state, stdin)
        except UnclearCommandError as error:
            self.recorder.add_unknown(error.reason, error.span or node.byte_range)
            return CommandOutcome.from_state(state)

    def walk_redirected(
        self, node: Node, state: State, stdin: StreamContent, redirect_nodes: RedirectNodes
    ) -> CommandOutcome:
        """Walk a statement with redirects behind it.

        The grammar attaches those of `a && b > f` and `a | b > f` to the list, bash to b.
        """
        handler = LAST_TAKES_REDIRECTS.get(node.type)
        if not redirect_nodes:
            return self.walk_statement(node, state, stdin)
        if handler is not None:
            return handler(self, node, state, stdin, redirect_nodes)
        return _walk_with_redirects(self, node, state, stdin, redirect_nodes)

    def walk_sequence(self, nodes: Iterable[Node], state: State) -> CommandOutcome:
        """Walk statements one after the other; one in front of `&` runs in a subshell."""
        outcome = CommandOutcome.from_state(state)
        statements = [node for node in nodes if node.type != "comment"]
        for index, node in enumerate(statements):
            if not node.is_named and node.type.strip() in SEPARATORS | DELIMITERS:
                continue
            result = self.walk_statement(node, outcome.after)
            next_type = statements[index + 1].type if index + 1 < len(statements) else ""
            outcome = CommandOutcome.from_state(outcome.after) if next_type == "&" else result
        return outcome

    def expand_words(self, node: Node, state: State) -> list[Word]:
        return expand_words(node, WordContext(self, state))

    def expand_word(self, node: Node, state: State) -> Word:
        return expand_word(node, WordContext(self, state))

    def build_call(
        self, node: Node, state: State, stdin: StreamContent = StreamContent.ANYTHING
    ) -> ProgramCall:
        """Build a call of no program, to resolve paths with."""
        return ProgramCall("", (), node.byte_range, state, self.recorder, run_program, stdin)

    def check_expansion(self, node: Node, state: State) -> None:
        """Record what an expansion runs; what it yields is not known."""
        span = node.byte_range
        if node.type == "expansion":
            for child in check_parameter(node, self.tree):
                self.expand_words(child, state)
        elif node.type == "arithmetic_expansion":
            for child in node.children:
                check_arithmetic(child, self)
        elif node.type in ("command_substitution", "process_substitution"):
            if node.children[0].type.strip() == "`" and "\\" in self.tree.node_text(node):
                raise UnclearCommandError("a backslash between backticks", span)
            if self._record_new_name(node):
                return
            mark = self.recorder.mark()
            self.walk_sequence(node.children, state)
            if self.recorder.has_written(mark):
                self.recorder.add_unknown("a command substitution that writes files", span)

    def _record_new_name(self, node: Node) -> bool:
        """Record the file that `$(mktemp)` makes; returns whether this is such a substitution."""
        found = find_new_name(self.tree.node_text(node))
        if found is not None:
            path = CommandPath(found[0], "", found[0])
            self.recorder.add_write(path, "folder" if found[1] else "write", node.byte_range)
        return found is not None


def _walk_list(
    walker: Interpreter,
    node: Node,
    state: State,
    stdin: StreamContent,
    redirect_nodes: RedirectNodes = NO_REDIRECTS,
) -> CommandOutcome:
    outcome, operator = CommandOutcome.from_state(state), ""
    last = node.children[-1].id
    for child in node.children:
        if not child.is_named:
            operator = child.type
        elif child.type != "comment":
            step = partial(
                walker.walk_redirected,
                child,
                stdin=stdin,
                redirect_nodes=redirect_nodes if child.id == last else NO_REDIRECTS,
            )
            outcome = control_flow.walk_and_or(outcome, operator, step) if operator else step(state)
            operator, stdin = "none", StreamContent.ANYTHING
    return outcome


def _walk_pipeline(
    walker: Interpreter,
    node: Node,
    state: State,
    stdin: StreamContent,
    redirect_nodes: RedirectNodes = NO_REDIRECTS,
) -> CommandOutcome:
    """Walk a pipeline: every stage runs in a subshell, and reads what the one before prints."""
    for child in node.children:
        if child.is_named and child.type != "comment":
            last_redirects = redirect_nodes if child.id == node.children[-1].id else NO_REDIRECTS
            walker.walk_redirected(child, state, stdin, last_redirects)
            stdin = classify_statement(child, walker.tree, stdin=stdin)
    return CommandOutcome.from_state(state)


def _walk_command(walker: Interpreter, node: Node, state: State, stdin: StreamContent) -> CommandOutcome:
    return walk_simple_command(walker, node, state, CommandContext(stdin))


def _walk_redirected_statement(
    walker: Interpreter, node: Node, state: State, stdin: StreamContent
) -> CommandOutcome:
    body = node.child_by_field_name("body")
    nodes = tuple(child for child in node.children if child.type in redirects.REDIRECTS)
    if body is None:
        return _walk_with_redirects(walker, None, state, stdin, nodes)
    return walker.walk_redirected(body, state, stdin, nodes)


def _walk_with_redirects(
    walker: Interpreter, body: Node | None, state: State, stdin: StreamContent, redirect_nodes: RedirectNodes
) -> CommandOutcome:
    """Open redirects, as bash does before the body runs and in its directory, then walk the body."""
    mark = walker.recorder.mark()
    opened = [redirects.open_redirect(walker, node, state) for node in redirect_nodes]
    extra_words = [word for each in opened for word in each.extra_words]
    text = None
    for each in opened:
        stdin, text = (each.content, each.text) if each.is_stdin else (stdin, text)
    if body is not None and body.type == "command":
        outcome = walk_simple_command(walker, body, state, CommandContext(stdin, extra_words, mark, text))
    elif extra_words:
        raise UnclearCommandError("words behind a redirect that are not understood")
    else:
        outcome = (
            CommandOutcome.from_state(state) if body is None else walker.walk_statement(body, state, stdin)
        )
    outcome = add_skipped(outcome, state)
    for each in opened:
        outcome = each.run_following(walker, outcome, state)
    return outcome


def _walk_negated(
    walker: Interpreter,
    node: Node,
    state: State,
    stdin: StreamContent,
    redirect_nodes: RedirectNodes = NO_REDIRECTS,
) -> CommandOutcome:
    opened = walker.walk_redirected(node.children[-1], state, stdin, redirect_nodes)
    return CommandOutcome(opened.success if opened.cannot_fail else opened.failure, opened.success)


def _walk_subshell(walker: Interpreter, node: Node, state: State, _stdin: StreamContent) -> CommandOutcome:
    walker.walk_sequence(node.children, state)
    return CommandOutcome.from_state(state)


def _walk_compound(walker: Interpreter, node: Node, state: State, _stdin: StreamContent) -> CommandOutcome:
    if node.children[0].type != "((":
        return walker.walk_sequence(node.children, state)
    for child in node.children:
        check_arithmetic(child, walker)
    return CommandOutcome.from_state(state)


def _walk_do_group(walker: Interpreter, node: Node, state: State, _stdin: StreamContent) -> CommandOutcome:
    return walker.walk_sequence(node.children, state)


def _walk_bare_redirect(
    walker: Interpreter, node: Node, state: State, stdin: StreamContent
) -> CommandOutcome:
    """Walk `$(< file)`."""
    return _walk_with_redirects(walker, None, state, stdin, (node,))


def _reject(_walker: Interpreter, node: Node, _state: State, _stdin: StreamContent) -> CommandOutcome:
    raise UnclearCommandError(f"bash syntax that is not supported here: {node.type}")


def _reject_function(
    _walker: Interpreter, _node: Node, _state: State, _stdin: StreamContent
) -> CommandOutcome:
    raise UnclearCommandError("defines a function")


LAST_TAKES_REDIRECTS: Mapping[
    str, Callable[[Interpreter, Node, State, StreamContent, RedirectNodes], CommandOutcome]
] = {
    "list": _walk_list,
    "pipeline": _walk_pipeline,
    "negated_command": _walk_negated,
}
Statement = Callable[[Interpreter, Node, State, StreamContent], CommandOutcome]
STATEMENTS: Mapping[str, Statement] = {
    "program": _walk_do_group,
    "list": _walk_list,
    "pipeline": _walk_pipeline,
    "command": _walk_command,
    "redirected_statement": _walk_redirected_statement,
    "negated_command": _walk_negated,
    "subshell": _walk_subshell,
    "compound_statement": _walk_compound,
    "do_group": _walk_do_group,
    "function_definition": _reject_function,
    "test_command": conditional_expressions.walk_test,
    "if_statement": control_flow.walk_if,
    "while_statement": control_flow.walk_while,
    "for_statement": control_flow.walk_for,
    "c_style_for_statement": control_flow.walk_c_style_for,
    "case_statement": control_flow.walk_case,
    "variable_assignment": assignments.walk_assignment,
    "variable_assignments": assignments.walk_assignments,
    "file_redirect": _walk_bare_redirect,
    "declaration_command": assignments.walk_declaration,
    "unset_command": assignments.walk_unset,
}
