"""Which of many patterns share a path, and a path that they share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from controlplane.policy.globs.automaton import TooComplexError, build_automaton, find_path
from controlplane.policy.globs.match import build_matcher
from controlplane.policy.globs.syntax import Alternative, Part, Segment, Wildcard, to_literal_name

_ANY_NAME: Segment = (Wildcard.STAR,)
_SPAN: Alternative = (Wildcard.GLOBSTAR,)


@dataclass(slots=True)
class _Node:
    """The alternatives that begin with the same segments, by their numbers."""

    head: str = ""  # of its segment, see `_alike`; the head is kept backwards
    tail: str = ""
    children: dict[Part, _Node] = field(default_factory=dict)
    wild: list[_Node] = field(default_factory=list)  # the children under a segment with wildcards
    ending: list[int] = field(default_factory=list)
    below: list[int] = field(default_factory=list)  # all that end here or further down


class PatternTree:
    """A tree of alternatives by segment, to find the few that one of them can meet."""

    def __init__(self, alternatives: Sequence[Alternative]) -> None:
        self._alternatives = alternatives
        self._tails = [_tail(each[-1]) for each in alternatives]
        self._top = _Node()
        for number, alternative in enumerate(alternatives):
            self._insert(number, alternative)

    def partners(self, number: int) -> Iterator[int]:
        """Who of this and the later alternatives may share a path with this one.

        Whoever is left out shares none: a segment before a `**` begins or ends with other text, or
        the last segment ends with other text.
        """
        alternative, tail = self._alternatives[number], self._tails[number]
        waiting = [(self._top, 0)]
        while waiting:
            node, at = waiting.pop()
            if at == len(alternative):
                found = node.ending
            elif alternative[at] is Wildcard.GLOBSTAR:
                found = node.below
            else:
                spanning = node.children.get(Wildcard.GLOBSTAR)
                found = spanning.below if spanning else []
                waiting += [(child, at + 1) for child in _next_nodes(node, alternative[at])]
            for other in found:
                if other >= number and _alike(tail, self._tails[other]):
                    yield other

    def _insert(self, number: int, alternative: Alternative) -> None:
        node = self._top
        node.below.append(number)
        for part in alternative:
            child = node.children.get(part)
            if child is None:
                child = node.children[part] = _Node(_head(part), _tail(part))
                if to_literal_name(part) is None and part is not Wildcard.GLOBSTAR:
                    node.wild.append(child)
            node = child
            node.below.append(number)
        node.ending.append(number)


def find_common_path(one: Alternative, other: Alternative) -> str | None:
    """A path that both match; None when there is none. Errs towards one where names are too tangled to tell.

    Where one ends in `**` and the other begins with it, they meet one behind the other. Else both
    are walked segment by segment: a `**` may be passed over or take one more segment, whatever
    else stands there must share a name.
    """
    for first, second in ((one, other), (other, one)):
        if len(first) > 1 and first[-1] is Wildcard.GLOBSTAR and second[0] is Wildcard.GLOBSTAR:
            start, rest = _example(first[:-1]), _example(second)
            return f"{start}/{rest}" if start and rest else None
    ours, theirs = _spelled(one), _spelled(other)
    seen = set()
    waiting = [(0, 0, "")]
    while waiting:
        i, j, path = waiting.pop()
        if (i, j) in seen:
            continue
        seen.add((i, j))
        if i == len(ours) and j == len(theirs):
            return path[1:] if path[1] != "~" else _common(one, other)
        waiting += _steps(ours[i : i + 1], theirs[j : j + 1], (i, j, path))
    return None


def _spelled(alternative: Alternative) -> Alternative:
    """With the one segment that a `**` at the end asks for."""
    return (*alternative, _ANY_NAME) if alternative[-1] is Wildcard.GLOBSTAR else alternative


def _steps(mine: Alternative, yours: Alternative, at: tuple[int, int, str]) -> Iterator[tuple[int, int, str]]:
    """How two patterns can go on from their next parts (none at the end), the best way last."""
    i, j, path = at
    my_name = _ANY_NAME if mine == _SPAN else mine[0] if mine else None
    your_name = _ANY_NAME if yours == _SPAN else yours[0] if yours else None
    if isinstance(my_name, tuple) and isinstance(your_name, tuple):
        name = _shared_name(my_name, your_name)
        if name is not None:
            yield i + (mine != _SPAN), j + (yours != _SPAN), f"{path}/{name}"
    if mine == _SPAN:
        yield i + 1, j, path
    if yours == _SPAN:
        yield i, j + 1, path


@lru_cache(maxsize=32_768)
def _shared_name(one: Segment, other: Segment) -> str | None:
    """A name that both segments match."""
    names = [name for name in (to_literal_name(one), to_literal_name(other)) if name is not None]
    if names:
        fits = all(_fits(segment, names[0]) for segment in (one, other))
        return names[0] if fits and _can_exist(names[0]) else None
    if not _alike(_tail(one), _tail(other)) or not _alike(_head(one), _head(other)):
        return None
    name = _common((one,), (other,), top=False)
    readable = f"x{name}"
    wanted = name is not None and name.startswith(".") and _fits(one, readable) and _fits(other, readable)
    return readable if wanted else name


def _common(one: Alternative, other: Alternative, *, top: bool = True) -> str | None:
    """A path that both match; one that `one` matches when that is too hard to tell."""
    try:
        return find_path([build_automaton((one,)), build_automaton((other,))], top=top)
    except TooComplexError:
        return find_path([build_automaton((one,))], top=top)


def _fits(segment: Segment, name: str) -> bool:
    known = to_literal_name(segment)
    return known == name if known is not None else build_matcher(((segment,),)).matches(name)


@lru_cache(maxsize=32_768)
def _example(alternative: Alternative) -> str | None:
    return find_path([build_automaton((alternative,))])


@lru_cache(maxsize=32_768)
def _can_exist(name: str) -> bool:
    return find_path([build_automaton((((name,),),))], top=False) is not None


def _next_nodes(node: _Node, part: Part) -> list[_Node]:
    """The children that a segment may share; a `**` among them is taken care of elsewhere."""
    same = node.children.get(part)
    if to_literal_name(part) is None:
        nodes = [child for key, child in node.children.items() if key is not Wildcard.GLOBSTAR]
    else:
        nodes = [*node.wild, same] if same else node.wild
    head, tail = _head(part), _tail(part)
    return [each for each in nodes if _alike(tail, each.tail) and _alike(head, each.head)]


def _head(part: Part) -> str:
    """The literal text that every match of a segment begins with, backwards."""
    atom = part[0] if isinstance(part, tuple) else None
    return atom[::-1] if isinstance(atom, str) else ""


def _tail(part: Part) -> str:
    """The literal text that every match of a segment ends with."""
    atom = part[-1] if isinstance(part, tuple) else None
    return atom if isinstance(atom, str) else ""


def _alike(end: str, other: str) -> bool:
    """Whether one name can have both ends."""
    return end.endswith(other) or other.endswith(end)
