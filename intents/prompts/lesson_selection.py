"""Select the lessons of a prompt: those relevant to the intent, as many as fit."""

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
from traces.lessons.store import MAX_FILE_LENGTH, Lesson, load_lessons

MAX_LESSONS = 10
MAX_CHARACTERS = 6_000
MAX_LESSON_LENGTH = 1_500
MAX_CANDIDATES = 500
MAX_CANDIDATE_FILES = 2_000  # in all: the page matches each of them with every intent
MAX_INTENTS = 500


@dataclass(frozen=True, slots=True)
class LessonSelection:
    """The lessons of one intent's prompts, most relevant first. `left_out` counts those that do not fit."""

    lessons: tuple[Lesson, ...] = ()
    left_out: int = 0

    def notes(self) -> list[LessonNote]:
        return [
            LessonNote(
                date=lesson.learned_on.isoformat(),
                file=_join_files(lesson),
                text=_shorten(lesson.problems),
                section=lesson.section,
                source=lesson.source,
            )
            for lesson in self.lessons
        ]


def select_lessons(intent: Intent) -> LessonSelection:
    """Select for the intent's next prompt.

    2 queries where the intent was fetched with its workspace. Nothing is cached: a lesson that was recorded a
    moment ago is in.
    """
    workspace = intent.workspace
    newest = load_lessons(workspace.pk, limit=MAX_CANDIDATES)[::-1]
    scopes = _build_scopes(workspace, [(intent.intent_id, intent.owned_scope)])
    return select_by_scope(newest, scopes)[intent.intent_id]


def list_intents_by_lesson(workspace: Workspace, retired: Container[str]) -> dict[str, list[str]]:
    """Map lesson ids to the selectable intents whose prompts include them, in file order. 2 queries."""
    selectable = Intent.objects.for_workspace(workspace.pk).selectable().in_file_order()
    intents = selectable.values_list("intent_id", "owned_scope")[:MAX_INTENTS]
    newest = load_lessons(workspace.pk, limit=MAX_CANDIDATES, retired=retired)[::-1]
    by_lesson: dict[str, list[str]] = {}
    for intent_id, selection in select_by_scope(newest, _build_scopes(workspace, intents)).items():
        for lesson in selection.lessons:
            by_lesson.setdefault(lesson.lesson_id, []).append(intent_id)
    return by_lesson


def _build_scopes(workspace: Workspace, intents: Iterable[tuple[str, Sequence[str]]]) -> dict[str, Scope]:
    """Map intent ids to scopes that compare paths as the gate does in this workspace."""
    ignore_case = policy_document.parse(workspace.policy).case_insensitive_paths
    return {
        intent_id: Scope.from_patterns(scope, case_insensitive=ignore_case) for intent_id, scope in intents
    }


def select_by_scope(newest: Sequence[Lesson], scopes: Mapping[str, Scope]) -> dict[str, LessonSelection]:
    """Select for each intent: first lessons of files that it owns and its own, then those without a file.

    Both groups are newest first.
    """
    newest, owners = _limit_files(newest), OwnerIndex(scopes.items())
    relevant: dict[str, list[Lesson]] = {intent_id: [] for intent_id in scopes}
    for lesson in newest:
        file_owners = (owners.find_owners(file, exclude=None) for file in lesson.files)
        # An intent's own lessons count whatever their file: most rejections are about one outside its scope.
        for intent_id in {lesson.intent_id}.union(*file_owners) & relevant.keys():
            relevant[intent_id].append(lesson)
    general = [lesson for lesson in newest if not lesson.file]
    return {
        intent_id: _fit([*specific, *(lesson for lesson in general if lesson.intent_id != intent_id)])
        for intent_id, specific in relevant.items()
    }


def _limit_files(newest: Sequence[Lesson]) -> list[Lesson]:
    totals = accumulate(len(lesson.files) for lesson in newest)
    return [lesson for lesson, total in zip(newest, totals, strict=True) if total <= MAX_CANDIDATE_FILES]


def _fit(relevant: list[Lesson]) -> LessonSelection:
    remaining, count = MAX_CHARACTERS, 0
    for lesson in relevant[:MAX_LESSONS]:
        remaining -= len(_join_files(lesson)) + len(_shorten(lesson.problems))
        if remaining < 0:
            break
        count += 1
    return LessonSelection(tuple(relevant[:count]), len(relevant) - count)


def _join_files(lesson: Lesson) -> str:
    """Join the first files, as many as `MAX_FILE_LENGTH` characters hold; no single file is longer."""
    files = lesson.files
    lengths = accumulate(map(len, files))
    visible = [file for file, length in zip(files, lengths, strict=True) if length <= MAX_FILE_LENGTH]
    more = f" and {len(files) - len(visible)} more" if len(visible) < len(files) else ""
    return ", ".join(visible) + more


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_LESSON_LENGTH else f"{text[: MAX_LESSON_LENGTH - 1].rstrip()}…"
