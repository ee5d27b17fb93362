"""Paths outside the workspace: which of them policy opens as places."""

from __future__ import annotations

from collections.abc import Iterable

from controlplane.policy.evaluation import EvaluationContext
from controlplane.policy.model import Reason
from controlplane.policy.paths.canonical import to_absolute
from controlplane.policy.paths.raw_path import RawPath
from controlplane.policy.paths.resolve import UnresolvedPath, resolve_targets
from controlplane.policy.rules.places import compile_places, to_place_path

STAYS_OUTSIDE = "the shell stays outside of the workspace, where a later command would run"


def list_left_in(directories: tuple[RawPath, ...], context: EvaluationContext) -> list[str]:
    """Return where a command may leave its shell outside of the workspace, and policy opens no place.

    A client that keeps one shell would run the next command there, and that one may not say so.
    """
    if not directories or context.policy.reads_outside_workspace == "allow":
        return []
    _, unresolved = resolve_targets(directories, context.call, context.filesystem)
    return [each.path for each in list_refused(unresolved, context, writing=False)]


def list_refused(
    unresolved: Iterable[UnresolvedPath], context: EvaluationContext, *, writing: bool
) -> list[UnresolvedPath]:
    """Return the paths that lie in no place which policy opens for this use."""
    if not context.policy.places:
        return list(unresolved)
    return [each for each in unresolved if not _is_in_place(each, context, writing=writing)]


def _is_in_place(path: UnresolvedPath, context: EvaluationContext, *, writing: bool) -> bool:
    raw_path = path.raw_path
    if path.error.reason is not Reason.OUTSIDE_WORKSPACE or path.leaves_by_link:
        return False
    absolute = to_absolute(raw_path.raw, root=context.call.root, cwd=raw_path.cwd)
    if absolute is None:
        return False
    return _permits(absolute, context, writing=writing, recursive=raw_path.recursive)


def _permits(absolute: str, context: EvaluationContext, *, writing: bool, recursive: bool) -> bool:
    """Return whether a path may be used under its name, and where links of this machine lead."""
    places = compile_places(context.policy.places)
    names = {absolute, context.filesystem.resolve_outside(absolute) or absolute}
    return all(
        places.permits(to_place_path(name), writing=writing, recursive=recursive)
        and context.rules.find_ignore_line(name.lstrip("~/"), is_dir=False) is None
        and not (writing and context.rules.protects_outside(name.lstrip("~/")))
        for name in names
    )
