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
            [("a.js", "INT-4", ""), ("a.js", "R", "")],
        ),
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
