"""Encode entries as OpenTelemetry logs (OTLP over HTTP, JSON), with GenAI names where they exist.

There are no agreed names for approvals or gates yet, so those are `icp.*`; only this module knows names.
Trace and span ids derive from the session and the call, so that an agent's own spans join.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.utils import timezone
from django.utils.crypto import salted_hmac

from traces.entries.mutation_class_check import describe_class_check
from traces.ledger.log_name import log_origin
from traces.models import Checkpoint, EntryKind, Outlet
from traces.outlets.records import OutletRecord

INFO, WARN, ERROR = ("INFO", 9), ("WARN", 13), ("ERROR", 17)
SEVERITIES = {
    "allow": INFO, "ask": WARN, "deny": ERROR, "PENDING": WARN, "REJECTED": ERROR,
    "EXPIRED": WARN, "alert": WARN,
}  # fmt: skip
APPROVAL_OPENED = "PENDING"


def build_message(
    outlet: Outlet, records: Sequence[OutletRecord], checkpoints: Iterable[Checkpoint]
) -> tuple[bytes, dict[str, str]]:
    """Return body and headers of one `ExportLogsServiceRequest`."""
    log = log_origin(outlet.workspace_id)
    log_records = [_build_log_record(record, log) for record in records] + [
        _build_checkpoint_record(checkpoint, log) for checkpoint in checkpoints
    ]
    resource = {"service.name": "intent-control-plane", "server.address": settings.PUBLIC_URL}
    document = {
        "resourceLogs": [
            {
                "resource": {"attributes": _encode_attributes(resource)},
                "scopeLogs": [{"scope": {"name": "icp.ledger"}, "logRecords": log_records}],
            }
        ]
    }
    headers = {"Content-Type": "application/json", "User-Agent": "intent-control-plane"}
    if outlet.secret:
        headers["Authorization"] = outlet.secret
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode(), headers


def _build_log_record(record: OutletRecord, log: str) -> dict[str, Any]:
    entry, body = record.entry, record.body or {}
    severity, number = SEVERITIES.get(entry.outcome, INFO)
    attributes = _common_attributes(record, log) | _ATTRIBUTES_BY_KIND.get(entry.kind, _no_attributes)(
        record, body
    )
    log_record = {
        "timeUnixNano": _to_nanoseconds(entry.received_at),
        "observedTimeUnixNano": _to_nanoseconds(timezone.now()),
        "severityText": severity,
        "severityNumber": number,
        "eventName": _event_name(entry.kind, entry.outcome),
        "attributes": _encode_attributes(attributes),
    }
    if record.include_body and record.body is not None:
        log_record["body"] = {"stringValue": json.dumps(record.body, ensure_ascii=False)}
    if entry.session_id:
        log_record["traceId"] = compute_trace_id(entry.session_id)
    if body.get("tool_use_id"):
        log_record["spanId"] = hashlib.sha256(str(body["tool_use_id"]).encode()).hexdigest()[:16]
    return log_record


def compute_trace_id(session_id: str) -> str:
    """Return the bytes of a session's UUID, or the first half of the SHA-256 of any other name, in hex."""
    try:
        return uuid.UUID(session_id).hex
    except ValueError:
        return hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _event_name(kind: str, outcome: str) -> str:
    if kind == EntryKind.DECISION:
        return "icp.gate.decision"
    if kind == EntryKind.APPROVAL:
        return f"icp.approval.{'requested' if outcome == APPROVAL_OPENED else 'decided'}"
    return f"icp.{kind}.recorded"


def _common_attributes(record: OutletRecord, log: str) -> dict[str, Any]:
    entry = record.entry
    return {
        "icp.ledger.log": log,
        "icp.ledger.seq": record.seq,
        "icp.ledger.leaf_hash": bytes(entry.leaf_hash).hex(),
        "icp.entry.id": entry.entry_id,
        "icp.entry.outcome": entry.outcome,
        "icp.intent.id": entry.intent_id,
        "gen_ai.conversation.id": entry.session_id,
        "gen_ai.agent.name": entry.agent if entry.kind != EntryKind.TRACE else "",
        "error.type": entry.error_type,
    }


def _decision_attributes(record: OutletRecord, body: Mapping[str, Any]) -> dict[str, Any]:
    revisions = body.get("revisions") or []
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": record.entry.tool,
        "gen_ai.tool.call.id": body.get("tool_use_id"),
        "icp.decision": record.entry.outcome,
        "icp.classification": body.get("classification"),
        "icp.targets": body.get("targets"),
        "security_rule.name": record.entry.reason,
        "security_rule.ruleset.name": "workspace",
        "security_rule.version": ".".join(map(str, revisions)),
    }


def _approval_attributes(record: OutletRecord, body: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "gen_ai.tool.name": record.entry.tool,
        "icp.approval.id": body.get("approval_id"),
        "icp.approval.status": record.entry.outcome.lower(),
        "icp.approval.grant": body.get("grant"),
        "icp.targets": body.get("targets"),
        "user.id": compute_pseudonym(body.get("decider")),
    }


def _trace_attributes(record: OutletRecord, body: Mapping[str, Any]) -> dict[str, Any]:
    files = body.get("files") or []
    first_path = files[0]["relative_path"] if files else None
    checked = {f"icp.{name}": value for name, value in describe_class_check(record.entry).items()}
    return {
        "gen_ai.request.model": record.entry.agent,
        "code.file.path": first_path,
        "icp.files": [file["relative_path"] for file in files],
        "icp.mutation_class": record.entry.outcome,
        "vcs.ref.head.revision": (body.get("vcs") or {}).get("revision_id"),
    } | checked


def _no_attributes(_record: OutletRecord, _body: Mapping[str, Any]) -> dict[str, Any]:
    return {}


_ATTRIBUTES_BY_KIND: dict[str, Callable[[OutletRecord, Mapping[str, Any]], dict[str, Any]]] = {
    EntryKind.DECISION: _decision_attributes,
    EntryKind.APPROVAL: _approval_attributes,
    EntryKind.TRACE: _trace_attributes,
}


def compute_pseudonym(person: Any) -> str:
    """Return a stable name for a person that means nothing outside of this installation."""
    return salted_hmac("icp.otlp.user", str(person), algorithm="sha256").hexdigest()[:16] if person else ""


def _build_checkpoint_record(checkpoint: Checkpoint, log: str) -> dict[str, Any]:
    attributes = {
        "icp.ledger.log": log,
        "icp.ledger.size": checkpoint.size,
        "icp.ledger.root_hash": bytes(checkpoint.root).hex(),
        "icp.ledger.checkpoint": checkpoint.note,
    }
    return {
        "timeUnixNano": _to_nanoseconds(checkpoint.created_at),
        "observedTimeUnixNano": _to_nanoseconds(timezone.now()),
        "severityText": INFO[0],
        "severityNumber": INFO[1],
        "eventName": "icp.ledger.checkpoint",
        "attributes": _encode_attributes(attributes),
    }


def _encode_attributes(attributes: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {"key": key, "value": _encode_value(value)}
        for key, value in attributes.items()
        if value not in (None, "", [])
    ]


def _encode_value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}  # protobuf encodes 64-bit integers as strings in JSON
    if isinstance(value, list):
        return {"arrayValue": {"values": [_encode_value(item) for item in value]}}
    return {"stringValue": str(value)}


def _to_nanoseconds(time: datetime) -> str:
    return f"{int(time.timestamp() * 1_000_000)}000"
