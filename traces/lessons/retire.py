"""Retire lessons and restore them. Changes are numbered, so that of two concurrent ones the first wins."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction

from controlplane.shared.errors import InvalidInputError, NotFoundError
from controlplane.shared.masking import to_storable
from traces.errors import AlreadyRetiredError, NotRetiredError
from traces.ledger.append import NewEntry, append
from traces.lessons.store import (
    RETIREMENT_OUTCOMES,
    Lesson,
    build_retirement_key,
    filter_lessons,
    load_history,
    load_retirements,
)
from traces.models import EntryKind, LedgerEntry

MAX_REASON_LENGTH = 500


@dataclass(frozen=True, slots=True)
class RetirementRequest:
    """A request to retire or restore a lesson. `by` is the displayed name, `actor` that of the ledger."""

    lesson_id: str
    reason: str
    by: str
    actor: str


def retire(workspace_id: int, request: RetirementRequest) -> Lesson:
    """Take a lesson out of prompts and `AGENT.md`.

    Raise `InvalidInputError` without a reason, `NotFoundError`, or `AlreadyRetiredError`.
    """
    if not request.reason.strip():
        raise InvalidInputError("Give a reason for retiring this lesson.")
    return _record_turn(workspace_id, request, retired=True)


def restore(workspace_id: int, request: RetirementRequest) -> Lesson:
    """Take a retirement back. The reason is optional. Raise `NotFoundError` or `NotRetiredError`."""
    return _record_turn(workspace_id, request, retired=False)


def _record_turn(workspace_id: int, request: RetirementRequest, *, retired: bool) -> Lesson:
    with transaction.atomic():
        entry = filter_lessons(workspace_id).filter(entry_id=request.lesson_id).first()
        if entry is None:
            raise NotFoundError(f"There is no lesson {request.lesson_id} in this workspace.")
        number = _count_turns(entry) + 1
        is_expected = (number % 2 == 1) == retired
        if not is_expected or not append(_build_entry(entry, request, number)):
            _raise_conflict(workspace_id, entry, retired=retired)
    return load_history(workspace_id, [entry], load_retirements(workspace_id))[0]


def _count_turns(entry: LedgerEntry) -> int:
    turns = (
        LedgerEntry.objects.for_workspace(entry.workspace_id)
        .of_kind(EntryKind.LESSON)
        .filter(outcome__in=RETIREMENT_OUTCOMES)
    )
    return turns.filter(idempotency_key__startswith=build_retirement_key(entry.entry_id, 0)[:-1]).count()


def _build_entry(entry: LedgerEntry, request: RetirementRequest, number: int) -> NewEntry:
    return NewEntry(
        workspace_id=entry.workspace_id,
        kind=EntryKind.LESSON,
        body={
            "lesson_id": entry.entry_id,
            "reason": to_storable(request.reason.strip()[:MAX_REASON_LENGTH]),
            "by": request.by,
        },
        idempotency_key=build_retirement_key(entry.entry_id, number),
        session_id=entry.session_id,
        intent_id=entry.intent_id,
        outcome=RETIREMENT_OUTCOMES[0] if number % 2 else RETIREMENT_OUTCOMES[1],
        actor=request.actor,
    )


def _raise_conflict(workspace_id: int, entry: LedgerEntry, *, retired: bool) -> None:
    if retired:
        retirement = load_retirements(workspace_id).get(entry.entry_id)
        who = f" by {retirement.by}" if retirement and retirement.by else ""
        raise AlreadyRetiredError(f"This lesson is already retired{who}.")
    raise NotRetiredError("This lesson is not retired, so it cannot be restored.")
