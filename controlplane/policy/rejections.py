"""What a reviewer has refused stays refused for the session, with whatever tool it is tried again.

It is no rule of its own: only a call that would ask a person is held against it, so a path that the scope
or a grant lets through by now is let through.
"""

from __future__ import annotations

from collections.abc import Iterable

from controlplane.policy.checks import Evaluation, EvaluationContext
from controlplane.policy.model import RejectedPath
from controlplane.policy.paths.canonical import fold_case
from controlplane.policy.paths.resolve import names_of


def find_rejection_message(paths: Iterable[str], findings: Evaluation, case: EvaluationContext) -> str | None:
    """What a reviewer said about the first of these paths that was refused; None when none was.

    A target counts under both its names, and with all below it where it is changed as a whole.
    """
    if not case.snapshot.rejected_paths:
        return None
    same = fold_case if case.policy.case_insensitive_paths else str
    asked = {same(path) for path in paths}
    touched = [*findings.targets, *findings.reads]
    named = {same(name): target.recursive for target in touched for name in names_of(target)}
    for target in touched:
        names = {same(name) for name in names_of(target)}
        if names & asked:
            asked |= names
    hits = (
        refused.message
        for refused in case.snapshot.rejected_paths
        for path in asked
        if _meets(refused, same(refused.path), path, whole=named.get(path, False))
    )
    return next(hits, None)


def _meets(refused: RejectedPath, at: str, path: str, *, whole: bool) -> bool:
    """Whether a path is the refused one, lies in it where all of it was refused, or holds it where all
    of the path is asked for."""
    return path == at or (refused.recursive and _is_below(path, at)) or (whole and _is_below(at, path))


def _is_below(path: str, folder: str) -> bool:
    return not folder or path.startswith(f"{folder}/")
