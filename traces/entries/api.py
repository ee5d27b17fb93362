"""REST for trace entries and the intent map. Each view parses, calls one function, answers."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api.errors import ApiError
from controlplane.api.pages import PAGE_PARAMETERS, flag, page_of
from controlplane.api.raw_body import JSON_TYPE, open_body, read_body
from controlplane.api.views import WorkspaceView
from traces.entries import api_schema as schema
from traces.entries.filters import TraceFilter, traces_of
from traces.entries.missing_bodies import Told, told
from traces.entries.mutation_class_check import RESERVED, computed_class, disagrees
from traces.entry_schema import moment_of
from traces.filemap.touches import build_map_sections
from traces.interchange.export import stream_agent_trace, stream_orchestration
from traces.interchange.formats.intent_map import render_intent_map
from traces.interchange.imports.import_file import ImportOptions, import_file
from traces.interchange.imports.report import ImportReport
from traces.interchange.imports.rewrite_check import DEFAULT_SOURCE, MAX_SOURCE_LENGTH
from traces.interchange.post_entries import post_entries
from traces.ledger import checkpoints
from traces.ledger.append import Appended
from traces.models import LedgerEntry, LedgerLeaf

MARKDOWN = "text/markdown"
FORMATS = {"orchestration": "agent_trace.jsonl", "agent-trace": "traces.jsonl"}


class StreamView(WorkspaceView):
    """Bodies are read by the view, answers are what the view gives."""

    required_role = "agent"


class TracesView(StreamView):
    @extend_schema(
        operation_id="traces_list", summary="List trace entries, newest first",
        parameters=[*schema.FILTERS, *PAGE_PARAMETERS], responses=schema.answers({200: schema.TracePage}),
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        page = page_of(traces_of(self.bearer.workspace_id, _filter(request)), request)
        return Response(page | {"results": [trace_answer(one) for one in told(page["results"])]})

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
        report, made = post_entries(workspace_id, raw, self.actor)
        if not report.is_valid:
            raise _refusal(report)
        receipts = [_receipt(workspace_id, one) for one in made]
        return Response(report.to_dict() | {"results": receipts}, status=201 if made else 200)


class ImportView(StreamView):
    @extend_schema(
        operation_id="traces_import", summary="Bring a whole ledger file in",
        description=(
            "agent_trace.jsonl or Agent Trace records. Strict unless lenient: all or nothing, "
            "only a torn last line is set aside."
        ),
        parameters=[schema.LENIENT, schema.DRY_RUN, schema.SOURCE],
        request={JSON_TYPE: OpenApiTypes.OBJECT, **schema.FILE_REQUEST},
        responses=schema.answers({200: schema.TraceReport}, 413, 415),
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        how = ImportOptions(
            self.bearer.workspace_id,
            self.actor,
            lenient=flag(request, "lenient"),
            dry_run=flag(request, "dry_run"),
            source=_source(request),
        )
        report = import_file(open_body(request, schema.ENTRY_TYPES), how)
        if not report.is_valid:
            raise _refusal(report, status=400)
        return Response(report.to_dict())


class ExportView(StreamView):
    @extend_schema(
        operation_id="traces_export", summary="Trace entries as a file, oldest first",
        parameters=[schema.EXPORT_FORMAT, *schema.FILTERS],
        responses=schema.answers({(200, "application/jsonl"): OpenApiTypes.STR}),
    )  # fmt: skip
    def get(self, request: Request) -> StreamingHttpResponse:
        name = request.query_params.get("format") or "orchestration"
        if name not in FORMATS:
            raise ApiError(400, "INVALID_INPUT", f"format must be one of {', '.join(FORMATS)}.")
        workspace_id = self.bearer.workspace_id
        rows = traces_of(workspace_id, _filter(request))
        lines = (
            stream_orchestration(rows) if name == "orchestration" else stream_agent_trace(rows, workspace_id)
        )
        headers = {"Content-Disposition": f'attachment; filename="{FORMATS[name]}"'}
        return StreamingHttpResponse(lines, content_type="application/jsonl", headers=headers)


class IntentMapView(StreamView):
    @extend_schema(
        operation_id="intent_map_get", summary="Which files each intent has evolved",
        description="`intent_map.md`, from mutations of class INTENT_EVOLUTION.",
        parameters=[schema.MAP_FORMAT],
        responses=schema.answers({(200, MARKDOWN): OpenApiTypes.STR, (200, JSON_TYPE): schema.MapAnswer}),
    )  # fmt: skip
    def get(self, request: Request) -> HttpResponse:
        sections = build_map_sections(self.bearer.workspace_id)
        if format_of(request, "markdown") == "markdown":
            return markdown_file(render_intent_map(sections), "intent_map.md")
        found = [{"intent_id": one.intent_id, "name": one.name, "files": list(one.paths)} for one in sections]
        return Response({"intents": found})


def trace_answer(one: Told) -> dict[str, Any]:
    """The entry as it was recorded and its place in the ledger. 0 queries when both were fetched along."""
    row, absence = one.entry, one.absence
    leaf = _leaf(row)
    place = {
        "status": "sealed" if leaf else "pending",
        "seq": leaf.seq if leaf else None,
        "leaf_hash": bytes(row.leaf_hash).hex(),
        "received_at": row.received_at,
        "session_id": row.session_id,
        "intent_id": row.intent_id,
        "redacted": absence is not None and not absence.archived,
        "archived_in": absence.file if absence and absence.archived else None,
        "computed_mutation_class": computed_class(row) or None,
        "class_disagrees": disagrees(row),
    }
    return (one.value or {"id": row.entry_id}) | {"ledger": place}


def _leaf(row: LedgerEntry) -> LedgerLeaf | None:
    try:
        return row.leaf
    except LedgerLeaf.DoesNotExist:
        return None


def _receipt(workspace_id: int, one: Appended) -> dict[str, Any]:
    return {
        "id": one.entry_id,
        "status": "pending",
        "leaf_hash": one.leaf_hash.hex(),
        "received_at": one.received_at,
        "receipt": checkpoints.receipt(workspace_id, one.leaf_hash, one.received_at),
    }


def _refusal(report: ImportReport, status: int | None = None) -> ApiError:
    """A report with errors as an error: its type is the first one's, and the whole report comes along."""
    first = report.errors[0]
    text = f"Line {first.line}: {first.message}" if first.line else first.message
    known = all(error.type == "DUPLICATE_ID" for error in report.errors)
    return ApiError(status or (409 if known else 400), first.type, text, **report.to_dict())


def _filter(request: Request) -> TraceFilter:
    texts = {name: request.query_params.get(name, "") for name in ("intent", "path", "session")}
    if any("\x00" in text for text in texts.values()):
        raise ApiError(400, "INVALID_INPUT", "A filter holds U+0000.")
    return TraceFilter(**texts, since=_moment(request, "since"), until=_moment(request, "until"))


def _source(request: Request) -> str:
    name = request.query_params.get("source") or DEFAULT_SOURCE
    if len(name) > MAX_SOURCE_LENGTH or not name.isprintable():
        raise ApiError(400, "INVALID_INPUT", f"source has at most {MAX_SOURCE_LENGTH} printable characters.")
    if name in RESERVED:
        raise ApiError(400, "INVALID_INPUT", f"source: {name} is a word of the ledger's own; choose another.")
    return name


def _moment(request: Request, name: str) -> datetime | None:
    text = request.query_params.get(name, "").replace(" ", "+")  # a plus sign that was not percent-encoded
    if not text:
        return None
    try:
        return moment_of(text)
    except (ValueError, OverflowError) as error:
        raise ApiError(400, "INVALID_INPUT", f"{name}: {error}.") from error


def format_of(request: Request, default: str) -> str:
    name = request.query_params.get("format") or default
    if name not in {"markdown", "json"}:
        raise ApiError(400, "INVALID_INPUT", "format must be markdown or json.")
    return name


def markdown_file(text: str, file: str) -> HttpResponse:
    headers = {"Content-Disposition": f'inline; filename="{file}"'}
    return HttpResponse(text.encode(), content_type=f"{MARKDOWN}; charset=utf-8", headers=headers)
