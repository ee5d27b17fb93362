"""Paths that a reviewer has rejected stay rejected for the session, with whatever tool the agent retries.

This is no rule of its own: only a call that would ask a person is compared with the rejections, so a path
that the scope or a grant allows by now is allowed.
"""

from __future__ import annotations

from collections.abc import Iterable

from controlplane.policy.evaluation import Evaluation, EvaluationContext
from controlplane.policy.model import RejectedPath
from controlplane.policy.paths.canonical import fold_case


def find_rejection_message(
    paths: Iterable[str], evaluation: Evaluation, context: EvaluationContext
) -> str | None:
    """Return what a reviewer said about the first of these paths that was rejected; None when none was.

    A target counts under both its names, and with all below it where it is changed with its content.
    """
    if not context.snapshot.rejected_paths:
        return None
    normalize = fold_case if context.policy.case_insensitive_paths else str
    requested = {normalize(path) for path in paths}
    targets = [*evaluation.targets, *evaluation.reads]
    recursive = {normalize(name): target.recursive for target in targets for name in target.names}
    for target in targets:
        names = {normalize(name) for name in target.names}
        if names & requested:
            requested |= names
    messages = (
        rejected.message
        for rejected in context.snapshot.rejected_paths
        for path in requested
        if _is_rejected(path, rejected, normalize(rejected.path), recursive=recursive.get(path, False))
    )
    return next(messages, None)


def _is_rejected(path: str, rejected: RejectedPath, rejected_path: str, *, recursive: bool) -> bool:
    """Return whether a path is the rejected one, lies below it where all of it was rejected, or holds it
    where the path is requested with its content."""
    return (
        path == rejected_path
        or (rejected.recursive and _is_below(path, rejected_path))
        or (recursive and _is_below(rejected_path, path))
    )


def _is_below(path: str, directory: str) -> bool:
    return not directory or path.startswith(f"{directory}/")
