"""Intersect globs: which of many patterns share a path, and one such path as the witness."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from controlplane.policy.globs.automaton import TooComplexError, build_automaton, find_path
from controlplane.policy.globs.match import build_matcher
from controlplane.policy.globs.syntax import Alternative, Part, Segment, Wildcard, to_literal_name

_ANY_NAME: Segment = (Wildcard.STAR,)
_GLOBSTAR: Alternative = (Wildcard.GLOBSTAR,)


@dataclass(slots=True)
class _Node:
    """The alternatives that begin with the same segments, by their numbers."""

    head: str = ""  # literal start of its segment, reversed, see `_are_compatible`
    tail: str = ""
    children: dict[Part, _Node] = field(default_factory=dict)
    wildcard_children: list[_Node] = field(
        default_factory=list
    )  # the children under a segment with wildcards
    ending_here: list[int] = field(default_factory=list)
    ending_below: list[int] = field(default_factory=list)  # all that end here or further down


class PatternTree:
    """A tree of alternatives by segment, to find the few that may share a path with one of them."""

    def __init__(self, alternatives: Sequence[Alternative]) -> None:
        self._alternatives = alternatives
        self._tails = [_literal_tail(each[-1]) for each in alternatives]
        self._top = _Node()
        for number, alternative in enumerate(alternatives):
            self._insert(number, alternative)

    def list_partners(self, number: int) -> Iterator[int]:
        """Yield this and the later alternatives that may share a path with this one.

        Those left out share none: a segment before a `**` begins or ends with other text, or the last
        segment ends with other text.
        """
        alternative, tail = self._alternatives[number], self._tails[number]
        stack = [(self._top, 0)]
        while stack:
            node, depth = stack.pop()
            if depth == len(alternative):
                candidates = node.ending_here
            elif alternative[depth] is Wildcard.GLOBSTAR:
                candidates = node.ending_below
            else:
                globstar = node.children.get(Wildcard.GLOBSTAR)
                candidates = globstar.ending_below if globstar else []
                stack += [(child, depth + 1) for child in _list_next_nodes(node, alternative[depth])]
            for other in candidates:
                if other >= number and _are_compatible(tail, self._tails[other]):
                    yield other

    def _insert(self, number: int, alternative: Alternative) -> None:
        node = self._top
        node.ending_below.append(number)
        for part in alternative:
            child = node.children.get(part)
            if child is None:
                child = node.children[part] = _Node(_literal_head(part), _literal_tail(part))
                if to_literal_name(part) is None and part is not Wildcard.GLOBSTAR:
                    node.wildcard_children.append(child)
            node = child
            node.ending_below.append(number)
        node.ending_here.append(number)


def find_common_path(first: Alternative, second: Alternative) -> str | None:
    """Return a path that both match, or None. Where names are too complex to compare, errs towards a path.

    Where one ends in `**` and the other begins with it, a path of the one followed by a path of the other
    will do. Else both are walked segment by segment: a `**` may be passed over or take one more segment,
    and other segments must share a name.
    """
    for one, other in ((first, second), (second, first)):
        if len(one) > 1 and one[-1] is Wildcard.GLOBSTAR and other[0] is Wildcard.GLOBSTAR:
            start, rest = _find_example(one[:-1]), _find_example(other)
            return f"{start}/{rest}" if start and rest else None
    left, right = _spell_out_tail(first), _spell_out_tail(second)
    seen = set()
    stack = [(0, 0, "")]
    while stack:
        i, j, path = stack.pop()
        if (i, j) in seen:
            continue
        seen.add((i, j))
        if i == len(left) and j == len(right):
            return path[1:] if path[1] != "~" else _search_common_path(first, second)
        stack += _list_next_states(left[i : i + 1], right[j : j + 1], (i, j, path))
    return None


def _spell_out_tail(alternative: Alternative) -> Alternative:
    """Add the one segment that a `**` at the end requires."""
    return (*alternative, _ANY_NAME) if alternative[-1] is Wildcard.GLOBSTAR else alternative


def _list_next_states(
    left: Alternative, right: Alternative, state: tuple[int, int, str]
) -> Iterator[tuple[int, int, str]]:
    """Yield how a walk can go on from the next part of each pattern (none at its end), the best way last."""
    i, j, path = state
    left_name = _ANY_NAME if left == _GLOBSTAR else left[0] if left else None
    right_name = _ANY_NAME if right == _GLOBSTAR else right[0] if right else None
    if isinstance(left_name, tuple) and isinstance(right_name, tuple):
        name = _find_common_name(left_name, right_name)
        if name is not None:
            yield i + (left != _GLOBSTAR), j + (right != _GLOBSTAR), f"{path}/{name}"
    if left == _GLOBSTAR:
        yield i + 1, j, path
    if right == _GLOBSTAR:
        yield i, j + 1, path


@lru_cache(maxsize=32_768)
def _find_common_name(first: Segment, second: Segment) -> str | None:
    """Return a name that both segments match, or None."""
    names = [name for name in (to_literal_name(first), to_literal_name(second)) if name is not None]
    if names:
        fits = all(_matches_name(segment, names[0]) for segment in (first, second))
        return names[0] if fits and _can_exist(names[0]) else None
    if not _are_compatible(_literal_tail(first), _literal_tail(second)) or not _are_compatible(
        _literal_head(first), _literal_head(second)
    ):
        return None
    name = _search_common_path((first,), (second,), top=False)
    readable = f"x{name}"
    prefer_readable = (
        name is not None
        and name.startswith(".")
        and _matches_name(first, readable)
        and _matches_name(second, readable)
    )
    return readable if prefer_readable else name


def _search_common_path(first: Alternative, second: Alternative, *, top: bool = True) -> str | None:
    """Return a path that both match, or None; one that `first` matches where that is too complex."""
    try:
        return find_path([build_automaton((first,)), build_automaton((second,))], top=top)
    except TooComplexError:
        return find_path([build_automaton((first,))], top=top)


def _matches_name(segment: Segment, name: str) -> bool:
    known = to_literal_name(segment)
    return known == name if known is not None else build_matcher(((segment,),)).matches(name)


@lru_cache(maxsize=32_768)
def _find_example(alternative: Alternative) -> str | None:
    return find_path([build_automaton((alternative,))])


@lru_cache(maxsize=32_768)
def _can_exist(name: str) -> bool:
    return find_path([build_automaton((((name,),),))], top=False) is not None


def _list_next_nodes(node: _Node, part: Part) -> list[_Node]:
    """Return the children that may share a name with a segment; the caller handles a `**` among them."""
    same = node.children.get(part)
    if to_literal_name(part) is None:
        nodes = [child for key, child in node.children.items() if key is not Wildcard.GLOBSTAR]
    else:
        nodes = [*node.wildcard_children, same] if same else node.wildcard_children
    head, tail = _literal_head(part), _literal_tail(part)
    return [each for each in nodes if _are_compatible(tail, each.tail) and _are_compatible(head, each.head)]


def _literal_head(part: Part) -> str:
    """Return the literal text that every match of a segment begins with, reversed."""
    atom = part[0] if isinstance(part, tuple) else None
    return atom[::-1] if isinstance(atom, str) else ""


def _literal_tail(part: Part) -> str:
    """Return the literal text that every match of a segment ends with."""
    atom = part[-1] if isinstance(part, tuple) else None
    return atom if isinstance(atom, str) else ""


def _are_compatible(first: str, second: str) -> bool:
    """Return whether one name can have both ends."""
    return first.endswith(second) or second.endswith(first)
