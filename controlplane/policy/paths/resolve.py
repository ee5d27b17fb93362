"""Resolve raw paths to targets: canonical, and followed through links.

A path has two names: the lexical one, and the physical one where links lead. Both must pass every
check, so that neither a link nor a `..` behind a link reaches another file than was checked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from controlplane.policy.model import Reason, Target, ToolCall
from controlplane.policy.paths.canonical import CanonicalPath, InvalidPath, canonicalize, to_printable
from controlplane.policy.paths.filesystem import Filesystem, Location
from controlplane.policy.paths.raw_path import RawPath

_LINK_ERRORS = {
    Location.OUTSIDE: (Reason.OUTSIDE_WORKSPACE, "leads out of the workspace through a link"),
    Location.LOOP: (Reason.INVALID_PATH, "leads through more links than can be followed"),
}

# Of links that the client reports, which says of each where it ends: a longer chain is a loop.
_MAX_LINKS = 10

_NAME_ENDS = frozenset({"", "/"})  # what may follow a name in a path

# Agents come back to the same files again and again. Longer paths are not cached: memory.
_MAX_CACHED_LENGTH = 512


@dataclass(frozen=True, slots=True)
class UnresolvedPath:
    """A path that names nothing in the workspace. `path` is its spelling, made printable."""

    path: str
    error: InvalidPath
    raw_path: RawPath
    leaves_by_link: bool = False


@dataclass(frozen=True, slots=True)
class ResolvedTarget:
    """A target with what the call does to it; `repeats` where the call names the same target again."""

    raw_path: RawPath
    target: Target
    repeats: tuple[RawPath, ...] = ()

    @property
    def is_move_destination(self) -> bool:
        return any(raw_path.is_move_destination for raw_path in (self.raw_path, *self.repeats))


def resolve_target(
    raw_path: RawPath, call: ToolCall, filesystem: Filesystem
) -> ResolvedTarget | UnresolvedPath:
    """Return the target that a raw path means, or why it means none."""
    raw, writing = raw_path.raw, raw_path.op != "read"
    if isinstance(raw, str) and len(raw) <= _MAX_CACHED_LENGTH:
        canonical = _canonicalize_cached(raw, call.root, raw_path.cwd, writing)
    else:
        canonical = canonicalize(raw, root=call.root, cwd=raw_path.cwd, writing=writing)
    if isinstance(canonical, InvalidPath):
        return UnresolvedPath(to_printable(raw if isinstance(raw, str) else repr(raw)), canonical, raw_path)
    # With its `..`: behind a link, `link/..` is the parent of the link's destination.
    resolved = filesystem.resolve(canonical.dotted)
    if resolved.location is not Location.INSIDE:
        reason, text = _LINK_ERRORS[resolved.location]
        error = InvalidPath(reason, f"The path [{canonical.path}] {text}.")
        return UnresolvedPath(canonical.path, error, raw_path, leaves_by_link=True)
    physical = resolved.path
    if call.links and physical == canonical.path:
        destination = _follow_reported_links(canonical.path, call)
        if isinstance(destination, InvalidPath):
            return UnresolvedPath(canonical.path, destination, raw_path, leaves_by_link=True)
        physical = destination
    physical_path = None if physical == canonical.path else physical
    return ResolvedTarget(raw_path, Target(canonical.path, raw_path.op, raw_path.recursive, physical_path))


def _follow_reported_links(path: str, call: ToolCall) -> str | InvalidPath:
    """Return where a path leads by the links that the client reports.

    A report can only add a name that must pass as well, so a false one opens nothing.
    """
    destinations, name_lengths = _index_links(tuple(call.links.items()), call.root)
    current = path
    for _ in range(_MAX_LINKS):
        parents = (current[:length] for length in name_lengths if current[length : length + 1] in _NAME_ENDS)
        link = next((name for name in parents if name in destinations), None)
        if link is None:
            return current
        destination = destinations[link]
        if isinstance(destination, InvalidPath):
            return InvalidPath(destination.reason, f"The path [{path}] {_LINK_ERRORS[Location.OUTSIDE][1]}.")
        if destination == link:
            return current
        current = "/".join(filter(None, (destination, current[len(link) + 1 :])))
    reason, text = _LINK_ERRORS[Location.LOOP]
    return InvalidPath(reason, f"The path [{path}] {text}.")


@lru_cache(maxsize=256)
def _index_links(
    links: tuple[tuple[str, str], ...], root: str | None
) -> tuple[dict[str, str | InvalidPath], list[int]]:
    """Return canonical link names with their destinations, and the lengths of the names, longest first.

    A name outside of the workspace is no link in it.
    """
    destinations: dict[str, str | InvalidPath] = {}
    for name, destination in links:
        link = canonicalize(name, root=root, cwd=None, writing=False)
        canonical = canonicalize(destination, root=root, cwd=None, writing=False)
        if isinstance(link, CanonicalPath) and link.path:
            destinations[link.path] = canonical.path if isinstance(canonical, CanonicalPath) else canonical
    return destinations, sorted({len(name) for name in destinations}, reverse=True)


@lru_cache(maxsize=8192)
def _canonicalize_cached(
    raw: str, root: str | None, cwd: str | None, writing: bool
) -> CanonicalPath | InvalidPath:
    return canonicalize(raw, root=root, cwd=cwd, writing=writing)


def resolve_targets(
    raw_paths: tuple[RawPath, ...], call: ToolCall, filesystem: Filesystem
) -> tuple[tuple[ResolvedTarget, ...], tuple[UnresolvedPath, ...]]:
    """Resolve all of them; each target comes once for each operation on it."""
    if not raw_paths:
        return (), ()
    resolved: dict[Target, ResolvedTarget] = {}
    unresolved: list[UnresolvedPath] = []
    for raw_path in raw_paths:
        result = resolve_target(raw_path, call, filesystem)
        if isinstance(result, UnresolvedPath):
            unresolved.append(result)
        elif (previous := resolved.get(result.target)) is not None:
            resolved[result.target] = replace(previous, repeats=(*previous.repeats, raw_path))
        else:
            resolved[result.target] = result
    return tuple(resolved.values()), tuple(unresolved)
