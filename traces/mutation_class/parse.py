"""From a text to a tree that may be believed: tree-sitter repairs what it is given, and any repair is a no.

A clock stops it between its steps, but on a hostile text a single step may take minutes: see `apart`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from tree_sitter import Node, Parser, Point

from traces.mutation_class.languages.grammar import Grammar, language_of

MAX_NODES = 80_000
LOOKED_EVERY = 256  # nodes between two looks at the clock
PIECE = 65_536  # bytes handed to the parser at once


class UnclearError(Exception):
    """Nothing is claimed about this text: it does not parse, or is too large, too deep or too slow."""


@dataclass(slots=True)
class Budget:
    """Processor time of this thread, so that load on the machine does not change answers."""

    seconds: float
    _spent: int = 0
    _deadline: float = 0.0

    def __post_init__(self) -> None:
        self._deadline = time.thread_time() + self.seconds

    def spend(self, steps: int = 1) -> None:
        self._spent += steps
        if self._spent >= LOOKED_EVERY:
            self._spent = 0
            if self.is_over():
                raise UnclearError("too slow")

    def is_over(self) -> bool:
        return time.thread_time() > self._deadline


def parsed(grammar: Grammar, data: bytes, budget: Budget) -> Node:
    """The tree of a text that parses without any error. Raises UnclearError."""

    def read(offset: int, _point: Point) -> bytes:
        return data[offset : offset + PIECE]

    parser = Parser(language_of(grammar.package, grammar.function))
    try:
        root = parser.parse(read, progress_callback=lambda _offset, _error: budget.is_over()).root_node
    except ValueError:  # how the binding reports that the callback stopped it
        raise UnclearError("too slow to parse") from None
    if root.has_error:
        raise UnclearError("does not parse")
    if root.descendant_count > MAX_NODES:
        raise UnclearError("too many nodes")
    return root
