"""Record and load lessons, decisions and constraints, which are entries of the ledger.

Entries are never updated: a repeated lesson is a new entry, and so is a retirement (`traces.lessons.retire`).
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from enum import StrEnum
from itertools import islice
from typing import Any

from django.db.models import QuerySet

from controlplane.policy.paths.canonical import CanonicalPath, canonicalize
from controlplane.shared.masking import to_storable
from traces.ledger.append import NewEntry, append, generate_entry_id, read_body
from traces.ledger.canonical_json import encode
from traces.models import EntryKind, LedgerEntry

MAX_FILE_LENGTH = 1000
MAX_FILES = 50
MAX_LESSONS = 10_000
REPEATED = "again"
RETIREMENT_OUTCOMES = ("retired", "restored")

_LEARNED_KEY = "lesson:"
_REPEATED_KEY = "lesson-again:"
_TRAILING_MARKS = (
    " .,;:!?\N{HORIZONTAL ELLIPSIS}\"'`\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}"
)
_LEADING_MARKS = f"{_TRAILING_MARKS}-*\N{BULLET}"


class LessonSection(StrEnum):
    """The kind of knowledge. Each has its own heading in `AGENT.md`."""

    LESSON = "lesson"
    DECISION = "decision"
    CONSTRAINT = "constraint"


class LessonSource(StrEnum):
    """Where it was learned. For an approval, `source_id` is its id."""

    SESSION = "session"
    APPROVAL = "approval"
    IMPORT = "import"
    PERSON = "person"
    API = "api"


OUTCOMES = {
    LessonSection.LESSON: "learned",
    LessonSection.DECISION: "decided",
    LessonSection.CONSTRAINT: "constrained",
}


@dataclass(frozen=True, slots=True)
class Retirement:
    """Who retired a lesson and why; both "" once that was redacted."""

    at: datetime
    by: str
    reason: str


@dataclass(frozen=True, slots=True)
class Lesson:
    """`learned_on` is the date of the heading; `file` is workspace-relative, "" for a lesson about no file.

    Of several files, `file` is the first and `more_files` are the others. `again` counts how often it was
    learned once more, except by imports; only `load_history` fills it.
    """

    lesson_id: str
    learned_on: date
    file: str
    problems: str
    session_id: str = ""
    intent_id: str = ""
    section: LessonSection = LessonSection.LESSON
    source: LessonSource = LessonSource.IMPORT
    source_id: str = ""
    by: str = ""
    again: int = 0
    retired: Retirement | None = None
    more_files: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        """All its files: none, one or several."""
        return (self.file, *self.more_files) if self.file else ()


@dataclass(frozen=True, slots=True)
class NewLesson:
    """A lesson to record, of today without `learned_on`. `by` names the person or token.

    About several files it is still one lesson, which is repeated and retired as one.
    """

    file: str
    problems: str
    learned_on: date | None = None
    session_id: str = ""
    intent_id: str = ""
    section: LessonSection = LessonSection.LESSON
    source: LessonSource = LessonSource.SESSION
    source_id: str = ""
    by: str = ""
    more_files: tuple[str, ...] = ()


def record_lesson(workspace_id: int, lesson: NewLesson, actor: str) -> bool:
    """Append a lesson, inside the caller's transaction, once for the same section, files and problems.

    Return False when nothing new was recorded: empty problems, or a known lesson. Learning a known lesson
    once more records a repetition, unless an imported file brought it. Secrets are masked first; files beyond
    `MAX_FILES` are dropped.
    """
    files, text = _tidy_files(lesson), _tidy_text(lesson.problems)
    if not text:
        return False
    signature = _compute_signature(lesson.section, files, text)
    entry = NewEntry(
        workspace_id=workspace_id,
        kind=EntryKind.LESSON,
        body=_build_body(lesson, files, text),
        idempotency_key=f"{_LEARNED_KEY}{signature}",
        session_id=lesson.session_id,
        intent_id=lesson.intent_id,
        outcome=OUTCOMES[lesson.section],
        actor=actor,
    )
    if append(entry) is not None:
        return True
    if lesson.source is not LessonSource.IMPORT:  # without the text, which may have been redacted since
        key = f"{_REPEATED_KEY}{signature}:{lesson.source_id or generate_entry_id()}"
        append(replace(entry, body=_file_fields(files), idempotency_key=key, outcome=REPEATED))
    return False


def find_recorded_lesson(workspace_id: int, lesson: NewLesson) -> str:
    """Return the id of the lesson recorded or repeated for this `source_id`, else "". 1 query."""
    signature = _compute_signature(lesson.section, _tidy_files(lesson), _tidy_text(lesson.problems))
    first_key, repeated_key = f"{_LEARNED_KEY}{signature}", f"{_REPEATED_KEY}{signature}:{lesson.source_id}"
    entries = LedgerEntry.objects.for_workspace(workspace_id).filter(
        idempotency_key__in=(first_key, repeated_key)
    )
    entries_by_key = {entry.idempotency_key: entry for entry in entries.with_body()}
    lesson_on_record = parse_lesson(entries_by_key[first_key]) if first_key in entries_by_key else None
    if lesson_on_record is None or (
        repeated_key not in entries_by_key and lesson_on_record.source_id != lesson.source_id
    ):
        return ""
    return lesson_on_record.lesson_id


def load_lessons(
    workspace_id: int, *, limit: int = MAX_LESSONS, retired: Container[str] | None = None
) -> list[Lesson]:
    """Return the newest `limit` lessons that are neither retired nor redacted, oldest first.

    2 queries, 1 where the caller passes what is retired.
    """
    retired = load_retirements(workspace_id) if retired is None else retired
    columns = ("entry_id", "session_id", "intent_id", "body__body")  # three times as fast as complete entries
    newest = filter_lessons(workspace_id).order_by("-pk").values_list(*columns)[:limit]
    newest_lessons = [
        _build_lesson(lesson_id, session_id, intent_id, json.loads(bytes(body)))
        for lesson_id, session_id, intent_id, body in newest
        if lesson_id not in retired
    ]
    return newest_lessons[::-1]


def load_history(
    workspace_id: int, entries: Iterable[LedgerEntry], retired: Mapping[str, Retirement]
) -> list[Lesson]:
    """Parse the lessons in these entries, and add their repetitions and retirements. 1 query."""
    repetitions = _count_repetitions(workspace_id)
    return [
        replace(lesson, retired=retired.get(entry.entry_id), again=repetitions[_read_signature(entry)])
        for entry in entries
        if (lesson := parse_lesson(entry))
    ]


def filter_lessons(
    workspace_id: int, sections: Sequence[LessonSection] = tuple(LessonSection)
) -> QuerySet[LedgerEntry]:
    """Filter the entries of new lessons, each with its body, without redacted ones."""
    outcomes = [OUTCOMES[section] for section in sections]
    entries = (
        LedgerEntry.objects.for_workspace(workspace_id)
        .of_kind(EntryKind.LESSON)
        .filter(outcome__in=outcomes, body__isnull=False)
    )
    return entries.with_body().defer("envelope", "leaf_hash", "body_digest")


def parse_lesson(entry: LedgerEntry) -> Lesson | None:
    """Parse the lesson in an entry; None after a redaction. 0 queries when the body was fetched with it."""
    body = read_body(entry)
    return None if body is None else _build_lesson(entry.entry_id, entry.session_id, entry.intent_id, body)


def _build_lesson(lesson_id: str, session_id: str, intent_id: str, body: dict[str, Any]) -> Lesson:
    return Lesson(
        lesson_id=lesson_id,
        learned_on=date.fromisoformat(body["learned_on"]),
        file=body["file"],
        problems=body["problems"],
        session_id=session_id,
        intent_id=intent_id,
        section=LessonSection(body.get("section", LessonSection.LESSON)),
        source=LessonSource(
            body.get("source") or (LessonSource.SESSION if session_id else LessonSource.IMPORT)
        ),
        source_id=body.get("source_id", ""),
        by=body.get("by", ""),
        more_files=tuple(body.get("more_files", ())),
    )


def load_retirements(workspace_id: int) -> dict[str, Retirement]:
    """Return current retirements by lesson id. 1 query, over all retirements and restorations."""
    turns = (
        LedgerEntry.objects.for_workspace(workspace_id)
        .of_kind(EntryKind.LESSON)
        .filter(outcome__in=RETIREMENT_OUTCOMES)
    )
    rows = turns.order_by("pk").values_list("idempotency_key", "outcome", "received_at", "body__body")
    last = {
        parse_retirement_key(key): (outcome == RETIREMENT_OUTCOMES[0], at, body)
        for key, outcome, at, body in rows
    }
    return {key: _build_retirement(at, body) for key, (retired, at, body) in last.items() if retired}


def build_retirement_key(lesson_id: str, number: int) -> str:
    """Return the idempotency key of a lesson's nth change: odd ones retire it, even ones restore it.

    Of two concurrent changes the unique key lets one win.
    """
    return f"lesson-turn:{lesson_id}:{number}"


def parse_retirement_key(key: str | None) -> str:
    """Return the lesson id. It is in the key, since the key outlives a redacted body."""
    return (key or "").partition(":")[2].rpartition(":")[0]


def _build_retirement(at: datetime, body: bytes | memoryview | None) -> Retirement:
    fields = json.loads(bytes(body)) if body else {}
    return Retirement(at, fields.get("by", ""), fields.get("reason", ""))


def _count_repetitions(workspace_id: int) -> Counter[str]:
    """Count the repetitions of each signature, among the newest entries of that kind. 1 query."""
    entries = (
        LedgerEntry.objects.for_workspace(workspace_id).of_kind(EntryKind.LESSON).filter(outcome=REPEATED)
    )
    keys = entries.order_by("-pk").values_list("idempotency_key", flat=True)[:MAX_LESSONS]
    return Counter((key or "").removeprefix(_REPEATED_KEY).partition(":")[0] for key in keys)


def _read_signature(entry: LedgerEntry) -> str:
    return (entry.idempotency_key or "").removeprefix(_LEARNED_KEY)


def _file_fields(files: Sequence[str]) -> dict[str, Any]:
    first, *others = files or ("",)
    return {"file": first} | ({"more_files": others} if others else {})


def _build_body(lesson: NewLesson, files: Sequence[str], text: str) -> dict[str, Any]:
    day = lesson.learned_on or datetime.now(UTC).date()
    optional = {"source_id": lesson.source_id, "by": lesson.by}
    return (
        _file_fields(files)
        | {
            "problems": text,
            "learned_on": day.isoformat(),
            "section": lesson.section.value,
            "source": lesson.source.value,
        }
        | {name: value for name, value in optional.items() if value}
    )


def _tidy_files(lesson: NewLesson) -> tuple[str, ...]:
    tidied = map(_tidy_file, (lesson.file, *lesson.more_files))
    return tuple(islice(dict.fromkeys(filter(None, tidied)), MAX_FILES))


def _tidy_file(file: str) -> str:
    """Return the canonical path, so that scopes match it, or the raw text where it has none."""
    raw = file.strip().replace("\\", "/")
    result = canonicalize(raw, root=None, cwd=None, writing=False)
    return (result.path if isinstance(result, CanonicalPath) else raw)[:MAX_FILE_LENGTH]


def _tidy_text(text: str) -> str:
    return str(to_storable("\n".join(line.rstrip() for line in text.strip().splitlines())))


def _compute_signature(section: LessonSection, files: Sequence[str], errors: str) -> str:
    """Hash a lesson. Case, white space, punctuation at the ends and the order of files don't matter."""
    about = sorted(files) if len(files) > 1 else "".join(files)
    normalized = " ".join(unicodedata.normalize("NFC", errors).casefold().split())
    normal = normalized.lstrip(_LEADING_MARKS).rstrip(_TRAILING_MARKS) or normalized
    return hashlib.sha256(encode([section.value, about, normal])).hexdigest()
