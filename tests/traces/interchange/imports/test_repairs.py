"""Records of real ledgers, repaired into entries."""

from __future__ import annotations

import pytest

from tests.traces.interchange.imports.samples import bring, entry, line_of, traces
from traces.ledger.append import read_body
from traces.models import TraceFile

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("record", "files"),
    [
        ({"path": "src\\a.js", "sha256": "a" * 64, "intent_id": "INT-1"}, [("src/a.js", "INT-1", "sha256:" + "a" * 64)]),
        ({"filePath": "a.js", "intentId": "INT-1"}, [("a.js", "INT-1", "")]),
        ({"file": "a.js", "related": ["INT-2"], "ranges": {"content_hash": "n/a"}}, [("a.js", "INT-2", "")]),
        ({"files": ["a.js", "b.js"], "active_intent_id": "INT-3"}, [("a.js", "INT-3", ""), ("b.js", "INT-3", "")]),
        ({"tool": "read_file", "path": "a.js"}, []),
        ({"files": [{"relative_path": "/etc/passwd"}, {"relative_path": "C:\\x"}, {"relative_path": "../x"}]}, []),
        (
            {"modified_ranges": [{"file": "a.js", "new_range": {"start_line": 1, "end_line": 5}, "after_hash": "sha256:cc"}]},
            [("a.js", "", "sha256:cc")],
        ),
        (
            {"files": [{"path": "a.js", "related": [{"type": "intent", "value": "INT-4"}, {"type": "specification", "value": "R"}]}]},
            [("a.js", "INT-4", "")],
        ),
        (
            {"files": [{"path": "a.js", "related": [{"type": "specification", "value": "R"}, {"type": "requirement", "value": "Q"}]}]},
            [("a.js", "R", ""), ("a.js", "Q", "")],
        ),
        ({"ranges": {"file": "b.py", "content_hash": "sha256:cc"}, "trace_id": "t"}, [("b.py", "", "sha256:cc")]),
        ({"ranges": [{"file": "b.py"}, {"file": "c.py"}], "intent_id": "INT-1"}, [("b.py", "INT-1", ""), ("c.py", "INT-1", "")]),
        ({"payload": {"target_files": ["a.js"]}, "intent_id": "INT-1"}, [("a.js", "INT-1", "")]),
        ({"files": [{"relative_file_path": "src\\a.js"}]}, [("src/a.js", "", "")]),
        ({"tool": "read_file", "ranges": {"file": "b.py"}}, []),
        ({"files": [{"relative_file_path": "\\Shop\\src\\a.js", "partial_hash": "ab12"}]}, [("Shop/src/a.js", "", "partial:ab12")]),
        ({"files": [{"relative_path": "\\\\server\\a.js"}]}, []),
        ({"files": [{"path": "a.js", "ranges": [{"content_hash": "sha256:cc"}]}]}, [("a.js", "", "sha256:cc")]),
        ({"files": [{"path": "a.js", "ranges": [{"startLine": 1, "endLine": 2, "contentHash": "sha256:cc"}]}]}, [("a.js", "", "sha256:cc")]),
        ({"spec_id": "UNSPECIFIED", "files": [{"file": "a.js", "ranges": [{"start_line": 1, "end_line": -1}]}]}, [("a.js", "", "")]),
    ],
)  # fmt: skip
def test_files_and_intents_are_found_wherever_they_stand(record, files):
    bring(line_of({"id": "a", "timestamp": "2026-02-21T12:00:00Z", **record}), lenient=True)
    found = TraceFile.objects.order_by("pk").values_list("path", "intent_id", "content_hash")
    assert list(found) == files
    assert read_body(traces().get())["original"]["id"] == "a"


@pytest.mark.parametrize(
    "holder",
    [
        {"mutation_class": "AST_REFACTOR"},
        {"mutation": {"mutation_class": "AST_REFACTOR"}},
        {"classification": "AST_REFACTOR"},
        {"files": [{"relative_path": "a", "mutation_class": "AST_REFACTOR"}]},
        {"files": [{"relative_path": "a", "conversations": [{"mutation_class": "AST_REFACTOR"}]}]},
        {"files": [{"relative_path": "a", "conversations": [{"meta": {"mutation_class": "AST_REFACTOR"}}]}]},
        {"files": [{"relative_path": "a", "conversations": [{"related": [{"type": "mutation_class", "value": "AST_REFACTOR"}]}]}]},
    ],
)  # fmt: skip
def test_the_mutation_class_is_found_wherever_it_stands(holder):
    bring(line_of(entry("a", **holder)), lenient=True)
    assert traces().get().outcome == "AST_REFACTOR"


def test_a_record_that_says_all_stays_as_it_is():
    record = entry(
        "a", mutation_class="AST_REFACTOR", intent_id="INT-1", files=[{"relative_path": "a"}], other=[1]
    )
    report = bring(line_of(record), lenient=True)
    assert report.warnings == []
    assert read_body(traces().get()) == record


def test_what_a_record_refers_to_beside_its_intent_stays_in_the_entry():
    related = [{"type": "intent", "value": "INT-4"}, {"type": "specification", "value": "Phase 1: Core"}]
    bring(line_of({"id": "a", "files": [{"path": "a.js", "related": related}]}), lenient=True)
    (conversation,) = read_body(traces().get())["files"][0]["conversations"]
    assert conversation["related"] == [
        {"type": "specification", "value": "INT-4"},
        {"type": "reference", "value": "Phase 1: Core"},
    ]


def test_lines_sessions_and_models_are_found_by_their_other_names():
    record = {
        "id": "a", "model": "m-1", "metadata": {"session_id": "s-9"},
        "files": [{"path": "a.js", "ranges": [{"startLine": 2, "endLine": 4, "contentHash": "sha256:" + "a" * 64}]}],
    }  # fmt: skip
    bring(line_of(record), lenient=True)
    (conversation,) = read_body(traces().get())["files"][0]["conversations"]
    assert (conversation["url"], conversation["contributor"]["model_identifier"]) == ("s-9", "m-1")
    assert conversation["ranges"] == [{"start_line": 2, "end_line": 4, "content_hash": "sha256:" + "a" * 64}]


def test_a_session_and_a_model_are_found_beside_the_file():
    record = {
        "path": "a.js",
        "metadata": {"session_id": "s-7"},
        "model": "m-1",
        "ranges": [{"start": 1, "end": 2}],
    }
    bring(line_of({"id": "a", "timestamp": "2026-02-21T12:00:00Z", **record}), lenient=True)
    file = TraceFile.objects.get()
    assert (file.session_id, file.ranges.get().model) == ("s-7", "m-1")


@pytest.mark.parametrize(
    ("record", "is_named"),
    [
        ({"change": {"where": {"filePath": "a.js"}}}, True),
        ({"change": {"where": "a.js"}}, False),
        ({"tool": "read_file", "change": {"filePath": "a.js"}}, False),
    ],
)
def test_a_record_whose_file_was_not_understood_is_named(record, is_named):
    report = bring(line_of({"id": "a", "timestamp": "2026-02-21T12:00:00Z", **record}), lenient=True)
    assert ("FILE_NOT_UNDERSTOOD" in [remark.type for remark in report.warnings]) is is_named
