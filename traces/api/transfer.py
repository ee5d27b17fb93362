"""REST for whole ledger files of trace entries: import and export."""

from __future__ import annotations

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api.errors import ApiError
from controlplane.api.pagination import read_boolean
from controlplane.api.raw_body import JSON_TYPE, open_body
from traces.api import schema
from traces.api.views import StreamView, parse_filter, report_error
from traces.entries.filters import filter_traces
from traces.entries.mutation_class_check import RESERVED_REASONS
from traces.interchange.export import stream_agent_trace, stream_orchestration
from traces.interchange.imports.import_file import TraceImportOptions, import_file
from traces.interchange.imports.rewrite_check import DEFAULT_SOURCE, MAX_SOURCE_LENGTH

FORMATS = {"orchestration": "agent_trace.jsonl", "agent-trace": "traces.jsonl"}


class TraceImportView(StreamView):
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
        options = TraceImportOptions(
            self.bearer.workspace_id,
            self.actor,
            lenient=read_boolean(request, "lenient"),
            dry_run=read_boolean(request, "dry_run"),
            source=_source_param(request),
        )
        report = import_file(open_body(request, schema.ENTRY_TYPES), options)
        if not report.is_valid:
            raise report_error(report, status=400)
        return Response(report.to_dict())


class TraceExportView(StreamView):
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
        rows = filter_traces(workspace_id, parse_filter(request))
        lines = (
            stream_orchestration(rows) if name == "orchestration" else stream_agent_trace(rows, workspace_id)
        )
        headers = {"Content-Disposition": f'attachment; filename="{FORMATS[name]}"'}
        return StreamingHttpResponse(lines, content_type="application/jsonl", headers=headers)


def _source_param(request: Request) -> str:
    name = request.query_params.get("source") or DEFAULT_SOURCE
    if len(name) > MAX_SOURCE_LENGTH or not name.isprintable():
        raise ApiError(400, "INVALID_INPUT", f"source has at most {MAX_SOURCE_LENGTH} printable characters.")
    if name in RESERVED_REASONS:
        raise ApiError(400, "INVALID_INPUT", f"source: {name} is a word of the ledger's own; choose another.")
    return name
