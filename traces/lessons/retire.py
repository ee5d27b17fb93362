"""People retire lessons, and take that back. Turns are numbered: of two at once the first counts."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction

from controlplane.shared.errors import InvalidInputError, NotFoundError
from controlplane.shared.masking import to_storable
from traces.errors import AlreadyRetiredError, NotRetiredError
from traces.ledger.append import NewEntry, append
from traces.lessons.store import TURNS, Lesson, lesson_entries, retirements, told, turn_key
from traces.models import Kind, LedgerEntry

MAX_REASON_LENGTH = 500


@dataclass(frozen=True, slots=True)
class Retiring:
    """What somebody does about a lesson: `by` is the name that is shown, `actor` the ledger's."""

    lesson_id: str
    reason: str
    by: str
    actor: str


def retire(workspace_id: int, wanted: Retiring) -> Lesson:
    """Take a lesson out of prompts and `AGENT.md`.

    Raise `InvalidInputError` without a reason, `NotFoundError`, or `AlreadyRetiredError`.
    """
    if not wanted.reason.strip():
        raise InvalidInputError("Say why this is retired.")
    return _turn(workspace_id, wanted, retired=True)


def restore(workspace_id: int, wanted: Retiring) -> Lesson:
    """Take a retirement back. The reason is optional. Raise `NotFoundError` or `NotRetiredError`."""
    return _turn(workspace_id, wanted, retired=False)


def _turn(workspace_id: int, wanted: Retiring, *, retired: bool) -> Lesson:
    with transaction.atomic():
        entry = lesson_entries(workspace_id).filter(entry_id=wanted.lesson_id).first()
        if entry is None:
            raise NotFoundError(f"There is no lesson {wanted.lesson_id} in this workspace.")
        number = _turns(entry) + 1
        turns_right = (number % 2 == 1) == retired
        if not turns_right or not append(_entry(entry, wanted, number)):
            _refuse(workspace_id, entry, retired=retired)
    return told(workspace_id, [entry], retirements(workspace_id))[0]


def _turns(entry: LedgerEntry) -> int:
    made = (
        LedgerEntry.objects.for_workspace(entry.workspace_id).of_kind(Kind.LESSON).filter(outcome__in=TURNS)
    )
    return made.filter(idempotency_key__startswith=turn_key(entry.entry_id, 0)[:-1]).count()


def _entry(entry: LedgerEntry, wanted: Retiring, number: int) -> NewEntry:
    return NewEntry(
        workspace_id=entry.workspace_id,
        kind=Kind.LESSON,
        body={
            "lesson_id": entry.entry_id,
            "reason": to_storable(wanted.reason.strip()[:MAX_REASON_LENGTH]),
            "by": wanted.by,
        },
        idempotency_key=turn_key(entry.entry_id, number),
        session_id=entry.session_id,
        intent_id=entry.intent_id,
        outcome=TURNS[0] if number % 2 else TURNS[1],
        actor=wanted.actor,
    )


def _refuse(workspace_id: int, entry: LedgerEntry, *, retired: bool) -> None:
    if retired:
        found = retirements(workspace_id).get(entry.entry_id)
        who = f" by {found.by}" if found and found.by else ""
        raise AlreadyRetiredError(f"This is retired already{who}.")
    raise NotRetiredError("This is not retired, so there is nothing to take back.")
