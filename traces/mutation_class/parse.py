"""Parse a text into a tree that can be trusted: tree-sitter repairs invalid input, and any repair is
rejected.

The clock stops the parser between its steps, but on a hostile text a single step may take minutes; see
`worker_client`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from tree_sitter import Node, Parser, Point

from traces.mutation_class.languages.grammar import Grammar, load_language

MAX_NODES = 80_000
STEPS_PER_CHECK = 256  # nodes between two checks of the clock
CHUNK_SIZE = 65_536  # bytes passed to the parser at once


class UnclassifiableError(Exception):
    """Nothing can be claimed about a text: it does not parse, or is too large, too deep or too slow."""


@dataclass(slots=True)
class CpuLimit:
    """A limit in processor time of this thread, so that load on the machine does not change results."""

    seconds: float
    _steps: int = 0
    _deadline: float = 0.0

    def __post_init__(self) -> None:
        self._deadline = time.thread_time() + self.seconds

    def count_steps(self, steps: int = 1) -> None:
        self._steps += steps
        if self._steps >= STEPS_PER_CHECK:
            self._steps = 0
            if self.is_exceeded():
                raise UnclassifiableError("too slow")

    def is_exceeded(self) -> bool:
        return time.thread_time() > self._deadline


def parse(grammar: Grammar, data: bytes, cpu_limit: CpuLimit) -> Node:
    """Return the root node. Raises UnclassifiableError unless the text parses without any error."""

    def read(offset: int, _point: Point) -> bytes:
        return data[offset : offset + CHUNK_SIZE]

    parser = Parser(load_language(grammar.package, grammar.function))
    try:
        root = parser.parse(read, progress_callback=lambda _offset, _error: cpu_limit.is_exceeded()).root_node
    except ValueError:  # how the binding reports that the callback stopped the parser
        raise UnclassifiableError("too slow to parse") from None
    if root.has_error:
        raise UnclassifiableError("does not parse")
    if root.descendant_count > MAX_NODES:
        raise UnclassifiableError("too many nodes")
    return root
