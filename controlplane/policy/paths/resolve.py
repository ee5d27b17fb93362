"""From the agent's spelling of a path to a `Target`: canonical, and followed through links.

A path has two names: the lexical one, and the physical one where links lead. Both must hold in
every check, so that neither a link nor a `..` behind a link reaches another file than was judged.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from controlplane.policy.model import Reason, Target, ToolCall
from controlplane.policy.paths.canonical import Canonical, Refusal, canonical, shown
from controlplane.policy.paths.filesystem import Where, World
from controlplane.policy.paths.raw_path import Named

_WHERE = {
    Where.OUTSIDE: (Reason.OUTSIDE_WORKSPACE, "leads out of the workspace through a link"),
    Where.LOOP: (Reason.INVALID_PATH, "leads through more links than can be followed"),
}


_MAX_LINKS = 10  # one after the other; a client tells of each where it ends

_ENDS = frozenset({"", "/"})  # what may stand behind a name in a path

# Agents come back to the same files again and again.
_REMEMBERED_LENGTH = 512


@dataclass(frozen=True, slots=True)
class Misplaced:
    """A path that is no place in the workspace. `shown` is its spelling, made fit to be shown."""

    shown: str
    refusal: Refusal


@dataclass(frozen=True, slots=True)
class Placed:
    """A target with what the call does to it; `again` where the call comes to the same place once more."""

    named: Named
    target: Target
    again: tuple[Named, ...] = ()

    @property
    def arrives(self) -> bool:
        """Whether something is moved to this place."""
        return any(named.arrives for named in (self.named, *self.again))


def place(named: Named, call: ToolCall, world: World) -> Placed | Misplaced:
    """The target that a spelling means, or why it means none."""
    raw, writing = named.raw, named.op != "read"
    if isinstance(raw, str) and len(raw) <= _REMEMBERED_LENGTH:
        where = _remembered(raw, call.root, named.cwd, writing)
    else:
        where = canonical(raw, root=call.root, cwd=named.cwd, writing=writing)
    if isinstance(where, Refusal):
        return Misplaced(shown(named.raw if isinstance(named.raw, str) else repr(named.raw)), where)
    led = world.resolve(where.dotted)
    if led.where is not Where.INSIDE:
        reason, text = _WHERE[led.where]
        return Misplaced(where.path, Refusal(reason, f"The path [{where.path}] {text}."))
    physical = led.path
    if call.links and physical == where.path:
        told = _behind_links(where.path, call)
        if isinstance(told, Refusal):
            return Misplaced(where.path, told)
        physical = told
    real = None if physical == where.path else physical
    return Placed(named, Target(where.path, named.op, named.recursive, real))


def _behind_links(path: str, call: ToolCall) -> str | Refusal:
    """Where a path leads by what the caller tells of its links. That can only make more names count, so a
    hint that lies opens nothing."""
    table, lengths = _links(tuple(call.links.items()), call.root)
    at = path
    for _ in range(_MAX_LINKS):
        parents = (at[:end] for end in lengths if at[end : end + 1] in _ENDS)
        link = next((name for name in parents if name in table), None)
        if link is None:
            return at
        led = table[link]
        if isinstance(led, Refusal):
            return Refusal(led.reason, f"The path [{path}] {_WHERE[Where.OUTSIDE][1]}.")
        if led == link:
            return at
        at = "/".join(filter(None, (led, at[len(link) + 1 :])))
    reason, text = _WHERE[Where.LOOP]
    return Refusal(reason, f"The path [{path}] {text}.")


@lru_cache(maxsize=256)
def _links(told: tuple[tuple[str, str], ...], root: str | None) -> tuple[dict[str, str | Refusal], list[int]]:
    """Canonical name to canonical place, and the lengths of the names, the longest first; what has no name
    in the workspace is no link in it."""
    table: dict[str, str | Refusal] = {}
    for name, place in told:
        link = canonical(name, root=root, cwd=None, writing=False)
        led = canonical(place, root=root, cwd=None, writing=False)
        if isinstance(link, Canonical) and link.path:
            table[link.path] = led.path if isinstance(led, Canonical) else led
    return table, sorted({len(name) for name in table}, reverse=True)


@lru_cache(maxsize=8192)
def _remembered(raw: str, root: str | None, cwd: str | None, writing: bool) -> Canonical | Refusal:
    return canonical(raw, root=root, cwd=cwd, writing=writing)


def place_all(
    names: tuple[Named, ...], call: ToolCall, world: World
) -> tuple[tuple[Placed, ...], tuple[Misplaced, ...]]:
    """All of them, each place once for each thing that is done there."""
    if not names:
        return (), ()
    placed: dict[Target, Placed] = {}
    misplaced: list[Misplaced] = []
    for named in names:
        found = place(named, call, world)
        if isinstance(found, Misplaced):
            misplaced.append(found)
        elif (before := placed.get(found.target)) is not None:
            placed[found.target] = replace(before, again=(*before.again, named))
        else:
            placed[found.target] = found
    return tuple(placed.values()), tuple(misplaced)


def names_of(target: Target) -> tuple[str, ...]:
    """Both names of a target, the lexical one first."""
    return (target.path,) if target.physical is None else (target.path, target.physical)
