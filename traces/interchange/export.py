"""Stream trace entries in the order of the ledger, one per line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from django.db.models import QuerySet

from traces.entries.render import render_entries
from traces.interchange.formats.agent_trace import to_record
from traces.ledger.log_name import log_origin
from traces.models import LedgerEntry

CHUNK_SIZE = 500
# The field order of existing agent_trace.jsonl files; other fields follow alphabetically. Hash chains of
# other tools depend on it: an exported ledger must verify like the imported one.
FIELD_ORDER = (
    "id",
    "timestamp",
    "vcs",
    "files",
    "relative_path",
    "ast_fingerprint",
    "conversations",
    "url",
    "contributor",
    "entity_type",
    "model_identifier",
    "ranges",
    "start_line",
    "end_line",
    "content_hash",
    "related",
    "type",
    "value",
)
_FIELD_RANKS = {name: rank for rank, name in enumerate(FIELD_ORDER)}


def stream_orchestration(rows: QuerySet[LedgerEntry]) -> Iterator[bytes]:
    """Yield agent_trace.jsonl: every entry as it was recorded."""
    return _stream(rows, _order_fields)


def stream_agent_trace(rows: QuerySet[LedgerEntry], workspace_id: int) -> Iterator[bytes]:
    """Yield Agent Trace 0.1.0, one record per line."""
    log = log_origin(workspace_id)
    return _stream(rows, lambda entry: to_record(entry, log))


def _stream(rows: QuerySet[LedgerEntry], convert: Callable[[dict[str, Any]], Any]) -> Iterator[bytes]:
    """Skip redacted entries; their records of redaction stay in the ledger.

    Of an archived entry the summary is written, with `archived` saying where the rest is.
    """
    for entry in render_entries(rows.order_by("pk").iterator(chunk_size=CHUNK_SIZE)):
        if entry.value is not None:
            yield encode_json_line(convert(entry.value))


def encode_json_line(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _order_fields(value: Any) -> Any:
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: (_FIELD_RANKS.get(name, len(FIELD_ORDER)), name))
        return {name: _order_fields(value[name]) for name in names}
    return [_order_fields(item) for item in value] if isinstance(value, list) else value
