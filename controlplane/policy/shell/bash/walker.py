"""The interface of the interpreter, for the modules that walk one kind of node."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from tree_sitter import Node

from controlplane.policy.shell.bash.number_variables import Variables
from controlplane.policy.shell.bash.syntax_tree import SyntaxTree
from controlplane.policy.shell.program_call import ProgramCall
from controlplane.policy.shell.recorder import Recorder
from controlplane.policy.shell.state import CommandOutcome, State, StreamContent
from controlplane.policy.shell.word import Word


class Walker(Protocol):
    """Walks the nodes of one tree. `interpreter.Interpreter` implements it.

    Loops, redirects and assignments call back through this protocol, so that they need not import the module
    that imports them.
    """

    @property
    def recorder(self) -> Recorder: ...

    @property
    def tree(self) -> SyntaxTree: ...

    @property
    def variables(self) -> Variables:
        """Every variable that the command sets, and where each holds a number."""

    def walk_statement(
        self, node: Node, state: State, stdin: StreamContent = StreamContent.ANYTHING
    ) -> CommandOutcome:
        """Walk one statement of any kind; never raises."""

    def walk_sequence(self, nodes: Iterable[Node], state: State) -> CommandOutcome:
        """Walk statements one after the other."""

    def expand_words(self, node: Node, state: State) -> list[Word]:
        """Expand a node to the words that it stands for; raises UnclearCommandError."""

    def expand_word(self, node: Node, state: State) -> Word:
        """Expand a node that must be exactly one word; raises UnclearCommandError."""

    def check_expansion(self, node: Node, state: State) -> None:
        """Record what an expansion runs; raises UnclearCommandError."""

    def build_call(
        self, node: Node, state: State, stdin: StreamContent = StreamContent.ANYTHING
    ) -> ProgramCall:
        """Build a call of no program, to resolve paths with."""
