"""Decide inclusion and intersection of globs exactly, with a path as the witness.

Patterns become one nondeterministic automaton that reads a path character by character; a set of its
states is an integer with a bit for each. `find_path` searches for a path that every required automaton
accepts and the avoided one does not, over the characters that they distinguish, among the paths that
can exist (see `paths.canonical`). The search is breadth first, so the witness is a shortest one. Where
two searches meet with different states of the avoided automaton, only the smaller set is followed (an
antichain): that keeps the search small where a product of deterministic automata would explode.
"""

from __future__ import annotations

import unicodedata
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise, product

from controlplane.policy.globs.syntax import Alternative, CharClass, Wildcard
from controlplane.policy.paths.canonical import find_character_problem

MAX_STEPS = 50_000  # of one search; bounds its time to about a second
_Position = tuple[int, tuple[int, ...]]  # in a path (see below), and the state of each required automaton

_AT_START, _AT_SEGMENT, _MAY_END, _MAY_NOT_END = range(4)  # of a path, of a segment; in a segment
_READABLE = "xabcdefghijklmnopqrstuvwyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"


class TooComplexError(Exception):
    """The search needs more than MAX_STEPS."""


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
        self._states_by_char: dict[str, int] = {}
        for alternative in alternatives:
            self._add(alternative)
        self.start = self._close(self.start)

    def _add(self, alternative: Alternative) -> None:
        self.start |= 1 << self._size
        for index, part in enumerate(alternative):
            last = index == len(alternative) - 1
            if isinstance(part, Wildcard):
                self._add_globstar(is_last=last)
                continue
            for atom in part if last else (*part, "/"):
                for each in atom if isinstance(atom, str) else (atom,):
                    self._add_atom(each)
        self.accept |= self._new_state()

    def _new_state(self) -> int:
        self._size += 1
        return 1 << (self._size - 1)

    def _add_globstar(self, *, is_last: bool) -> None:
        if is_last:
            self._tail |= self._new_state()
        else:
            self._between |= self._new_state()
            self._inside |= self._new_state()

    def _add_atom(self, atom: str | CharClass | Wildcard) -> None:
        state = self._new_state()
        if isinstance(atom, str):
            self._literals[atom] = self._literals.get(atom, 0) | state
            self.edges |= {ord(atom), ord(atom) + 1}
        elif isinstance(atom, CharClass):
            self._classes.append((atom, state))
            self.edges |= {edge for low, high in atom.ranges for edge in (low, high + 1)}
        else:
            self._star |= state

    def _close(self, states: int) -> int:
        """Return the states and those that can be reached from them without reading (epsilon closure)."""
        while True:
            more = states | (states & (self._star | self._tail)) << 1 | (states & self._between) << 2
            if more == states:
                return states
            states = more

    def step(self, states: int, char: str) -> int:
        """Return the states after reading one character."""
        readable = self._states_by_char.get(char)
        if readable is None:
            matching = (state for class_, state in self._classes if char in class_)
            readable = self._states_by_char[char] = self._literals.get(char, 0) | sum(matching)
        if char == "/":
            return self._close((states & readable) << 1 | (states & self._inside) >> 1 | states & self._tail)
        moved = (states & (readable | self._between)) << 1
        return self._close(moved | states & (self._star | self._inside | self._tail))


NOTHING = Automaton(())


@lru_cache(maxsize=4096)
def build_automaton(alternatives: tuple[Alternative, ...]) -> Automaton:
    return Automaton(alternatives)


def find_path(required: Sequence[Automaton], avoided: Automaton = NOTHING, *, top: bool = True) -> str | None:
    """Return a shortest path that all `required` accept and `avoided` does not, or None.

    Not `top`: the rest of a path below some directory, where a name may begin with `~`.

    Raise TooComplexError when the search was given up.
    """
    search = _Search(required, _build_alphabet([*required, avoided]))
    seen: dict[_Position, list[int]] = {}
    queue: deque[tuple[int, tuple[int, ...], int, str]] = deque()
    for states in product(*(_split_bits(each.start) for each in required)):
        queue.append((_AT_START if top else _AT_SEGMENT, states, avoided.start, ""))
    for _ in range(MAX_STEPS):
        if not queue:
            return None
        position, states, avoided_states, path = queue.popleft()
        if position == _MAY_END and search.accepts(states) and not avoided_states & avoided.accept:
            return path
        for char, after in search.moves(states):
            next_position = _advance(position, char)
            if next_position is not None:
                next_avoided = avoided.step(avoided_states, char)
                queue.extend(
                    (next_position, s, next_avoided, path + char)
                    for s in after
                    if _is_new(seen, (next_position, s), next_avoided)
                )
    raise TooComplexError


def _is_new(seen: dict[_Position, list[int]], key: _Position, avoided_states: int) -> bool:
    """Return whether no search came here with a subset of these avoided states; if so, remember them."""
    known = seen.setdefault(key, [])
    if any(not smaller & ~avoided_states for smaller in known):
        return False
    known[:] = [each for each in known if avoided_states & ~each]
    known.append(avoided_states)
    return True


def _advance(position: int, char: str) -> int | None:
    """Return the position after a character of a path that can exist: names are not empty and end in no dot
    or blank. None where no such path goes on like this."""
    if char == "/":
        return _AT_SEGMENT if position == _MAY_END else None
    if position == _AT_START and char == "~":
        return None
    return _MAY_NOT_END if char == "." or char.isspace() else _MAY_END


class _Search:
    """The moves of single states of the required automata, cached for one search."""

    def __init__(self, required: Sequence[Automaton], alphabet: list[str]) -> None:
        self._required = required
        self._alphabet = alphabet
        self._tables: list[dict[int, dict[str, list[int]]]] = [{} for _ in required]

    def accepts(self, states: tuple[int, ...]) -> bool:
        return all(each.accept & state for each, state in zip(self._required, states, strict=True))

    def moves(self, states: tuple[int, ...]) -> Iterator[tuple[str, Iterable[tuple[int, ...]]]]:
        tables = [self._table(index, state) for index, state in enumerate(states)]
        for char in min(tables, key=len):
            if all(char in table for table in tables):
                yield char, product(*(table[char] for table in tables))

    def _table(self, index: int, state: int) -> dict[str, list[int]]:
        known = self._tables[index]
        if state not in known:
            reached = {char: self._required[index].step(state, char) for char in self._alphabet}
            known[state] = {char: _split_bits(states) for char, states in reached.items() if states}
        return known[state]


def _split_bits(states: int) -> list[int]:
    bits = []
    while states:
        bit = states & -states
        bits.append(bit)
        states ^= bit
    return bits


def _build_alphabet(automata: Iterable[Automaton]) -> list[str]:
    """Return one character for each interval that no state of any automaton divides."""
    edges = {0, ord("/"), ord("/") + 1, 0x110000}.union(*(each.edges for each in automata))
    characters = (_choose_character(low, high) for low, high in pairwise(sorted(edges)))
    return sorted((char for char in characters if char), key=lambda c: (_READABLE + "/").find(c) % 99)


@lru_cache(maxsize=4096)
def _choose_character(low: int, high: int) -> str | None:
    """Return a character from `low` up to before `high` that a path may hold, a readable one if possible."""
    if low == ord("/"):
        return "/"
    readable = next((char for char in _READABLE if low <= ord(char) < high), None)
    if readable:
        return readable
    candidates = map(chr, range(low, min(high, low + 4096)))  # no run of unusable characters is as long
    usable = [char for char in candidates if char not in "*?/" and not find_character_problem(char)]
    preferred = (c for c in usable if c != "." and not c.isspace() and unicodedata.category(c)[0] != "M")
    return next(preferred, usable[0] if usable else None)
