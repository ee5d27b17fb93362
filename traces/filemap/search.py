"""Search files and directories by words of their paths, of their intents and of lessons."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from traces.entries.known_intents import KnownIntent
from traces.filemap.matrix import MapFile
from traces.lessons.store import Lesson

MAX_RESULTS = 30
MIN_DIRECTORY_FILES = 3  # files of one folder and the same intents from which on the folder is the answer
MAX_TERMS = 12
# Words of a question that do not describe what is searched.
STOP_WORDS = frozenset(
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
PATH, NAME, DESCRIPTION, LESSON = 8, 4, 2, 1


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A file, or a directory (`path` ends in a slash) that stands for `files` in it, with its intents."""

    path: str
    intents: tuple[KnownIntent, ...]
    files: int
    entries: int
    last_changed: datetime | None
    matched_in: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileMatch:
    """A file that matches some terms: how many, how strongly, and where."""

    file: MapFile
    term_count: int
    weight: int
    matched_in: tuple[str, ...]


def search_files(
    query: str, files: Iterable[MapFile], intents: Sequence[KnownIntent], lessons: Iterable[Lesson]
) -> list[SearchResult]:
    """Return the best matches first: those of most terms, then of most weight.

    Terms may match in different places: one in the path, another in a lesson.
    """
    terms = extract_terms(query)
    if not terms:
        return []
    by_intent = {intent.intent_id: _match_intent(intent, terms) for intent in intents}
    lesson_terms = _match_lessons(lessons, terms)
    matches = [match for file in files if (match := _match_file(file, terms, by_intent, lesson_terms))]
    max_terms = max((match.term_count for match in matches), default=0)
    best = sorted(
        (match for match in matches if match.term_count == max_terms),
        key=lambda match: (-match.weight, -match.file.entries, match.file.path),
    )
    return _group_by_directory(best, {intent.intent_id: intent for intent in intents})[:MAX_RESULTS]


def extract_terms(query: str) -> list[str]:
    """Return the words without stop words; all of them if nothing else is left."""
    words = [word for word in re.split(r"[^\w./-]+", query.casefold().strip(" ?!.")) if word]
    return (list(dict.fromkeys(word for word in words if word not in STOP_WORDS)) or words)[:MAX_TERMS]


def _match_intent(intent: KnownIntent, terms: Sequence[str]) -> dict[str, int]:
    name, description = f"{intent.intent_id} {intent.name}".casefold(), intent.description.casefold()
    weights = {term: DESCRIPTION for term in terms if term in description}
    return weights | {term: NAME for term in terms if term in name}


def _match_lessons(lessons: Iterable[Lesson], terms: Sequence[str]) -> dict[str, set[str]]:
    terms_by_file: dict[str, set[str]] = defaultdict(set)
    for lesson in lessons:
        text = lesson.problems.casefold()
        for file in lesson.files:
            terms_by_file[file] |= {term for term in terms if term in text}
    return terms_by_file


def _match_file(
    file: MapFile,
    terms: Sequence[str],
    by_intent: Mapping[str, Mapping[str, int]],
    lesson_terms: Mapping[str, set[str]],
) -> FileMatch | None:
    path = file.path.casefold()
    weights: dict[str, int] = dict.fromkeys(lesson_terms.get(file.path, ()), LESSON)
    for intent_id in file.cells:
        for term, weight in by_intent[intent_id].items():
            weights[term] = max(weights.get(term, 0), weight)
    weights |= {term: PATH for term in terms if term in path}
    if not weights:
        return None
    labels = {PATH: "path", NAME: "intent", DESCRIPTION: "goal", LESSON: "lesson"}
    matched_in = tuple(label for weight, label in labels.items() if weight in weights.values())
    return FileMatch(file, len(weights), sum(weights.values()), matched_in)


def _group_by_directory(
    matches: Sequence[FileMatch], intents: Mapping[str, KnownIntent]
) -> list[SearchResult]:
    """Merge files of one directory with the same intents into one result, at the position of the best."""
    groups: dict[tuple[str, tuple[str, ...]], list[FileMatch]] = defaultdict(list)
    for match in matches:
        groups[match.file.path.rpartition("/")[0], tuple(match.file.cells)].append(match)
    results: list[SearchResult] = []
    for (directory, names), group in groups.items():
        group_intents = tuple(intents[name] for name in names)
        if len(group) >= MIN_DIRECTORY_FILES and directory:
            results.append(_build_result(f"{directory}/", group_intents, group))
        else:
            results += [_build_result(match.file.path, group_intents, [match]) for match in group]
    return results


def _build_result(path: str, intents: tuple[KnownIntent, ...], matches: Sequence[FileMatch]) -> SearchResult:
    times = [match.file.last_changed for match in matches if match.file.last_changed]
    entries = sum(match.file.entries for match in matches)
    return SearchResult(path, intents, len(matches), entries, max(times, default=None), matches[0].matched_in)
