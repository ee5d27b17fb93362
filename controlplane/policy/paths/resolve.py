"""From the agent's spelling of a path to a `Target`: canonical, and followed through links.

A path has two names: the lexical one, and the physical one where links lead. Both must hold in
every check, so that neither a link nor a `..` behind a link reaches another file than was judged.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from controlplane.policy.model import Reason, Target, ToolCall
from controlplane.policy.paths.canonical import CanonicalPath, InvalidPath, canonicalize, to_printable
from controlplane.policy.paths.filesystem import Filesystem, Location
from controlplane.policy.paths.raw_path import RawPath

_WHERE = {
    Location.OUTSIDE: (Reason.OUTSIDE_WORKSPACE, "leads out of the workspace through a link"),
    Location.LOOP: (Reason.INVALID_PATH, "leads through more links than can be followed"),
}


_MAX_LINKS = 10  # one after the other; a client tells of each where it ends

_ENDS = frozenset({"", "/"})  # what may stand behind a name in a path

# Agents come back to the same files again and again.
_REMEMBERED_LENGTH = 512


@dataclass(frozen=True, slots=True)
class UnresolvedPath:
    """A path that is no place in the workspace. `shown` is its spelling, made fit to be shown."""

    path: str
    error: InvalidPath


@dataclass(frozen=True, slots=True)
class ResolvedTarget:
    """A target with what the call does to it; `again` where the call comes to the same place once more."""

    raw_path: RawPath
    target: Target
    repeats: tuple[RawPath, ...] = ()

    @property
    def is_move_destination(self) -> bool:
        """Whether something is moved to this place."""
        return any(named.is_move_destination for named in (self.raw_path, *self.repeats))


def resolve_target(named: RawPath, call: ToolCall, world: Filesystem) -> ResolvedTarget | UnresolvedPath:
    """The target that a spelling means, or why it means none."""
    raw, writing = named.raw, named.op != "read"
    if isinstance(raw, str) and len(raw) <= _REMEMBERED_LENGTH:
        where = _remembered(raw, call.root, named.cwd, writing)
    else:
        where = canonicalize(raw, root=call.root, cwd=named.cwd, writing=writing)
    if isinstance(where, InvalidPath):
        return UnresolvedPath(
            to_printable(named.raw if isinstance(named.raw, str) else repr(named.raw)), where
        )
    led = world.resolve(where.dotted)
    if led.location is not Location.INSIDE:
        reason, text = _WHERE[led.location]
        return UnresolvedPath(where.path, InvalidPath(reason, f"The path [{where.path}] {text}."))
    physical = led.path
    if call.links and physical == where.path:
        told = _behind_links(where.path, call)
        if isinstance(told, InvalidPath):
            return UnresolvedPath(where.path, told)
        physical = told
    real = None if physical == where.path else physical
    return ResolvedTarget(named, Target(where.path, named.op, named.recursive, real))


def _behind_links(path: str, call: ToolCall) -> str | InvalidPath:
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
        if isinstance(led, InvalidPath):
            return InvalidPath(led.reason, f"The path [{path}] {_WHERE[Location.OUTSIDE][1]}.")
        if led == link:
            return at
        at = "/".join(filter(None, (led, at[len(link) + 1 :])))
    reason, text = _WHERE[Location.LOOP]
    return InvalidPath(reason, f"The path [{path}] {text}.")


@lru_cache(maxsize=256)
def _links(
    told: tuple[tuple[str, str], ...], root: str | None
) -> tuple[dict[str, str | InvalidPath], list[int]]:
    """Canonical name to canonical place, and the lengths of the names, the longest first; what has no name
    in the workspace is no link in it."""
    table: dict[str, str | InvalidPath] = {}
    for name, place in told:
        link = canonicalize(name, root=root, cwd=None, writing=False)
        led = canonicalize(place, root=root, cwd=None, writing=False)
        if isinstance(link, CanonicalPath) and link.path:
            table[link.path] = led.path if isinstance(led, CanonicalPath) else led
    return table, sorted({len(name) for name in table}, reverse=True)


@lru_cache(maxsize=8192)
def _remembered(raw: str, root: str | None, cwd: str | None, writing: bool) -> CanonicalPath | InvalidPath:
    return canonicalize(raw, root=root, cwd=cwd, writing=writing)


def resolve_targets(
    names: tuple[RawPath, ...], call: ToolCall, world: Filesystem
) -> tuple[tuple[ResolvedTarget, ...], tuple[UnresolvedPath, ...]]:
    """All of them, each place once for each thing that is done there."""
    if not names:
        return (), ()
    placed: dict[Target, ResolvedTarget] = {}
    misplaced: list[UnresolvedPath] = []
    for named in names:
        found = resolve_target(named, call, world)
        if isinstance(found, UnresolvedPath):
            misplaced.append(found)
        elif (before := placed.get(found.target)) is not None:
            placed[found.target] = replace(before, repeats=(*before.repeats, named))
        else:
            placed[found.target] = found
    return tuple(placed.values()), tuple(misplaced)


def names_of(target: Target) -> tuple[str, ...]:
    """Both names of a target, the lexical one first."""
    return (target.path,) if target.physical is None else (target.path, target.physical)
