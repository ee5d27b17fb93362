"""Turn a rejection into a lesson: the reviewer's comment about the files of the request."""

from __future__ import annotations

from sessions.approvals.card.subjects import list_paths
from sessions.approvals.decision_input import Decider, DecisionInput
from sessions.errors import LessonNotPossibleError
from sessions.models import Approval
from traces.lessons.store import LessonSource, NewLesson, find_recorded_lesson, record_lesson


def validate_lesson(decision: DecisionInput) -> None:
    """Raise LessonNotPossibleError for an approval or a rejection without a comment."""
    if decision.lesson and decision.action != "reject":
        raise LessonNotPossibleError("Only a rejection can become a lesson.")
    if decision.lesson and not decision.comment.strip():
        raise LessonNotPossibleError("A lesson needs a `comment` that says what was wrong.")


def save_lesson(approval: Approval, decider: Decider, decision: DecisionInput) -> None:
    """Save the lesson inside the decision's transaction. It names the requested files; none for a scope."""
    if decision.lesson:
        record_lesson(approval.workspace_id, _build_lesson(approval), decider.actor)


def find_lesson_id(approval: Approval) -> str:
    """Return the id of the lesson that holds a rejection, else "". At most 1 query."""
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
