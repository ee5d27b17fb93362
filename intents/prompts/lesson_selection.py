"""Which lessons a prompt carries: those that are relevant to the intent, as many as an agent will read."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from controlplane.models import Workspace
from controlplane.policy.globs.owner_index import OwnerIndex
from controlplane.policy.globs.scope import Scope
from controlplane.policy.rules import policy_document
from intents.models import Intent
from intents.prompts.context_xml import LessonNote
from intents.statuses import SELECTABLE_STATUSES
from traces.lessons.store import MAX_FILE_LENGTH, Lesson, load_lessons

MAX_LESSONS = 10
MAX_CHARACTERS = 6_000
MAX_EACH = 1_500
LOOKED_AT = 500
FILES_LOOKED_AT = 2_000  # in all, as the page asks them of every intent
MAX_INTENTS = 500


@dataclass(frozen=True, slots=True)
class LessonSelection:
    """What comes with an intent's prompts, most relevant first; `left_out` is relevant too, but too much."""

    lessons: tuple[Lesson, ...] = ()
    left_out: int = 0

    def notes(self) -> list[LessonNote]:
        return [
            LessonNote(one.learned_on.isoformat(), _files(one), _short(one.problems), one.section, one.source)
            for one in self.lessons
        ]


def select_lessons(intent: Intent) -> LessonSelection:
    """What the intent's next prompt carries. 2 queries where its workspace was fetched along: nothing is
    remembered, so nothing is late."""
    workspace = intent.workspace
    newest = load_lessons(workspace.pk, most=LOOKED_AT)[::-1]
    return select_by_scope(newest, _scopes(workspace, [(intent.intent_id, intent.owned_scope)]))[
        intent.intent_id
    ]


def list_intents_by_lesson(workspace: Workspace, retired: Container[str]) -> dict[str, list[str]]:
    """By lesson id, the selectable intents whose prompts carry it, in the order of the file. 2 queries."""
    live = Intent.objects.filter(workspace=workspace, status__in=[one.value for one in SELECTABLE_STATUSES])
    intents = live.order_by("position", "pk").values_list("intent_id", "owned_scope")[:MAX_INTENTS]
    newest = load_lessons(workspace.pk, most=LOOKED_AT, retired=retired)[::-1]
    found: dict[str, list[str]] = {}
    for intent_id, one in select_by_scope(newest, _scopes(workspace, intents)).items():
        for lesson in one.lessons:
            found.setdefault(lesson.lesson_id, []).append(intent_id)
    return found


def _scopes(workspace: Workspace, intents: Iterable[tuple[str, Sequence[str]]]) -> dict[str, Scope]:
    """By intent id, as the gate compares them in this workspace."""
    ignore_case = policy_document.parse(workspace.policy).case_insensitive_paths
    return {
        intent_id: Scope.from_patterns(scope, case_insensitive=ignore_case) for intent_id, scope in intents
    }


def select_by_scope(newest: Sequence[Lesson], scopes: Mapping[str, Scope]) -> dict[str, LessonSelection]:
    """By intent id, from its owned scope: lessons of their files and their own, then those of no file.

    Newest first in both. An intent's own ones count whatever their file: a rejection is mostly about a file
    outside of the scope.
    """
    newest, owners = _looked_at(newest), OwnerIndex(scopes.items())
    near: dict[str, list[Lesson]] = {intent_id: [] for intent_id in scopes}
    for lesson in newest:
        file_owners = (owners.find_owners(file, exclude=None) for file in lesson.files)
        concerned = {lesson.intent_id}.union(*file_owners)
        for intent_id in concerned & near.keys():
            near[intent_id].append(lesson)
    anywhere = [lesson for lesson in newest if not lesson.file]
    return {
        intent_id: _fitting([*own, *(lesson for lesson in anywhere if lesson.intent_id != intent_id)])
        for intent_id, own in near.items()
    }


def _looked_at(newest: Sequence[Lesson]) -> list[Lesson]:
    so_far = accumulate(len(lesson.files) for lesson in newest)
    return [lesson for lesson, files in zip(newest, so_far, strict=True) if files <= FILES_LOOKED_AT]


def _fitting(relevant: list[Lesson]) -> LessonSelection:
    room, taken = MAX_CHARACTERS, 0
    for lesson in relevant[:MAX_LESSONS]:
        room -= len(_files(lesson)) + len(_short(lesson.problems))
        if room < 0:
            break
        taken += 1
    return LessonSelection(tuple(relevant[:taken]), len(relevant) - taken)


def _files(lesson: Lesson) -> str:
    """The first of its files, as many as there is room for; one always fits."""
    files = lesson.files
    shown = [
        file
        for file, so_far in zip(files, accumulate(map(len, files)), strict=True)
        if so_far <= MAX_FILE_LENGTH
    ]
    more = f" and {len(files) - len(shown)} more" if len(shown) < len(files) else ""
    return ", ".join(shown) + more


def _short(text: str) -> str:
    return text if len(text) <= MAX_EACH else f"{text[: MAX_EACH - 1].rstrip()}…"
