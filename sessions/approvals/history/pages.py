"""Serve the history of approvals, its export, and how reviewers decide."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from django.db.models import QuerySet
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from controlplane.models import Role
from controlplane.shared.access import MemberRequest, display_name, member_page
from sessions.approvals.history.export import stream_history_csv, stream_history_json_lines
from sessions.approvals.history.filters import RANGES, HistoryFilters, parse_history_filters
from sessions.approvals.history.reviewers import compute_reviewer_figures
from sessions.approvals.history.rows import build_history_facets, list_tokens, load_history_page
from sessions.models import Approval
from traces.cursors import cursor_in

RANGE_LABELS = {"24h": _("24 h"), "7d": _("7 days"), "30d": _("30 days"), "all": _("All")}
Writer = Callable[[QuerySet[Approval]], Iterator[bytes]]
WRITERS: Mapping[str, tuple[Writer, str]] = {
    "csv": (stream_history_csv, "text/csv; charset=utf-8"),
    "jsonl": (stream_history_json_lines, "application/jsonl"),
}


@require_safe
@never_cache
@member_page()
def history(request: MemberRequest) -> HttpResponse:
    """List ended approvals, newest first, with facets. 10 queries beside the frame's."""
    filters, now = parse_history_filters(request.GET), timezone.now()
    matching, own_name = filters.apply(request.workspace.pk, now), _get_own_name(request)
    page = load_history_page(matching, request.user, before=cursor_in(request, "before"))
    figures = compute_reviewer_figures(matching, own_name=own_name)
    is_first = "before" not in request.GET
    context = {
        "rows": page.rows,
        "total": page.total,
        "q": filters.text,
        "hidden": {**filters.values, "range": filters.range}.items(),
        "tokens": list(list_tokens(filters)),
        "filter_errors": filters.errors,
        "ranges": _list_ranges(filters),
        "facets": build_history_facets(filters, request.workspace.pk, now, own_name=own_name),
        "figures": figures,
        "is_own": own_name is not None,
        "exports": [(name, filters.to_query(format=name)) for name in WRITERS],
        "older_url": filters.to_query(before=str(page.older)) if page.older else None,
        "newer_url": None if is_first else filters.to_query(),
        "clear_url": reverse("approvals:history", args=[request.workspace.slug]),
    }
    return render(request, "approvals/history/history.html", context)


@require_safe
@member_page()
def history_export(request: MemberRequest) -> HttpResponseBase:
    """Stream what the filters select; `format` is csv or jsonl."""
    file_format = request.GET.get("format", "csv")
    if file_format not in WRITERS:
        raise Http404
    write, content_type = WRITERS[file_format]
    matching = parse_history_filters(request.GET).apply(request.workspace.pk, timezone.now())
    response = StreamingHttpResponse(write(matching), content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="approvals.{file_format}"'
    return response


def _get_own_name(request: MemberRequest) -> str | None:
    """Return the reader's name where they may see only their own figures: reviewers do not rank others."""
    return display_name(request.user) if request.role == Role.REVIEWER else None


def _list_ranges(filters: HistoryFilters) -> list[dict[str, object]]:
    return [
        {"label": RANGE_LABELS[name], "url": filters.to_query(range=name), "current": name == filters.range}
        for name in RANGES
    ]
