"""Entries as OpenTelemetry logs (OTLP over HTTP, in JSON), with GenAI names where there are any.

No name for approvals or gates is agreed upon yet, so those are `icp.*`; this module is the only place that
knows names. Trace and span ids follow from the session and the call, so that an agent's own spans join.
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

from traces.entries.mutation_class_check import checked_class
from traces.ledger.checkpoints import origin_of
from traces.models import Checkpoint, Kind, Outlet
from traces.outlets.records import Record

INFO, WARN, ERROR = ("INFO", 9), ("WARN", 13), ("ERROR", 17)
SEVERITIES = {"allow": INFO, "ask": WARN, "deny": ERROR, "PENDING": WARN, "REJECTED": ERROR, "EXPIRED": WARN}
APPROVAL_OPENED = "PENDING"


def message(
    outlet: Outlet, records: Sequence[Record], heads: Iterable[Checkpoint]
) -> tuple[bytes, dict[str, str]]:
    """Body and headers of one `ExportLogsServiceRequest`."""
    log = origin_of(outlet.workspace_id)
    told = [_log(record, log) for record in records] + [_head(each, log) for each in heads]
    resource = {"service.name": "intent-control-plane", "server.address": settings.PUBLIC_URL}
    document = {
        "resourceLogs": [
            {
                "resource": {"attributes": _attributes(resource)},
                "scopeLogs": [{"scope": {"name": "icp.ledger"}, "logRecords": told}],
            }
        ]
    }
    headers = {"Content-Type": "application/json", "User-Agent": "intent-control-plane"}
    if outlet.secret:
        headers["Authorization"] = outlet.secret
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode(), headers


def _log(record: Record, log: str) -> dict[str, Any]:
    entry, body = record.entry, record.body or {}
    word, number = SEVERITIES.get(entry.outcome, INFO)
    names = _common(record, log) | _OF_KIND.get(entry.kind, _nothing)(record, body)
    made = {
        "timeUnixNano": _nanoseconds(entry.received_at),
        "observedTimeUnixNano": _nanoseconds(timezone.now()),
        "severityText": word,
        "severityNumber": number,
        "eventName": _event_name(entry.kind, entry.outcome),
        "attributes": _attributes(names),
    }
    if record.whole and record.body is not None:
        made["body"] = {"stringValue": json.dumps(record.body, ensure_ascii=False)}
    if entry.session_id:
        made["traceId"] = trace_id(entry.session_id)
    if body.get("tool_use_id"):
        made["spanId"] = hashlib.sha256(str(body["tool_use_id"]).encode()).hexdigest()[:16]
    return made


def trace_id(session_id: str) -> str:
    """The bytes of a session's UUID; of another name, the first half of its SHA-256. Hex."""
    try:
        return uuid.UUID(session_id).hex
    except ValueError:
        return hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _event_name(kind: str, outcome: str) -> str:
    if kind == Kind.DECISION:
        return "icp.gate.decision"
    if kind == Kind.APPROVAL:
        return f"icp.approval.{'requested' if outcome == APPROVAL_OPENED else 'decided'}"
    return f"icp.{kind}.recorded"


def _common(record: Record, log: str) -> dict[str, Any]:
    entry = record.entry
    return {
        "icp.ledger.log": log,
        "icp.ledger.seq": record.seq,
        "icp.ledger.leaf_hash": bytes(entry.leaf_hash).hex(),
        "icp.entry.id": entry.entry_id,
        "icp.entry.outcome": entry.outcome,
        "icp.intent.id": entry.intent_id,
        "gen_ai.conversation.id": entry.session_id,
        "gen_ai.agent.name": entry.agent if entry.kind != Kind.TRACE else "",
        "error.type": entry.error_type,
    }


def _decision(record: Record, body: Mapping[str, Any]) -> dict[str, Any]:
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


def _approval(record: Record, body: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "gen_ai.tool.name": record.entry.tool,
        "icp.approval.id": body.get("approval_id"),
        "icp.approval.status": record.entry.outcome.lower(),
        "icp.approval.grant": body.get("grant"),
        "icp.targets": body.get("targets"),
        "user.id": pseudonym(body.get("decider")),
    }


def _trace(record: Record, body: Mapping[str, Any]) -> dict[str, Any]:
    files = body.get("files") or []
    first = files[0]["relative_path"] if files else None
    checked = {f"icp.{name}": value for name, value in checked_class(record.entry).items()}
    return {
        "gen_ai.request.model": record.entry.agent,
        "code.file.path": first,
        "icp.files": [file["relative_path"] for file in files],
        "icp.mutation_class": record.entry.outcome,
        "vcs.ref.head.revision": (body.get("vcs") or {}).get("revision_id"),
    } | checked


def _nothing(_record: Record, _body: Mapping[str, Any]) -> dict[str, Any]:
    return {}


_OF_KIND: dict[str, Callable[[Record, Mapping[str, Any]], dict[str, Any]]] = {
    Kind.DECISION: _decision,
    Kind.APPROVAL: _approval,
    Kind.TRACE: _trace,
}


def pseudonym(person: Any) -> str:
    """A name that stays the same for a person here and says nothing elsewhere."""
    return salted_hmac("icp.otlp.user", str(person), algorithm="sha256").hexdigest()[:16] if person else ""


def _head(head: Checkpoint, log: str) -> dict[str, Any]:
    names = {
        "icp.ledger.log": log,
        "icp.ledger.size": head.size,
        "icp.ledger.root_hash": bytes(head.root).hex(),
        "icp.ledger.checkpoint": head.note,
    }
    return {
        "timeUnixNano": _nanoseconds(head.created_at),
        "observedTimeUnixNano": _nanoseconds(timezone.now()),
        "severityText": INFO[0],
        "severityNumber": INFO[1],
        "eventName": "icp.ledger.checkpoint",
        "attributes": _attributes(names),
    }


def _attributes(named: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {"key": key, "value": _value(value)} for key, value in named.items() if value not in (None, "", [])
    ]


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}  # 64 bits are text in the JSON of protocol buffers
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(item) for item in value]}}
    return {"stringValue": str(value)}


def _nanoseconds(moment: datetime) -> str:
    return f"{int(moment.timestamp() * 1_000_000)}000"
