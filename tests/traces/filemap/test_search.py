"""Searching the map by paths, intents and lessons."""

from __future__ import annotations

from tests.traces.filemap.samples import DAY, intent, touch
from traces.entries.known_intents import KnownIntent
from traces.filemap.matrix import build_map_files
from traces.filemap.search import extract_terms, search_files
from traces.lessons.store import Lesson

BILLING = KnownIntent(
    "INT-7", "Refactor invoices", "IN_PROGRESS", ("src/money/**",), False, "Tidy the billing logic"
)


def asked(question, touches, lessons=()):
    intents = [intent(1, "src/auth/**"), BILLING]
    return [
        (one.path, one.matched_in)
        for one in search_files(question, build_map_files(touches, intents), intents, lessons)
    ]


def test_where_is_the_billing_logic():
    touched = [touch("src/money/tax.ts", "INT-7"), touch("src/auth/login.ts"), touch("web/billing.css", "")]
    assert asked("Where is the billing logic?", touched) == [
        ("web/billing.css", ("path",)),
        ("src/money/tax.ts", ("goal",)),
    ]
    assert asked("invoices", touched) == [("src/money/tax.ts", ("intent",))]
    assert asked("login invoices", touched) == [
        ("src/auth/login.ts", ("path",)),
        ("src/money/tax.ts", ("intent",)),
    ]
    assert asked("tax invoices", touched) == [("src/money/tax.ts", ("path", "intent"))]
    assert asked("nothing-like-it", touched) == asked("?", touched) == []


def test_lessons_answer_too_and_files_of_one_folder_answer_together():
    more = ("src/auth/login.ts",)
    lesson = Lesson("l", DAY.date(), "src/auth/a.ts", "Rounding of cents is wrong", more_files=more)
    assert asked("rounding", [touch("src/auth/login.ts")], [lesson]) == [("src/auth/login.ts", ("lesson",))]
    touched = [touch(f"src/auth/{name}.ts") for name in ("a", "b", "c")]
    assert asked("auth", touched) == [("src/auth/", ("path",))]


def test_words_that_say_nothing_count_only_where_there_are_no_others():
    assert extract_terms("Where is the Billing logic?") == ["billing"]
    assert extract_terms("where is it") == ["where", "is", "it"]
