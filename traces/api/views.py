"""What the REST views of traces share: the base view, filters, formats and report errors."""

from __future__ import annotations

from datetime import datetime

from django.http import HttpResponse
from rest_framework.request import Request

from controlplane.api.errors import ApiError
from controlplane.api.views import WorkspaceView
from traces.entries.filters import TraceFilter
from traces.entry_schema import parse_timestamp
from traces.interchange.imports.report import ImportReport

MARKDOWN = "text/markdown"


class StreamView(WorkspaceView):
    """A view for agents' tokens that may stream its request and its response."""

    required_role = "agent"


def parse_filter(request: Request) -> TraceFilter:
    texts = {name: request.query_params.get(name, "") for name in ("intent", "path", "session")}
    if any("\x00" in text for text in texts.values()):
        raise ApiError(400, "INVALID_INPUT", "A filter holds U+0000.")
    return TraceFilter(**texts, since=parse_time(request, "since"), until=parse_time(request, "until"))


def parse_time(request: Request, name: str) -> datetime | None:
    text = request.query_params.get(name, "").replace(" ", "+")  # a plus sign that was not percent-encoded
    if not text:
        return None
    try:
        return parse_timestamp(text)
    except (ValueError, OverflowError) as error:
        raise ApiError(400, "INVALID_INPUT", f"{name}: {error}.") from error


def report_error(report: ImportReport, status: int | None = None) -> ApiError:
    """Convert a report with errors to an error of the first one's type, with the complete report in it."""
    first = report.errors[0]
    text = f"Line {first.line}: {first.message}" if first.line else first.message
    are_duplicates = all(error.type == "DUPLICATE_ID" for error in report.errors)
    return ApiError(status or (409 if are_duplicates else 400), first.type, text, **report.to_dict())


def choose_format(request: Request, default: str) -> str:
    name = request.query_params.get("format") or default
    if name not in {"markdown", "json"}:
        raise ApiError(400, "INVALID_INPUT", "format must be markdown or json.")
    return name


def markdown_response(text: str, file: str) -> HttpResponse:
    headers = {"Content-Disposition": f'inline; filename="{file}"'}
    return HttpResponse(text.encode(), content_type=f"{MARKDOWN}; charset=utf-8", headers=headers)
