"""In, out and in again: every real ledger, and the examples of the Agent Trace specification."""

from __future__ import annotations

import copy
import io
import json

import jsonschema
import pytest

from tests.traces.builders import AWAY, HOME
from tests.traces.data import DATA
from tests.traces.interchange.formats.record_schema import RECORD
from traces.entries.filters import TraceFilter, filter_traces
from traces.interchange.export import stream_agent_trace, stream_orchestration
from traces.interchange.imports.import_file import TraceImportOptions, import_file
from traces.models import EntryKind, LedgerEntry

pytestmark = pytest.mark.django_db

REAL = sorted((DATA / "real").glob("*.jsonl"))
EXAMPLES = [json.loads(line) for line in (DATA / "agent_trace" / "examples.jsonl").read_bytes().splitlines()]


def readme_rules():
    """The rules as the specification's text gives them: the strict ones, with unknown fields and bare tools."""
    rules = copy.deepcopy(RECORD)

    def loosen(part):
        if isinstance(part, dict):
            part.pop("additionalProperties", None)
        for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
            loosen(inner)

    loosen(rules)
    rules["properties"]["tool"].pop("required")
    rules["properties"]["timestamp"] = {"type": "string", "format": "date-time"}
    return rules


def bring(raw, workspace_id, **how):
    return import_file(io.BytesIO(raw).read, TraceImportOptions(workspace_id, "token:1:Ada", **how))


def out(workspace_id, form):
    rows = filter_traces(workspace_id, TraceFilter())
    lines = stream_orchestration(rows) if form == "orchestration" else stream_agent_trace(rows, workspace_id)
    return b"".join(lines)


def stored(workspace_id):
    rows = LedgerEntry.objects.filter(workspace_id=workspace_id, kind=EntryKind.TRACE).select_related("body")
    return [bytes(row.body.body) for row in rows.order_by("pk")]


@pytest.mark.deep
@pytest.mark.parametrize("form", ["orchestration", "agent-trace"])
@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_a_real_ledger_goes_in_out_and_in_the_same(path, form):
    bring(path.read_bytes(), HOME, lenient=True)
    written = out(HOME, form)
    if form == "agent-trace":
        for line in written.splitlines():
            jsonschema.validate(json.loads(line), RECORD)
            jsonschema.validate(json.loads(line), readme_rules())
    report = bring(written, AWAY)
    assert report.is_valid
    if path.name.startswith("08-"):
        assert (report.foreign_chain["links"], report.foreign_chain["verified"]) == (18, 18)
    assert report.warnings == []
    assert stored(AWAY) == stored(HOME)
    assert out(AWAY, "orchestration") == out(HOME, "orchestration")


@pytest.mark.parametrize("record", EXAMPLES)
def test_the_examples_of_the_specification_go_in_and_out_valid(record):
    for rules in (RECORD, readme_rules()):
        jsonschema.validate(record, rules)
    assert bring(json.dumps(record).encode(), HOME).entries == 1
    written = out(HOME, "agent-trace")
    assert json.loads(written) == record
    bring(written, AWAY)
    assert stored(AWAY) == stored(HOME)


def test_both_readings_of_the_specification_refuse_what_they_must():
    bare = {**EXAMPLES[0], "tool": {"name": "cursor"}, "more": 1}
    jsonschema.validate(bare, readme_rules())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(bare, RECORD)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**EXAMPLES[0], "files": [{"path": "a"}]}, readme_rules())
