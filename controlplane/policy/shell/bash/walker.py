"""What the parts of the interpreter may ask of the interpreter as a whole."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from tree_sitter import Node

from controlplane.policy.shell.bash.arithmetic import Variables
from controlplane.policy.shell.bash.syntax_tree import SyntaxTree
from controlplane.policy.shell.command import ProgramCall
from controlplane.policy.shell.recorder import Recorder
from controlplane.policy.shell.state import CommandOutcome, State, StreamContent
from controlplane.policy.shell.word import Word


class Walker(Protocol):
    """Judges the nodes of one tree. `Interpreter` is the only one; its parts know it by this name, so
    that loops, redirects and assignments need not import each other."""

    @property
    def scene(self) -> Recorder: ...

    @property
    def tree(self) -> SyntaxTree: ...

    @property
    def variables(self) -> Variables:
        """Every variable that the command sets, and where each holds a number."""

    def statement(
        self, node: Node, state: State, feed: StreamContent = StreamContent.ANYTHING
    ) -> CommandOutcome:
        """Judge one statement of any kind; never raises."""

    def sequence(self, nodes: Iterable[Node], state: State) -> CommandOutcome:
        """Judge statements one after the other."""

    def words(self, node: Node, state: State) -> list[Word]:
        """Expand a node to the words that it stands for; raises UnclearError."""

    def word(self, node: Node, state: State) -> Word:
        """Expand a node that must be exactly one word; raises UnclearError."""

    def expansion(self, node: Node, state: State) -> None:
        """Judge what an expansion runs; raises UnclearError."""

    def call(self, node: Node, state: State, feed: StreamContent = StreamContent.ANYTHING) -> ProgramCall:
        """Build a call of no program, to resolve paths with."""
