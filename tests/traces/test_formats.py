"""Agent Trace, intent_map.md and AGENT.md, out and in."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from traces import entry_schema
from traces.interchange.formats.agent_trace import is_record, to_entry, to_record
from traces.interchange.formats.intent_map import IntentSection, parse_intent_map, render_intent_map
from traces.interchange.imports.repairs import repair_record
from traces.lessons.agent_md import read_lessons, write_lessons
from traces.lessons.store import Lesson, Source
from traces.lessons.store import Section as Kept

LOG = "intent-control-plane/ledger/7"
REAL = Path(__file__).parent.parent / "data" / "traces" / "real"

# The published rules of Agent Trace 0.1.0 in their strict reading: nothing beyond the named fields, both
# names of a tool, at least line 1, URIs where they are asked for.
URI = {"type": "string", "pattern": r"^[A-Za-z][A-Za-z0-9+.-]*:\S+$"}


def strict(required, **properties):
    return {"type": "object", "required": required, "properties": properties, "additionalProperties": False}


CONTRIBUTOR = strict(
    ["type"],
    type={"enum": ["human", "ai", "mixed", "unknown"]},
    model_id={"type": "string", "maxLength": 250},
)
RANGE = strict(
    ["start_line", "end_line"],
    start_line={"type": "integer", "minimum": 1},
    end_line={"type": "integer", "minimum": 1},
    content_hash={"type": "string"},
    contributor=CONTRIBUTOR,
)
CONVERSATION = strict(
    ["ranges"],
    url=URI,
    contributor=CONTRIBUTOR,
    ranges={"type": "array", "items": RANGE},
    related={"type": "array", "items": strict(["type", "url"], type={"type": "string"}, url=URI)},
)
RECORD = strict(
    ["version", "id", "timestamp", "files"],
    version={"type": "string", "pattern": r"^[0-9]+\.[0-9]+\.[0-9]+$"},
    id={"type": "string", "pattern": r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"},
    timestamp={"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$"},
    vcs=strict(["type", "revision"], type={"enum": ["git", "jj", "hg", "svn"]}, revision={"type": "string"}),
    tool=strict(["name", "version"], name={"type": "string"}, version={"type": "string"}),
    files={
        "type": "array",
        "items": strict(
            ["path", "conversations"],
            path={"type": "string"},
            conversations={"type": "array", "items": CONVERSATION},
        ),
    },
    metadata={"type": "object"},
)


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


def test_real_entries_go_out_valid_and_come_back_the_same():
    entries = list(real_entries())
    assert len(entries) > 250
    for value in entries:
        record = to_record(value, LOG)
        jsonschema.validate(record, RECORD)
        assert to_entry(record) == value


def test_a_foreign_record_is_read_and_goes_out_as_it_came():
    value = to_entry(foreign())
    assert entry_schema.problems(value) == []
    reading = entry_schema.read_entry(value)
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
    assert entry_schema.read_entry(to_entry(record)).files[0].path == "src/renamed.ts"


def test_our_intents_are_read_from_any_record():
    record = foreign()
    record["files"][0]["conversations"][0]["related"] = [
        {"type": "specification", "url": "urn:icp:intent:INT%20A"}
    ]
    assert entry_schema.read_entry(to_entry(record)).intent_id == "INT A"


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
    assert entry_schema.problems(to_entry(foreign(**change)))


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


def test_the_map_is_stable_and_read_back():
    sections = [
        IntentSection("INT-002", "", ("b`c.ts", "a b.ts", "a b.ts")),
        IntentSection("INT-001", "Two\nlines", ("src/a.ts",)),
        IntentSection("INT-003", "Empty"),
    ]
    text = render_intent_map(sections)
    assert text == render_intent_map(reversed(sections))
    assert parse_intent_map(text) == [
        IntentSection("INT-001", "Two lines", ("src/a.ts",)),
        IntentSection("INT-002", "", ("a b.ts", "b`c.ts")),
        IntentSection("INT-003", "Empty"),
    ]


def test_maps_as_people_write_them_are_read():
    text = "# Map\r\n- `before.ts`\r\n## INT-001: A: b\r\n| `a.ts` | x |\r\n* `b.ts` and `c.ts`\r\nprose `d.ts`\r\n"
    assert parse_intent_map(text) == [IntentSection("INT-001", "A: b", ("a.ts", "b.ts", "c.ts"))]


LINES = st.text(st.characters(exclude_characters="\x00\r", exclude_categories=("Cs",)), max_size=30)
TRICKY = st.sampled_from(
    [
        "## Lesson Learned (2026-01-01)",
        "## Constraint (2026-01-01)",
        "**Decision:** z",
        "# x",
        "**File:** x",
        "**Problems:** y",
        "\\## z",
        "",
        "a",
    ]
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # the machine's load, not the data
@given(
    st.lists(st.lists(LINES | TRICKY, min_size=1, max_size=5), max_size=4),
    st.dates(date(1, 1, 1)),
    st.sampled_from(Kept),
)
def test_lessons_come_back_the_same(blocks, day, section):
    texts = [
        text
        for lines in blocks
        if (text := "\n".join(line.rstrip() for line in "\n".join(lines).strip().splitlines()))
    ]
    written = write_lessons([Lesson("id", day, "src/a.ts", text, section=section) for text in texts])
    read = read_lessons(written)
    assert [(one.file, one.learned_on, one.section) for one in read] == [("src/a.ts", day, section)] * len(
        texts
    )
    assert [one.problems for one in read] == texts


def test_each_section_of_agent_md_has_its_heading_and_label():
    day = date(2026, 2, 21)
    kept = [
        Lesson("1", day, "src/a.ts", "error TS2322", section=Kept.LESSON),
        Lesson("2", day, "", "Money is kept in cents.\nNever in floats.", section=Kept.DECISION),
        Lesson("3", day, "src/b.ts", "At most 400 lines.", section=Kept.CONSTRAINT),
    ]
    text = write_lessons(kept)
    assert text == (
        "## Lesson Learned (2026-02-21)\n\n**File:** src/a.ts\n**Problems:**\nerror TS2322\n\n"
        "## Architectural Decision (2026-02-21)\n\n**File:** \n**Decision:**\nMoney is kept in cents.\n"
        "Never in floats.\n\n"
        "## Constraint (2026-02-21)\n\n**File:** src/b.ts\n**Constraint:**\nAt most 400 lines.\n\n"
    )
    read = read_lessons(text)
    assert [(one.section, one.file, one.problems) for one in read] == [
        (one.section, one.file, one.problems) for one in kept
    ]
    assert {one.source for one in read} == {Source.IMPORT}
    assert read_lessons("## Constraint (2026-02-21)\n**Problems:**\nnot its label\n") == []


def test_agent_md_as_people_write_it_is_read():
    text = (
        "# Rules\n\n## Lesson Learned (2026-02-21)\n**File:** a.ts\n**Problems:**\nbad\nworse\n\n"
        "## Lesson Learned (2026-02-30)\n**Problems:**\nno such day\n\n## Lesson Learned (2026-02-22)\n**File:** b.ts\n\n"
        "## Other\n**Problems:**\nnot a lesson\n## Lesson Learned (2026-02-23)\r\n**Problems:** on one line\r\n"
    )
    found = [(one.file, one.problems, one.learned_on.isoformat()) for one in read_lessons(text)]
    assert found == [("a.ts", "bad\nworse", "2026-02-21"), ("", "on one line", "2026-02-23")]
