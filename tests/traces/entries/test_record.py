"""Recording what happened to files, whole entries and the simple form."""

from __future__ import annotations

import hashlib
import json

import pytest
from django.db import transaction

from controlplane.api.errors import get_status_code
from controlplane.shared.errors import DomainError
from tests.traces.builders import AWAY, HOME
from traces.entries import deduplicate
from traces.entries.deduplicate import SubmittedEntry
from traces.entries.record import (
    Mutation,
    MutationAuthor,
    StoreOptions,
    find_newest_hashes,
    record_mutation,
    store_entries,
)
from traces.ledger.append import read_body
from traces.ledger.redaction import redact
from traces.lessons.store import NewLesson, load_lessons, record_lesson
from traces.models import LedgerEntry, TraceEntry, TraceFile, TraceRange
from traces.verification.repair import rebuild_projections

pytestmark = pytest.mark.django_db

MAX = MutationAuthor(
    session_id="s-1", intent_id="INT-001", agent="claude-code", model="claude-x", actor="token:1:Max"
)


def sha256(text):
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def entry(entry_id="e-1", path="src/a.ts", content_hash="sha256:aa", intent="INT-001", **more):
    return {
        "id": entry_id,
        "timestamp": "2026-02-21T12:00:00Z",
        "vcs": {"revision_id": "abc123"},
        "files": [
            {
                "relative_path": path,
                "conversations": [
                    {
                        "url": "s-1",
                        "contributor": {"entity_type": "AI", "model_identifier": "model-x"},
                        "ranges": [{"start_line": 1, "end_line": 2, "content_hash": content_hash}],
                        "related": [{"type": "specification", "value": intent}],
                    }
                ],
            }
        ],
        **more,
    }


def post(*values, workspace_id=HOME, imported=False):
    with transaction.atomic():
        batch = [SubmittedEntry(value, line) for line, value in enumerate(values, 1)]
        return store_entries(workspace_id, batch, StoreOptions("token:1:Max", imported))


def record(path="src/a.ts", author=MAX, **fields):
    return record_mutation(HOME, Mutation(path=path, **fields), author)


def test_an_entry_is_kept_as_it_was_sent():
    sent = entry(mutation_class="INTENT_EVOLUTION", extra={"kept": [1.5, None]})
    made = post(sent).appended[0]
    row = LedgerEntry.objects.get(pk=made.id)
    assert read_body(row) == sent
    assert (row.session_id, row.intent_id, row.outcome, row.agent) == (
        "s-1",
        "INT-001",
        "INTENT_EVOLUTION",
        "model-x",
    )
    assert TraceEntry.objects.get(entry=row).revision_id == "abc123"


def test_posting_again_adds_nothing():
    assert len(post(entry("a"), entry("b")).appended) == 2
    again = post(entry("a"), entry("c"), entry("c"))
    assert (len(again.appended), again.duplicates) == (1, 2)
    assert len(post(entry("a"), workspace_id=AWAY).appended) == 1


def test_the_same_id_with_other_content_is_an_error():
    post(entry("a"))
    refused = post(entry("new"), entry("a", path="src/b.ts"))
    assert [(one.type, one.line) for one in (rival.to_error() for rival in refused.conflicts)] == [
        ("DUPLICATE_ID", 2)
    ]
    assert [one.entry_id for one in refused.appended] == ["new"]


def test_a_redacted_entry_can_be_sent_again_without_a_complaint():
    made = post(entry("a")).appended[0]
    redact(LedgerEntry.objects.get(pk=made.id), reason="secret", actor="Ada")
    assert post(entry("a", path="elsewhere")).duplicates == 1


def test_a_batch_costs_the_same_whatever_its_size(django_assert_max_num_queries):
    with django_assert_max_num_queries(8):
        post(*(entry(f"e-{n}") for n in range(60)))


def test_one_write_gives_an_entry_in_the_exact_form():
    made = record(content="line1\nline2\n", revision_id="abc123", mutation_class="INTENT_EVOLUTION")
    assert made.new
    body = read_body(LedgerEntry.objects.get(pk=made.id))
    assert body == made.entry
    assert body == {
        "id": body["id"],
        "timestamp": body["timestamp"],
        "tool": {"name": "claude-code"},
        "vcs": {"revision_id": "abc123"},
        "mutation_class": "INTENT_EVOLUTION",
        "files": [
            {
                "relative_path": "src/a.ts",
                "conversations": [
                    {
                        "url": "s-1",
                        "contributor": {"entity_type": "AI", "model_identifier": "claude-x"},
                        "ranges": [
                            {"start_line": 1, "end_line": 2, "content_hash": sha256("line1\nline2\n")}
                        ],
                        "related": [{"type": "specification", "value": "INT-001"}],
                    }
                ],
            }
        ],
    }


@pytest.mark.parametrize(
    ("fields", "lines"),
    [
        ({"content": ""}, (1, 1)),
        ({"content": "a"}, (1, 1)),
        ({"content": "a\nb"}, (1, 2)),
        ({"content": "a\nb\n", "start_line": 2}, (2, 2)),
        ({"content": "a\nb\n", "start_line": 1, "end_line": 1}, (1, 1)),
        ({"content_hash": "sha256:aa", "start_line": 5}, (5, 5)),
        ({"content_hash": "sha256:aa", "end_line": 9}, (1, 9)),
    ],
)
def test_lines_are_those_meant(fields, lines):
    ranges = record(**fields).entry["files"][0]["conversations"][0]["ranges"]
    assert (ranges[0]["start_line"], ranges[0]["end_line"]) == lines


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"path": "../etc/passwd", "content": ""}, "path"),
        ({"path": "/etc/passwd", "content": ""}, "path"),
        ({"path": "", "content": ""}, "path"),
        ({"path": "x" * 2000, "content": ""}, "path"),
        ({"path": "src/a.ts"}, "content"),
        ({"path": "src/a.ts", "content_hash": "n/a"}, "content_hash"),
        ({"path": "src/a.ts", "content": "x", "content_hash": "sha256:aa"}, "content_hash"),
        ({"path": "src/a.ts", "content": "x", "start_line": 3, "end_line": 2}, "end_line"),
        ({"path": "src/a.ts", "content": "x", "start_line": -1}, "end_line"),
    ],
)
def test_what_cannot_be_recorded_is_refused_with_the_field(fields, word):
    with pytest.raises(DomainError) as refused:
        record(**fields)
    assert (get_status_code(refused.value), refused.value.error_type) == (400, "INVALID_FIELD")
    assert word in refused.value.error
    assert not LedgerEntry.objects.exists()


def test_the_same_call_is_recorded_once():
    first = record(content="x", tool_use_id="call-1")
    again = record(content="x", tool_use_id="call-1")
    assert (again.id, again.entry, again.new) == (first.id, first.entry, False)
    assert record(content="x", path="src/b.ts", tool_use_id="call-1").new
    with pytest.raises(DomainError) as refused:
        record(content="y", tool_use_id="call-1")
    assert (get_status_code(refused.value), refused.value.error_type) == (409, "DUPLICATE_ID")


def test_without_an_intent_nothing_is_related():
    made = record(content="x", author=MutationAuthor(session_id="s-1"))
    assert made.entry["files"][0]["conversations"][0]["related"] == []
    assert TraceFile.objects.get().intent_id == ""


def test_the_newest_hash_of_a_file_is_known():
    record(content="one")
    record(content="two")
    record(content="gone", path="src/b.ts")
    record(content_hash="DELETED", path="src/b.ts")
    found = find_newest_hashes(HOME, ["src/a.ts", "src/b.ts", "src/c.ts"])
    assert found == {"src/a.ts": sha256("two"), "src/b.ts": ""}
    assert find_newest_hashes(AWAY, ["src/a.ts"]) == {}


def test_many_paths_are_asked_in_few_queries(django_assert_num_queries):
    record(content="one")
    with django_assert_num_queries(2):
        assert len(find_newest_hashes(HOME, ["src/a.ts", *(f"f{n}" for n in range(700))])) == 1


def test_an_import_never_overrides_what_was_seen_live():
    record(content="live")
    post(entry("old", content_hash="sha256:bb"), imported=True)
    post(entry("other", path="src/only-imported.ts", content_hash="sha256:cc"), imported=True)
    found = find_newest_hashes(HOME, ["src/a.ts", "src/only-imported.ts"])
    assert found == {"src/a.ts": sha256("live"), "src/only-imported.ts": "sha256:cc"}


def test_parts_of_a_file_do_not_tell_the_hash_of_the_whole():
    record(content="whole")
    parts = entry("parts")
    parts["files"][0]["conversations"][0]["ranges"].append(
        {"start_line": 5, "end_line": 6, "content_hash": "sha256:bb"}
    )
    post(parts)
    assert find_newest_hashes(HOME, ["src/a.ts"]) == {}
    assert TraceRange.objects.filter(content_hash="sha256:bb").count() == 1


def test_a_file_under_two_intents_is_found_under_both():
    two = entry("two")
    two["files"][0]["conversations"][0]["related"].append({"type": "specification", "value": "INT-002"})
    post(two)
    assert set(TraceFile.objects.values_list("intent_id", flat=True)) == {"INT-001", "INT-002"}


def test_the_projections_are_rebuilt_from_the_bodies():
    record(content="live")
    post(entry("old"), imported=True)
    names = ("entry_id", "path", "intent_id", "content_hash", "imported", "changed_at")
    before = list(TraceFile.objects.order_by("pk").values_list(*names))
    assert rebuild_projections(HOME) == 2
    assert list(TraceFile.objects.order_by("pk").values_list(*names)) == before
    assert TraceRange.objects.count() == 2


def test_problems_become_a_lesson_once():
    record(content="x", problems="error TS2322:  no\n")
    record(content="y", problems="error TS2322: no")
    record(content="y", problems="   \n  ")
    learned = load_lessons(HOME)
    assert [(one.file, one.problems, one.intent_id) for one in learned] == [
        ("src/a.ts", "error TS2322:  no", "INT-001")
    ]
    assert load_lessons(AWAY) == []


def test_slash_and_backslash_name_the_same_file_in_a_lesson():
    with transaction.atomic():
        assert record_lesson(HOME, NewLesson("src/test.ts", "err"), "Max")
        assert not record_lesson(HOME, NewLesson("src\\test.ts", "err"), "Max")


def test_a_lesson_holds_no_secret():
    with transaction.atomic():
        record_lesson(HOME, NewLesson("a", "password=hunter2hunter2"), "Max")
    assert "hunter2" not in json.dumps(read_body(LedgerEntry.objects.select_related("body").get()))


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"id": ""}, "$.id"),
        ({"id": 5}, "$.id"),
        ({"id": "x\ny"}, "$.id"),
        ({"timestamp": "yesterday"}, "$.timestamp"),
        ({"timestamp": "2026-02-30T12:00:00Z"}, "$.timestamp"),
        ({"timestamp": 5}, "$.timestamp"),
        ({"vcs": "abc"}, "$.vcs"),
        ({"vcs": {"revision_id": 5}}, "$.vcs.revision_id"),
        ({"mutation_class": 1}, "$.mutation_class"),
        ({"files": {}}, "$.files"),
        ({"files": ["x"]}, "$.files[0]"),
        ({"files": [{}]}, "$.files[0].relative_path"),
        ({"files": [{"relative_path": "../x"}]}, "$.files[0].relative_path"),
        ({"files": [{"relative_path": 5}]}, "$.files[0].relative_path"),
        (
            {"files": [{"relative_path": "x", "conversations": [{"contributor": 1}]}]},
            "$.files[0].conversations[0].contributor",
        ),
        (
            {
                "files": [
                    {"relative_path": "x", "conversations": [{"ranges": [{"start_line": 3, "end_line": 2}]}]}
                ]
            },
            "$.files[0].conversations[0].ranges[0].end_line",
        ),
        (
            {
                "files": [
                    {
                        "relative_path": "x",
                        "conversations": [{"ranges": [{"start_line": True, "end_line": 2}]}],
                    }
                ]
            },
            "$.files[0].conversations[0].ranges[0].start_line",
        ),
        (
            {"files": [{"relative_path": "x", "conversations": [{"related": [{"type": "specification"}]}]}]},
            "$.files[0].conversations[0].related[0].value",
        ),
    ],
)
def test_a_wrong_field_is_named(change, path):
    errors = deduplicate.validate_fields(SubmittedEntry({**entry(), **change}, 4))
    assert [(one.type, one.line) for one in errors] == [("INVALID_FIELD", 4)]
    assert errors[0].message.startswith(f"{path} ")


def test_missing_fields_are_named():
    messages = [one.message for one in deduplicate.validate_fields(SubmittedEntry({}))]
    assert [message.split()[0] for message in messages] == ["$.id", "$.timestamp", "$.files"]
