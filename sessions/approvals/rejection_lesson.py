"""A rejection that the reviewer wants remembered: their words become a lesson about what was asked for."""

from __future__ import annotations

from sessions.approvals.card.subjects import list_paths
from sessions.approvals.decision_input import Decider, DecisionInput
from sessions.errors import LessonNotPossibleError
from sessions.models import Approval
from traces.lessons.store import LessonSource, NewLesson, find_recorded_lesson, record_lesson


def validate_lesson(choice: DecisionInput) -> None:
    """Raise LessonNotPossibleError where there is nothing to remember."""
    if choice.lesson and choice.action != "reject":
        raise LessonNotPossibleError("Only a rejection can become a lesson.")
    if choice.lesson and not choice.comment.strip():
        raise LessonNotPossibleError("A lesson needs a `comment` that says what was wrong.")


def save_lesson(approval: Approval, decider: Decider, choice: DecisionInput) -> None:
    """Inside the decision's transaction. It names all files that were asked for, for a scope none."""
    if choice.lesson:
        record_lesson(approval.workspace_id, _build_lesson(approval), decider.actor)


def find_lesson_id(approval: Approval) -> str:
    """The id of the lesson that a rejection was kept as, known before or not; else "". At most 1 query."""
    is_rejected = approval.status == Approval.Status.REJECTED and bool(approval.comment)
    return find_recorded_lesson(approval.workspace_id, _build_lesson(approval)) if is_rejected else ""


def _build_lesson(approval: Approval) -> NewLesson:
    file, *more = list_paths(approval) or [""]
    return NewLesson(
        file=file,
        problems=approval.comment,
        session_id=approval.session.session_id,
        intent_id=approval.intent_id,
        source=LessonSource.APPROVAL,
        source_id=approval.public_id,
        by=approval.decider,
        more_files=tuple(more),
    )
