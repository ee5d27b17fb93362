"""Agent Trace records: out and back in without loss."""

from __future__ import annotations

import json

import jsonschema
import pytest

from tests.traces.data import DATA
from tests.traces.interchange.formats.record_schema import RECORD
from traces import entry_schema
from traces.interchange.formats.agent_trace import is_record, to_entry, to_record
from traces.interchange.imports.repairs import repair_record

LOG = "intent-control-plane/ledger/7"


REAL = DATA / "real"


def entry(**more):
    talk = {
        "url": "019c7dc0-d237-728f-9f18-d58cad20f29e",
        "contributor": {"entity_type": "AI", "model_identifier": "claude-x"},
        "ranges": [{"start_line": 1, "end_line": 2, "content_hash": "sha256:aa"}],
        "related": [{"type": "specification", "value": "INT-001"}, {"type": "note", "value": "two words"}],
    }
    return {
        "id": "e-1",
        "timestamp": "2026-02-21T12:00:00+03:00",
        "vcs": {"revision_id": "a" * 40},
        "files": [{"relative_path": "src/a.ts", "conversations": [talk]}],
        "mutation_class": "AST_REFACTOR",
        **more,
    }


def foreign(**more):
    talk = {
        "url": "https://agent.example/sessions/7f3a",
        "contributor": {"type": "ai", "model_id": "anthropic/claude-x"},
        "ranges": [
            {
                "start_line": 9,
                "end_line": 12,
                "content_hash": "murmur3:9f2e8a1b",
                "contributor": {"type": "human"},
            }
        ],
        "related": [{"type": "prompt", "url": "https://agent.example/prompts/1"}],
    }
    return {
        "version": "0.1.0",
        "id": "550e8400-e29b-41d4-a716-446655440000",
        "timestamp": "2026-01-23T14:30:00Z",
        "vcs": {"type": "git", "revision": "a1b2c3d4e5f6a1b2c3d4e5f6a1b2c3d4e5f6a1b2"},
        "tool": {"name": "cursor", "version": "2.4.0"},
        "files": [
            {"path": "src/a.ts", "conversations": [talk]},
            {"path": ".shell-history", "conversations": []},
        ],
        "metadata": {"dev.cursor": {"confidence": 0.9}},
        **more,
    }


def real_entries():
    for file in sorted(REAL.glob("*.jsonl")):
        for line in file.read_bytes().split(b"\n"):
            try:
                value = json.loads(line)
            except ValueError:
                continue
            if isinstance(value, dict):
                yield repair_record(value).entry


@pytest.mark.parametrize(
    "value",
    [
        entry(),
        entry(vcs={"revision_id": "UNKNOWN"}),
        entry(vcs=None),
        entry(files=[]),
        entry(tool="write_to_file"),
        entry(tool={"name": "roo", "version": "3"}),
        entry(files=[{"relative_path": "a"}]),
        entry(files=[{"relative_path": "a", "conversations": [{"ranges": [{"start_line": 0, "end_line": 0}]}]}]),
        entry(id="550e8400-e29b-41d4-a716-446655440000"),
    ],
)  # fmt: skip
def test_an_entry_goes_out_valid_and_comes_back_the_same(value):
    record = to_record(value, LOG)
    jsonschema.validate(record, RECORD)
    assert is_record(record)
    assert to_entry(json.loads(json.dumps(record))) == value


@pytest.mark.deep
def test_real_entries_go_out_valid_and_come_back_the_same():
    entries = list(real_entries())
    assert len(entries) > 250
    for value in entries:
        record = to_record(value, LOG)
        jsonschema.validate(record, RECORD)
        assert to_entry(record) == value


def test_a_foreign_record_is_read_and_goes_out_as_it_came():
    value = to_entry(foreign())
    assert entry_schema.find_field_errors(value) == []
    reading = entry_schema.parse_entry(value)
    assert [file.path for file in reading.files] == ["src/a.ts"]
    assert (reading.session_id, reading.model, reading.revision_id) == (
        "7f3a",
        "anthropic/claude-x",
        "a1b2c3d4e5f6" * 3 + "a1b2",
    )
    assert to_record(value, LOG) == foreign()


def test_a_record_that_somebody_changed_is_believed_rather_than_our_copy_in_it():
    record = to_record(entry(), LOG)
    record["files"][0]["path"] = "src/renamed.ts"
    assert entry_schema.parse_entry(to_entry(record)).files[0].path == "src/renamed.ts"


def test_our_intents_are_read_from_any_record():
    record = foreign()
    record["files"][0]["conversations"][0]["related"] = [
        {"type": "specification", "url": "urn:icp:intent:INT%20A"}
    ]
    assert entry_schema.parse_entry(to_entry(record)).intent_id == "INT A"


@pytest.mark.parametrize(
    "change",
    [
        {"files": [{"path": "a", "conversations": 5}]},
        {"files": [{"path": "a", "conversations": [5]}]},
        {"files": [{"path": "a", "conversations": [{"contributor": "x", "ranges": [], "related": [5]}]}]},
        {"files": [{"path": "a", "conversations": [{"contributor": {"type": 5}, "ranges": []}]}]},
        {"files": [{"path": "a", "conversations": [{"ranges": [], "related": 7}]}]},
        {"vcs": "x"},
        {"id": None},
    ],
)  # fmt: skip
def test_a_record_with_a_wrong_field_is_named_not_crashed_on(change):
    assert entry_schema.find_field_errors(to_entry(foreign(**change)))


@pytest.mark.parametrize(
    "value", [{}, {"version": "1"}, {"version": "x", "files": []}, {"version": "1", "files": [{"path": 5}]}]
)
def test_other_objects_are_no_records(value):
    assert not is_record(value)


@pytest.mark.parametrize("version", ["0.1.0", "1.0", "0.1", "2"])
def test_versions_as_tools_write_them_are_read(version):
    assert is_record(foreign(version=version))


def test_models_get_their_provider_where_it_can_be_told():
    def model(name):
        talk = {"contributor": {"entity_type": "robot", "model_identifier": name}, "ranges": []}
        record = to_record(entry(files=[{"relative_path": "a", "conversations": [talk]}]), LOG)
        return record["files"][0]["conversations"][0]["contributor"]

    assert model("gpt-5") == {"type": "unknown", "model_id": "openai/gpt-5"}
    assert model("gemini-2.5-flash")["model_id"] == "google/gemini-2.5-flash"
    assert model("o3-mini")["model_id"] == "openai/o3-mini"
    assert model("arcee/trinity:free")["model_id"] == "arcee/trinity:free"
    assert len(model("m" * 200 + "x" * 200)["model_id"]) == 250
