"""REST for trace entries: list them, record new ones."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api.pagination import PAGE_PARAMETERS, paginate
from controlplane.api.raw_body import JSON_TYPE, read_body
from traces.api import schema
from traces.api.views import StreamView, parse_filter, report_error
from traces.entries.filters import filter_traces
from traces.entries.mutation_class_check import has_class_mismatch, read_computed_class
from traces.entries.render import RenderedEntry, render_entries
from traces.interchange.post_entries import post_entries
from traces.ledger import checkpoints
from traces.ledger.append import AppendedEntry
from traces.models import LedgerEntry, LedgerLeaf


class TracesView(StreamView):
    @extend_schema(
        operation_id="traces_list", summary="List trace entries, newest first",
        parameters=[*schema.FILTERS, *PAGE_PARAMETERS], responses=schema.answers({200: schema.TracePage}),
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        page = paginate(filter_traces(self.bearer.workspace_id, parse_filter(request)), request)
        return Response(page | {"results": [to_answer(entry) for entry in render_entries(page["results"])]})

    @extend_schema(
        operation_id="traces_post", summary="Record whole trace entries, all or nothing",
        description="An entry, a list of entries, or one entry a line. Idempotent by `id`.",
        request={JSON_TYPE: schema.EntryBody(many=True), **schema.FILE_REQUEST},
        examples=[schema.EXAMPLE_ENTRY],
        responses=schema.answers({200: schema.PostedAnswer, 201: schema.PostedAnswer}, 409, 413, 415),
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        raw = read_body(request, schema.ENTRY_TYPES)
        workspace_id = self.bearer.workspace_id
        report, appended = post_entries(workspace_id, raw, self.actor)
        if not report.is_valid:
            raise report_error(report)
        receipts = [_build_receipt(workspace_id, entry) for entry in appended]
        return Response(report.to_dict() | {"results": receipts}, status=201 if appended else 200)


def to_answer(rendered: RenderedEntry) -> dict[str, Any]:
    """Return the entry as recorded, with its position in the ledger. 0 queries when both were fetched."""
    row, missing = rendered.entry, rendered.missing
    leaf = _get_leaf(row)
    ledger_fields = {
        "status": "sealed" if leaf else "pending",
        "seq": leaf.seq if leaf else None,
        "leaf_hash": bytes(row.leaf_hash).hex(),
        "received_at": row.received_at,
        "session_id": row.session_id,
        "intent_id": row.intent_id,
        "redacted": missing is not None and not missing.archived,
        "archived_in": missing.file if missing and missing.archived else None,
        "computed_mutation_class": read_computed_class(row) or None,
        "class_disagrees": has_class_mismatch(row),
    }
    return (rendered.value or {"id": row.entry_id}) | {"ledger": ledger_fields}


def _get_leaf(row: LedgerEntry) -> LedgerLeaf | None:
    try:
        return row.leaf
    except LedgerLeaf.DoesNotExist:
        return None


def _build_receipt(workspace_id: int, appended: AppendedEntry) -> dict[str, Any]:
    return {
        "id": appended.entry_id,
        "status": "pending",
        "leaf_hash": appended.leaf_hash.hex(),
        "received_at": appended.received_at,
        "receipt": checkpoints.sign_receipt(workspace_id, appended.leaf_hash, appended.received_at),
    }
