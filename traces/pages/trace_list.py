"""Serve the trace list, its exports and proofs of inclusion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Q
from django.http import Http404, HttpResponse, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from controlplane.shared.access import MemberRequest, member_page
from traces.browser.drawer import build_entry_view, find_entry
from traces.browser.entry_counts import EntryCounts, count_entries, refine_buckets
from traces.browser.export import stream_csv, stream_evidence, stream_json_lines
from traces.browser.facets import build_facets, build_filter_tokens, build_time_ranges, list_hidden_fields
from traces.browser.filters import EntryFilters, parse_filters
from traces.browser.histogram import build_histogram
from traces.browser.search import (
    Entries,
    EntryPage,
    QueryBranch,
    build_branches,
    list_newest_ids,
    list_oldest_ids,
    load_entries,
    load_page,
)
from traces.counts.counters import is_counting, list_uncounted
from traces.cursors import cursor_in
from traces.errors import EvidenceError
from traces.evidence.bundle import EvidenceRequest
from traces.interchange.export import stream_orchestration
from traces.ledger import proofs
from traces.ledger.log_name import log_origin
from traces.ledger.sealing import count_unsealed
from traces.models import EntryKind, LedgerEntry, LedgerLeaf
from traces.timeline.describe_entries import TimelineRow
from traces.timeline.held_calls import describe_folded

PAGE_SIZE = 100
MAX_NEW_ENTRIES = 100
ENTRIES_ABOVE = 20  # newer entries shown above a linked one
WRITERS = {
    "jsonl": (stream_json_lines, "entries.jsonl", "application/jsonl"),
    "csv": (stream_csv, "entries.csv", "text/csv; charset=utf-8"),
}


@dataclass(frozen=True, slots=True)
class ListQuery:
    """What a request asks of the list, evaluated once."""

    filters: EntryFilters
    uncounted: list[int]
    branches: list[QueryBranch]
    counts: EntryCounts | None = None


@require_safe
@never_cache
@member_page()
def trace_list(request: MemberRequest) -> HttpResponse:
    """List entries, newest first, with facets and histogram; `entry` opens the drawer. At most 32 queries.

    An htmx request for the drawer gets the drawer alone; `?fragment=news&after=` the number of new entries.
    """
    if request.GET.get("fragment") == "news":
        return _render_news(request)
    drawer_only = request.headers.get("HX-Target") == "drawer"
    query = _build_query(request, with_counts=not drawer_only)
    drawer = _build_drawer(request, query.filters, query.branches)
    if drawer_only:
        response = render(request, "traces/_drawer.html", {"drawer": drawer})
    else:
        context = _build_list_context(request, query, drawer) | {"drawer": drawer}
        response = render(request, "traces/trace_list.html", context)
    patch_vary_headers(response, ["HX-Target"])
    return response


@require_safe
@member_page()
def trace_export(request: MemberRequest) -> HttpResponseBase:
    """Stream the filtered entries as jsonl, csv, evidence, or orchestration (trace entries, oldest first)."""
    file_format = request.GET.get("format", "jsonl")
    if file_format == "evidence":
        return _stream_evidence(request)
    branches = _build_query(request, with_counts=False).branches
    if file_format == "orchestration":
        return _stream_file(stream_orchestration(_select_traces(branches)), "agent_trace.jsonl")
    if file_format not in WRITERS:
        raise Http404
    write, name, content_type = WRITERS[file_format]
    return _stream_file(write(branches, request.workspace.pk), name, content_type)


def _stream_evidence(request: MemberRequest) -> HttpResponseBase:
    filters = parse_filters(request.GET, timezone.now())
    evidence = EvidenceRequest(filters.to_query_string())
    try:
        parts = stream_evidence(request.workspace.pk, filters, evidence)
    except EvidenceError:
        raise Http404 from None
    return _stream_file(parts, f"{request.workspace.slug}-evidence.zip", "application/zip")


@require_safe
@member_page()
def proof_file(request: MemberRequest, number: int) -> HttpResponse:
    """Return what an auditor needs to verify one sealed entry without this server; 404 until it is sealed."""
    entry = LedgerEntry.objects.for_workspace(request.workspace.pk).filter(pk=number).first()
    head = proofs.find_head(request.workspace.pk)
    if entry is None or head is None:
        raise Http404
    try:
        proof = proofs.prove_inclusion(entry, head.size)
    except LedgerLeaf.DoesNotExist:
        raise Http404 from None
    log = log_origin(request.workspace.pk)
    document = proof.to_document(entry, log) | {"checkpoint": head.note}
    headers = {"Content-Disposition": f'attachment; filename="proof-{proof.seq}.json"'}
    return JsonResponse(document, headers=headers, json_dumps_params={"indent": 2})


def _build_query(request: MemberRequest, *, with_counts: bool) -> ListQuery:
    """Evaluate the filters.

    `with_counts` counts first, because the number of matches decides how to query.
    """
    workspace_id = request.workspace.pk
    filters = parse_filters(request.GET, timezone.now())
    uncounted_ids = list_uncounted(workspace_id)
    if not with_counts:
        return ListQuery(filters, uncounted_ids, build_branches(workspace_id, filters, uncounted_ids))
    if filters.is_precounted:
        counts = count_entries(workspace_id, filters, uncounted_ids, ())
        matching = None if counts.is_capped else counts.total
        branches = build_branches(workspace_id, filters, uncounted_ids, matching=matching)
        return ListQuery(filters, uncounted_ids, branches, refine_buckets(filters, counts, branches))
    branches = build_branches(workspace_id, filters, uncounted_ids)
    return ListQuery(
        filters, uncounted_ids, branches, count_entries(workspace_id, filters, uncounted_ids, branches)
    )


def _build_list_context(
    request: MemberRequest, query: ListQuery, drawer: dict[str, Any] | None
) -> dict[str, Any]:
    filters, counts = query.filters, query.counts or EntryCounts()
    page = _load_page(request, query, drawer)
    rows = load_entries(page.ids)
    return {
        "entries": _build_list_entries(rows, filters),
        "q": filters.text,
        "tokens": build_filter_tokens(filters),
        "hidden": list_hidden_fields(filters),
        "filter_errors": filters.errors,
        "time_ranges": build_time_ranges(filters),
        "facets": build_facets(counts, filters),
        "histogram": build_histogram(counts.buckets, filters),
        "total": counts.total,
        "capped": counts.is_capped,
        "is_counting": is_counting(query.uncounted),
        "path": filters.path,
        "head": _describe_head(request.workspace.pk),
        "older_url": filters.to_query_string(before=rows[-1].pk) if page.has_older and rows else None,
        "newer_url": filters.to_query_string(after=rows[0].pk) if page.has_newer and rows else None,
        "news_url": filters.to_query_string(fragment="news", after=rows[0].pk if rows else 1)
        if not page.has_newer
        else None,
        "first_url": filters.to_query_string(),
        "counts": filters.match_all_new,
        "note": f"{len(rows)} on this page",
        "exports": [
            (file_format, filters.to_query_string(format=file_format))
            for file_format in (*WRITERS, "orchestration", "evidence")
        ],
        "missing": request.GET.get("entry") if request.GET.get("entry") and drawer is None else "",
    }


def _load_page(request: MemberRequest, query: ListQuery, drawer: dict[str, Any] | None) -> EntryPage:
    """Load the requested page; with an entry open and no page requested, the page that contains it."""
    before, after = cursor_in(request, "before"), cursor_in(request, "after")
    if before is None and after is None and drawer is not None:
        above = list_oldest_ids(query.branches, drawer["number"], PAGE_SIZE)
        if len(above) >= PAGE_SIZE:
            before = above[ENTRIES_ABOVE] + 1
    return load_page(query.branches, PAGE_SIZE, before=before, after=after)


def _build_drawer(
    request: MemberRequest, filters: EntryFilters, branches: list[QueryBranch]
) -> dict[str, Any] | None:
    """Build the drawer of the requested entry, with links to its neighbours among the matching entries."""
    name = request.GET.get("entry", "").replace("\x00", "")
    entry = find_entry(request.workspace.pk, name)
    if entry is None:
        return None
    newer, older = list_oldest_ids(branches, entry.pk, 1), list_newest_ids(branches, 1, before=entry.pk)
    return {
        "view": build_entry_view(entry),
        "number": entry.pk,
        "url": filters.to_query_string(entry=entry.pk),
        "close_url": filters.to_query_string(),
        "newer_url": filters.to_query_string(entry=newer[0]) if newer else None,
        "older_url": filters.to_query_string(entry=older[0]) if older else None,
    }


def _render_news(request: MemberRequest) -> HttpResponse:
    """Render how many matching entries came since the page was drawn; nothing while there are none."""
    query = _build_query(request, with_counts=False)
    after = cursor_in(request, "after") or 0
    number = len(list_oldest_ids(query.branches, after, MAX_NEW_ENTRIES + 1))
    context = {
        "news_url": query.filters.to_query_string(fragment="news", after=after),
        "number": min(number, MAX_NEW_ENTRIES),
        "more": number > MAX_NEW_ENTRIES,
        "counts": query.filters.match_all_new,
        "first_url": query.filters.to_query_string(),
    }
    return render(request, "traces/_news.html", context)


def _build_list_entries(entries: list[LedgerEntry], filters: EntryFilters) -> list[dict[str, Any]]:
    """Return a row for each entry, newest first, and one for all steps of a held call."""
    by_number = {entry.pk: entry for entry in entries}
    rows = describe_folded(entries[::-1])[::-1]
    return [_build_list_entry(by_number[row.number], row, filters) for row in rows]


def _build_list_entry(entry: LedgerEntry, row: TimelineRow, filters: EntryFilters) -> dict[str, Any]:
    return {
        "number": entry.pk,
        "numbers": row.numbers,
        "url": filters.to_query_string(entry=entry.pk),
        "at": row.at,
        "kind": entry.kind,
        "outcome": row.outcome,
        "object": row.object or row.verb,
        "object_is": row.object_is if row.object else "text",
        "verb": row.verb if row.object and row.kind != "trace" else "",
        "note": row.note,
        "lines": row.lines,
        "computed": row.computed if row.disagrees else "",
        "agent": entry.agent,
        "intent_id": entry.intent_id,
        "seal": row.seal,
    }


def _describe_head(workspace_id: int) -> dict[str, Any]:
    """Describe how far the ledger is sealed; `sealed` is the highest position, as badges show it."""
    head = proofs.find_head(workspace_id)
    size = head.size if head else 0
    return {
        "size": size,
        "sealed": max(0, size - 1),
        "waiting": count_unsealed(workspace_id),
        "at": head.created_at if head else None,
    }


def _select_traces(branches: list[QueryBranch]) -> Entries:
    """Return the trace entries of all branches."""
    condition = Q()
    for branch in branches:
        condition |= Q(pk__in=branch.entries.order_by().values("pk"))
    return LedgerEntry.objects.of_kind(EntryKind.TRACE).filter(condition).with_body()


def _stream_file(lines: Any, name: str, content_type: str = "application/jsonl") -> StreamingHttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingHttpResponse(lines, content_type=content_type, headers=headers)
