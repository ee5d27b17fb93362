"""Exact questions about sets of paths, answered with a path as the witness.

Patterns become one automaton that reads a path character by character; a set of its states is an
integer with a bit for each. `find` looks for a path that one automaton after the other accepts and
that the last one does not, over the characters that they tell apart, among the paths that can
exist (see `paths`). It walks breadth first, so the witness is a shortest one. Where two walks meet
with different states of the automaton to avoid, only the smaller set is followed (an antichain):
that keeps the walk small where a product of deterministic automata would explode.
"""

from __future__ import annotations

import unicodedata
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise, product

from controlplane.policy.globs.syntax import Alternative, CharClass, Wildcard
from controlplane.policy.paths.canonical import find_character_problem

MAX_STEPS = 50_000  # walks of one question; bounds its time to about a second
_Place = tuple[int, tuple[int, ...]]  # where in a path, and the state of each wanted automaton

_START, _NEXT, _NAMED, _UNENDED = range(4)  # of a path, of a segment; a segment may or may not end here
_NICE = "xabcdefghijklmnopqrstuvwyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"


class TooComplexError(Exception):
    """The question needs more than MAX_STEPS walks."""


class Automaton:
    """Several alternatives at once. States are bits; each alternative is a chain of them.

    A character or class is left towards the next state. A star stays on what is no slash and may
    be passed over. `**/` is two states, between segments and inside one; `**` at the end stays on
    everything (no path ends in a slash, so that is at least one segment).
    """

    def __init__(self, alternatives: Iterable[Alternative]) -> None:
        self.start = self.accept = 0
        self.edges: set[int] = set()  # code points at which an interval of like characters begins
        self._size = 0
        self._literals: dict[str, int] = {}
        self._classes: list[tuple[CharClass, int]] = []
        self._star = self._between = self._inside = self._tail = 0
        self._reading: dict[str, int] = {}
        for alternative in alternatives:
            self._add(alternative)
        self.start = self._closed(self.start)

    def _add(self, alternative: Alternative) -> None:
        self.start |= 1 << self._size
        for index, part in enumerate(alternative):
            last = index == len(alternative) - 1
            if isinstance(part, Wildcard):
                self._add_globstar(last=last)
                continue
            for atom in part if last else (*part, "/"):
                for each in atom if isinstance(atom, str) else (atom,):
                    self._add_atom(each)
        self.accept |= self._state()

    def _state(self) -> int:
        self._size += 1
        return 1 << (self._size - 1)

    def _add_globstar(self, *, last: bool) -> None:
        if last:
            self._tail |= self._state()
        else:
            self._between |= self._state()
            self._inside |= self._state()

    def _add_atom(self, atom: str | CharClass | Wildcard) -> None:
        state = self._state()
        if isinstance(atom, str):
            self._literals[atom] = self._literals.get(atom, 0) | state
            self.edges |= {ord(atom), ord(atom) + 1}
        elif isinstance(atom, CharClass):
            self._classes.append((atom, state))
            self.edges |= {edge for low, high in atom.ranges for edge in (low, high + 1)}
        else:
            self._star |= state

    def _closed(self, states: int) -> int:
        """The states and those that can be reached from them without reading."""
        while True:
            more = states | (states & (self._star | self._tail)) << 1 | (states & self._between) << 2
            if more == states:
                return states
            states = more

    def step(self, states: int, char: str) -> int:
        """The states after reading one character."""
        reading = self._reading.get(char)
        if reading is None:
            fitting = (state for class_, state in self._classes if char in class_)
            reading = self._reading[char] = self._literals.get(char, 0) | sum(fitting)
        if char == "/":
            return self._closed((states & reading) << 1 | (states & self._inside) >> 1 | states & self._tail)
        moved = (states & (reading | self._between)) << 1
        return self._closed(moved | states & (self._star | self._inside | self._tail))


NOTHING = Automaton(())


@lru_cache(maxsize=4096)
def build_automaton(alternatives: tuple[Alternative, ...]) -> Automaton:
    return Automaton(alternatives)


def find_path(wanted: Sequence[Automaton], avoided: Automaton = NOTHING, *, top: bool = True) -> str | None:
    """A shortest path that all `wanted` accept and `avoided` does not; None when there is none.

    Not `top`: the rest of a path below some folder, where a name may begin with `~`.

    Raises TooTangledError when the search was given up.
    """
    walker = _Walker(wanted, _alphabet([*wanted, avoided]))
    seen: dict[_Place, list[int]] = {}
    queue: deque[tuple[int, tuple[int, ...], int, str]] = deque()
    for states in product(*(_bits(each.start) for each in wanted)):
        queue.append((_START if top else _NEXT, states, avoided.start, ""))
    for _ in range(MAX_STEPS):
        if not queue:
            return None
        where, states, shadow, path = queue.popleft()
        if where == _NAMED and walker.accepts(states) and not shadow & avoided.accept:
            return path
        for char, after in walker.moves(states):
            then = _walk(where, char)
            if then is not None:
                left = avoided.step(shadow, char)
                queue.extend((then, s, left, path + char) for s in after if _is_new(seen, (then, s), left))
    raise TooComplexError


def _is_new(seen: dict[_Place, list[int]], key: _Place, shadow: int) -> bool:
    """Whether no walk came here with as little or less of what is to be avoided; notes it if so."""
    shadows = seen.setdefault(key, [])
    if any(not smaller & ~shadow for smaller in shadows):
        return False
    shadows[:] = [each for each in shadows if shadow & ~each]
    shadows.append(shadow)
    return True


def _walk(where: int, char: str) -> int | None:
    """How a path that can exist goes on: names are not empty and end in no dot or blank."""
    if char == "/":
        return _NEXT if where == _NAMED else None
    if where == _START and char == "~":
        return None
    return _UNENDED if char == "." or char.isspace() else _NAMED


class _Walker:
    """The moves of single states of the wanted automata, remembered for one search."""

    def __init__(self, wanted: Sequence[Automaton], alphabet: list[str]) -> None:
        self._wanted = wanted
        self._alphabet = alphabet
        self._known: list[dict[int, dict[str, list[int]]]] = [{} for _ in wanted]

    def accepts(self, states: tuple[int, ...]) -> bool:
        return all(each.accept & state for each, state in zip(self._wanted, states, strict=True))

    def moves(self, states: tuple[int, ...]) -> Iterator[tuple[str, Iterable[tuple[int, ...]]]]:
        tables = [self._table(index, state) for index, state in enumerate(states)]
        for char in min(tables, key=len):
            if all(char in table for table in tables):
                yield char, product(*(table[char] for table in tables))

    def _table(self, index: int, state: int) -> dict[str, list[int]]:
        known = self._known[index]
        if state not in known:
            reached = {char: self._wanted[index].step(state, char) for char in self._alphabet}
            known[state] = {char: _bits(states) for char, states in reached.items() if states}
        return known[state]


def _bits(states: int) -> list[int]:
    bits = []
    while states:
        bit = states & -states
        bits.append(bit)
        states ^= bit
    return bits


def _alphabet(automata: Iterable[Automaton]) -> list[str]:
    """One character for each interval that no state of any automaton divides."""
    edges = {0, ord("/"), ord("/") + 1, 0x110000}.union(*(each.edges for each in automata))
    found = (_example(low, high) for low, high in pairwise(sorted(edges)))
    return sorted((char for char in found if char), key=lambda c: (_NICE + "/").find(c) % 99)


@lru_cache(maxsize=4096)
def _example(low: int, high: int) -> str | None:
    """A character from `low` up to before `high` that a path may hold, a readable one if there is."""
    if low == ord("/"):
        return "/"
    nice = next((char for char in _NICE if low <= ord(char) < high), None)
    if nice:
        return nice
    near = map(chr, range(low, min(high, low + 4096)))  # no run of unusable characters is as long
    usable = [char for char in near if char not in "*?/" and not find_character_problem(char)]
    whole = (c for c in usable if c != "." and not c.isspace() and unicodedata.category(c)[0] != "M")
    return next(whole, usable[0] if usable else None)
