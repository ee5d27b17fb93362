"""Lessons: verification failures worth remembering, as entries of the ledger."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from controlplane.masking import storable
from traces import canonical
from traces.ledger import NewEntry, append, body_of
from traces.models import Kind, LedgerEntry

FILE_MOST = 1000


@dataclass(frozen=True, slots=True)
class Lesson:
    """`learned_on` is the day of the heading; `file` is workspace-relative, "" for one about no file."""

    lesson_id: str
    learned_on: date
    file: str
    problems: str
    session_id: str = ""
    intent_id: str = ""


@dataclass(frozen=True, slots=True)
class NewLesson:
    """What is to be remembered; without `learned_on`, today's."""

    file: str
    problems: str
    learned_on: date | None = None
    session_id: str = ""
    intent_id: str = ""


def record_lesson(workspace_id: int, lesson: NewLesson, actor: str) -> bool:
    """Append a lesson, inside the caller's transaction, once for the same file and problems.

    False when nothing was recorded: no problems, or known already. Secrets are masked first.
    """
    file = lesson.file.strip().replace("\\", "/").removeprefix("./")[:FILE_MOST]
    text = storable("\n".join(line.rstrip() for line in lesson.problems.strip().splitlines()))
    if not text:
        return False
    day = lesson.learned_on or datetime.now(UTC).date()
    body = {"file": file, "problems": text, "learned_on": day.isoformat()}
    made = append(
        NewEntry(
            workspace_id=workspace_id,
            kind=Kind.LESSON,
            body=body,
            idempotency_key=f"lesson:{_signature(file, text)}",
            session_id=lesson.session_id,
            intent_id=lesson.intent_id,
            outcome="learned",
            actor=actor,
        )
    )
    return made is not None


def lessons(workspace_id: int, *, most: int = 10_000) -> list[Lesson]:
    """The newest lessons, oldest of them first, without those that were redacted. 1 query."""
    entries = LedgerEntry.objects.filter(workspace_id=workspace_id, kind=Kind.LESSON).select_related("body")
    newest = list(entries.order_by("-pk")[:most])
    return [lesson for entry in reversed(newest) if (lesson := lesson_of(entry))]


def lesson_of(entry: LedgerEntry) -> Lesson | None:
    """The lesson in an entry; None after a redaction. 0 queries when the body was fetched along."""
    body: dict[str, Any] | None = body_of(entry)
    if body is None:
        return None
    return Lesson(
        lesson_id=entry.entry_id,
        learned_on=date.fromisoformat(body["learned_on"]),
        file=body["file"],
        problems=body["problems"],
        session_id=entry.session_id,
        intent_id=entry.intent_id,
    )


def _signature(file: str, problems: str) -> str:
    return hashlib.sha256(canonical.encode([file, " ".join(problems.split())])).hexdigest()
