"""A rejection that the reviewer wants remembered: their words become a lesson about what was asked for."""

from __future__ import annotations

from controlplane.api.errors import ApiError
from sessions.approvals.choices import Choice, Decider
from sessions.approvals.subjects import paths_of
from sessions.models import Approval
from traces.lessons import NewLesson, Source, record_lesson


def check_lesson(choice: Choice) -> None:
    """Raises `ApiError` 400 where there is nothing to remember."""
    if choice.lesson and choice.action != "reject":
        raise ApiError(400, "INVALID_INPUT", "Only a rejection becomes a lesson.")
    if choice.lesson and not choice.comment.strip():
        raise ApiError(400, "INVALID_INPUT", "A lesson needs your words: say in `comment` what was wrong.")


def keep_lesson(approval: Approval, decider: Decider, choice: Choice) -> None:
    """Inside the decision's transaction. It names all files that were asked for, for a scope none."""
    if not choice.lesson:
        return
    file, *more = paths_of(approval) or [""]
    lesson = NewLesson(
        file=file,
        problems=choice.comment,
        session_id=approval.session.session_id,
        intent_id=approval.intent_id,
        source=Source.APPROVAL,
        source_id=approval.public_id,
        by=decider.name,
        more_files=tuple(more),
    )
    record_lesson(approval.workspace_id, lesson, decider.actor)
