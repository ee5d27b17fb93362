"""Where is the billing logic? Files and folders by words of their paths, of their intents, and of lessons."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from traces.entries.known_intents import KnownIntent
from traces.filemap.matrix import FileView
from traces.lessons.store import Lesson

MAX_ANSWERS = 30
TOGETHER = 3  # files of one folder and the same intents from which on the folder is the answer
MAX_WORDS = 12
# Words of questions that say nothing of what is looked for.
EMPTY_WORDS = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "at",
        "by",
        "code",
        "do",
        "does",
        "file",
        "files",
        "find",
        "folder",
        "for",
        "from",
        "how",
        "i",
        "in",
        "is",
        "it",
        "logic",
        "me",
        "of",
        "on",
        "or",
        "our",
        "show",
        "that",
        "the",
        "this",
        "to",
        "under",
        "we",
        "what",
        "where",
        "which",
        "who",
        "with",
    ]
)
PATH, NAME, GOAL, LESSON = 8, 4, 2, 1


@dataclass(frozen=True, slots=True)
class Answer:
    """A file, or a folder (`path` ends in a slash) that stands for `files` in it; under which intents."""

    path: str
    intents: tuple[KnownIntent, ...]
    files: int
    entries: int
    last: datetime | None
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """A file that some words speak of: how many of them, how plainly, and where they were found."""

    file: FileView
    words: int
    weight: int
    why: tuple[str, ...]


def answers(
    question: str, files: Iterable[FileView], intents: Sequence[KnownIntent], lessons: Iterable[Lesson]
) -> list[Answer]:
    """Best first: those that most words speak of, then the plainest. Words may stand in different places."""
    words = words_of(question)
    if not words:
        return []
    by_intent = {one.intent_id: _of_intent(one, words) for one in intents}
    learned = _of_lessons(lessons, words)
    hits = [hit for file in files if (hit := _hit(file, words, by_intent, learned))]
    most = max((hit.words for hit in hits), default=0)
    best = sorted(
        (hit for hit in hits if hit.words == most),
        key=lambda hit: (-hit.weight, -hit.file.entries, hit.file.path),
    )
    return _together(best, {one.intent_id: one for one in intents})[:MAX_ANSWERS]


def words_of(question: str) -> list[str]:
    """The words that say something; all of them where none does."""
    found = [word for word in re.split(r"[^\w./-]+", question.casefold().strip(" ?!.")) if word]
    return (list(dict.fromkeys(word for word in found if word not in EMPTY_WORDS)) or found)[:MAX_WORDS]


def _of_intent(intent: KnownIntent, words: Sequence[str]) -> dict[str, int]:
    name, goal = f"{intent.intent_id} {intent.name}".casefold(), intent.description.casefold()
    found = {word: GOAL for word in words if word in goal}
    return found | {word: NAME for word in words if word in name}


def _of_lessons(lessons: Iterable[Lesson], words: Sequence[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for lesson in lessons:
        text = lesson.problems.casefold()
        for file in lesson.files:
            found[file] |= {word for word in words if word in text}
    return found


def _hit(
    file: FileView,
    words: Sequence[str],
    by_intent: Mapping[str, Mapping[str, int]],
    learned: Mapping[str, set[str]],
) -> Hit | None:
    path = file.path.casefold()
    weights: dict[str, int] = dict.fromkeys(learned.get(file.path, ()), LESSON)
    for intent_id in file.cells:
        for word, weight in by_intent[intent_id].items():
            weights[word] = max(weights.get(word, 0), weight)
    weights |= {word: PATH for word in words if word in path}
    if not weights:
        return None
    places = {PATH: "path", NAME: "intent", GOAL: "goal", LESSON: "lesson"}
    why = tuple(word for weight, word in places.items() if weight in weights.values())
    return Hit(file, len(weights), sum(weights.values()), why)


def _together(hits: Sequence[Hit], intents: Mapping[str, KnownIntent]) -> list[Answer]:
    """Files of one folder that the same intents have are one answer, where the best of them stood."""
    groups: dict[tuple[str, tuple[str, ...]], list[Hit]] = defaultdict(list)
    for hit in hits:
        groups[hit.file.path.rpartition("/")[0], tuple(hit.file.cells)].append(hit)
    found: list[Answer] = []
    for (folder, names), some in groups.items():
        mine = tuple(intents[name] for name in names)
        if len(some) >= TOGETHER and folder:
            found.append(_answer(f"{folder}/", mine, some))
        else:
            found += [_answer(hit.file.path, mine, [hit]) for hit in some]
    return found


def _answer(path: str, intents: tuple[KnownIntent, ...], hits: Sequence[Hit]) -> Answer:
    lasts = [hit.file.last for hit in hits if hit.file.last]
    entries = sum(hit.file.entries for hit in hits)
    return Answer(path, intents, len(hits), entries, max(lasts, default=None), hits[0].why)
