"""Logs for a collector, read back with OpenTelemetry's own message definitions."""

from __future__ import annotations

import base64
import uuid

import pytest
from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from tests.traces.builders import HOME, append, decision
from traces.ledger.proofs import find_head
from traces.ledger.sealing import seal
from traces.outlets import otlp
from traces.outlets.delivery import deliver_all
from traces.outlets.manage import OutletSettings, add_outlet

pytestmark = pytest.mark.django_db

SESSION = "0198c0de-0000-7000-8000-000000000001"
REFUSED = decision(
    session_id=SESSION,
    intent_id="INT-001",
    outcome="deny",
    agent="claude-code",
    tool="Write",
    error_type="SCOPE_VIOLATION",
    reason="not_in_scope",
    body={"tool_use_id": "toolu_1", "targets": ["docs/a.md"], "revisions": [4, 2], "input": {"content": "x"}},
)


def collector(receiver, **more):
    wanted = OutletSettings("otlp", receiver.url, header="Bearer of-the-collector", from_start=True, **more)
    return add_outlet(HOME, wanted, actor="person:1:Ada")


def logs(receiver):
    """All records that came, by event name, as OpenTelemetry understands them."""
    found = {}
    for body in receiver.bodies():
        request = json_format.Parse(body, ExportLogsServiceRequest())
        for resource in request.resource_logs:
            for record in resource.scope_logs[0].log_records:
                found.setdefault(record.event_name, []).append(record)
    return found


def named(record):
    return {one.key: json_format.MessageToDict(one.value) for one in record.attributes}


def test_a_refusal_is_an_error_with_the_names_of_the_conventions(receiver):
    append(REFUSED)
    collector(receiver)
    seal(HOME)
    deliver_all()
    (record,) = logs(receiver)["icp.gate.decision"]
    assert (record.severity_text, record.severity_number) == ("ERROR", 17)
    # OTLP's JSON has ids in hex where protocol buffers' own has base64, which is how they were read here.
    assert base64.b64encode(record.trace_id).decode() == uuid.UUID(SESSION).hex
    assert len(base64.b64encode(record.span_id)) == 16
    assert not record.HasField("body")
    names = named(record)
    assert names["gen_ai.tool.name"] == {"stringValue": "Write"}
    assert names["gen_ai.conversation.id"] == {"stringValue": SESSION}
    assert names["error.type"] == {"stringValue": "SCOPE_VIOLATION"}
    assert names["security_rule.name"] == {"stringValue": "not_in_scope"}
    assert names["security_rule.version"] == {"stringValue": "4.2"}
    assert names["icp.targets"] == {"arrayValue": {"values": [{"stringValue": "docs/a.md"}]}}
    assert names["icp.ledger.seq"] == {"intValue": "0"}
    assert receiver.posts[0][1]["authorization"] == "Bearer of-the-collector"


def test_contents_are_a_body_only_on_request(receiver):
    append(REFUSED)
    collector(receiver, include_bodies=True)
    seal(HOME)
    deliver_all()
    (record,) = logs(receiver)["icp.gate.decision"]
    assert '"content": "x"' in record.body.string_value


@pytest.mark.parametrize(("outcome", "number"), [("allow", 9), ("ask", 13), ("deny", 17)])
def test_severity_follows_the_answer(receiver, outcome, number):
    append(decision(outcome=outcome))
    collector(receiver)
    seal(HOME)
    deliver_all()
    assert logs(receiver)["icp.gate.decision"][0].severity_number == number


def test_approvals_name_their_approver_by_a_pseudonym(receiver):
    append(decision(kind="approval", outcome="PENDING", body={"approval_id": "a1"}))
    append(decision(kind="approval", outcome="APPROVED", body={"approval_id": "a1", "decider": "Rex"}))
    collector(receiver)
    seal(HOME)
    deliver_all()
    found = logs(receiver)
    assert named(found["icp.approval.requested"][0])["icp.approval.status"] == {"stringValue": "pending"}
    names = named(found["icp.approval.decided"][0])
    assert names["user.id"] == {"stringValue": otlp.compute_pseudonym("Rex")}
    assert "Rex" not in str(names)


def test_changes_name_their_files_and_revision(receiver):
    files = [{"relative_path": "src/a.py"}, {"relative_path": "src/b.py"}]
    body = {"files": files, "vcs": {"revision_id": "abc"}}
    append(decision(kind="trace", outcome="AST_REFACTOR", agent="some-model", body=body))
    collector(receiver)
    seal(HOME)
    deliver_all()
    names = named(logs(receiver)["icp.trace.recorded"][0])
    assert names["code.file.path"] == {"stringValue": "src/a.py"}
    assert len(names["icp.files"]["arrayValue"]["values"]) == 2
    assert names["vcs.ref.head.revision"] == {"stringValue": "abc"}
    assert names["gen_ai.request.model"] == {"stringValue": "some-model"}


@pytest.mark.parametrize(
    ("claimed", "reason", "told"),
    [
        ("AST_REFACTOR", "class_disagrees", ("INTENT_EVOLUTION", True)),
        ("AST_REFACTOR", "class_agrees", ("AST_REFACTOR", False)),
        ("", "evolution_unclaimed", ("INTENT_EVOLUTION", False)),
        ("AST_REFACTOR", "", None),
    ],
)
def test_changes_tell_the_computed_class_and_whether_it_disagrees(receiver, claimed, reason, told):
    made_up = {"files": [], "computed_mutation_class": "MADE_UP"}  # whoever posts whole entries may say so
    append(decision(kind="trace", outcome=claimed, reason=reason, body=made_up))
    collector(receiver)
    seal(HOME)
    deliver_all()
    names = named(logs(receiver)["icp.trace.recorded"][0])
    found = names.get("icp.computed_mutation_class"), names.get("icp.class_disagrees")
    assert found == (({"stringValue": told[0]}, {"boolValue": told[1]}) if told else (None, None))


def test_each_signed_head_is_told_once(receiver):
    collector(receiver)
    seal(HOME)
    deliver_all()
    append()
    seal(HOME)
    deliver_all()
    sizes = [
        named(record)["icp.ledger.size"]["intValue"] for record in logs(receiver)["icp.ledger.checkpoint"]
    ]
    assert sizes == ["1", "2"]
    last = logs(receiver)["icp.ledger.checkpoint"][-1]
    assert named(last)["icp.ledger.root_hash"] == {"stringValue": bytes(find_head(HOME).root).hex()}


def test_a_session_that_is_no_uuid_has_a_trace_all_the_same():
    assert otlp.compute_trace_id("my session") == otlp.compute_trace_id("my session")
    assert len(bytes.fromhex(otlp.compute_trace_id("my session"))) == 16
