"""The page of the ledger's entries. Each view reads the address, asks, shapes a context, renders."""

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
from traces.browser.drawer import find_entry, view_of
from traces.browser.entry_counts import MAX_FRESH, Tally, tally, with_finer_bars
from traces.browser.export import csv_lines, json_lines
from traces.browser.facets import facets_of, hidden_of, spans_of, tokens_of
from traces.browser.filters import Wanted, read_wanted
from traces.browser.histogram import strip_of
from traces.browser.search import Entries, Found, Way, branches, fetched, newest, oldest, page
from traces.counts.counters import uncounted
from traces.cursors import cursor_in
from traces.entries.missing_bodies import Absences
from traces.interchange.export import orchestration_lines
from traces.ledger import checkpoints, proofs
from traces.ledger.sealing import waiting
from traces.models import Kind, LedgerEntry, LedgerLeaf
from traces.timeline.describe_entries import Row, describe

ROWS = 100
MAX_NEWS = 100
NEIGHBOURS = 20  # newer entries above one that a link leads to
WRITERS = {
    "jsonl": (json_lines, "entries.jsonl", "application/jsonl"),
    "csv": (csv_lines, "entries.csv", "text/csv; charset=utf-8"),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asks of the list, worked out once."""

    wanted: Wanted
    fresh: list[int]
    ways: list[Way]
    tally: Tally | None = None


@require_safe
@never_cache
@member_page()
def trace_list(request: MemberRequest) -> HttpResponse:
    """Entries, newest first, with facets and density; `entry` opens the drawer. At most 32 queries.

    For htmx and its drawer it is the drawer alone; `?fragment=news&after=` is how many have come since.
    """
    if request.GET.get("fragment") == "news":
        return _news(request)
    alone = request.headers.get("HX-Target") == "drawer"
    asked = _asked(request, numbers=not alone)
    opened = _opened(request, asked.wanted, asked.ways)
    if alone:
        answer = render(request, "traces/_drawer.html", {"drawer": opened})
    else:
        context = _list_context(request, asked, opened) | {"drawer": opened}
        answer = render(request, "traces/trace_list.html", context)
    patch_vary_headers(answer, ["HX-Target"])
    return answer


@require_safe
@member_page()
def trace_export(request: MemberRequest) -> HttpResponseBase:
    """Exactly what the list shows: `format` is jsonl, csv, or orchestration (trace entries, oldest first)."""
    ways = _asked(request, numbers=False).ways
    form = request.GET.get("format", "jsonl")
    if form == "orchestration":
        return _file(orchestration_lines(_traces(ways)), "agent_trace.jsonl")
    if form not in WRITERS:
        raise Http404
    write, name, content_type = WRITERS[form]
    return _file(write(ways, request.workspace.pk), name, content_type)


@require_safe
@member_page()
def proof_file(request: MemberRequest, number: int) -> HttpResponse:
    """What an auditor needs to check one sealed entry without this server. Not found while it is unsealed."""
    entry = LedgerEntry.objects.filter(workspace_id=request.workspace.pk, pk=number).first()
    head = proofs.head(request.workspace.pk)
    if entry is None or head is None:
        raise Http404
    try:
        proof = proofs.prove_inclusion(entry, head.size)
    except LedgerLeaf.DoesNotExist:
        raise Http404 from None
    log = checkpoints.origin_of(request.workspace.pk)
    shown = proof.document(entry, log) | {"checkpoint": head.note}
    headers = {"Content-Disposition": f'attachment; filename="proof-{proof.seq}.json"'}
    return JsonResponse(shown, headers=headers, json_dumps_params={"indent": 2})


def _asked(request: MemberRequest, *, numbers: bool) -> Asked:
    """With `numbers`, how many entries fit is counted first: it tells how to reach them."""
    workspace_id = request.workspace.pk
    wanted = read_wanted(request.GET, timezone.now())
    fresh = uncounted(workspace_id, MAX_FRESH)
    if not numbers:
        return Asked(wanted, fresh, branches(workspace_id, wanted, fresh))
    if wanted.counted:
        counted = tally(workspace_id, wanted, fresh, ())
        known = None if counted.capped else counted.total
        ways = branches(workspace_id, wanted, fresh, known=known)
        return Asked(wanted, fresh, ways, with_finer_bars(wanted, counted, ways))
    ways = branches(workspace_id, wanted, fresh)
    return Asked(wanted, fresh, ways, tally(workspace_id, wanted, fresh, ways))


def _list_context(request: MemberRequest, asked: Asked, opened: dict[str, Any] | None) -> dict[str, Any]:
    wanted, counted = asked.wanted, asked.tally or Tally()
    found = _found(request, asked, opened)
    rows, absences = fetched(found.ids), Absences(request.workspace.pk)
    return {
        "entries": [_listed(entry, wanted, absences) for entry in rows],
        "q": wanted.text,
        "tokens": tokens_of(wanted),
        "hidden": hidden_of(wanted),
        "problems": wanted.problems,
        "spans": spans_of(wanted),
        "facets": facets_of(counted, wanted),
        "strip": strip_of(counted.bars, wanted),
        "total": counted.total,
        "capped": counted.capped,
        "head": _head(request.workspace.pk),
        "older_url": wanted.address(before=rows[-1].pk) if found.older and rows else None,
        "newer_url": wanted.address(after=rows[0].pk) if found.newer and rows else None,
        "news_url": wanted.address(fragment="news", after=rows[0].pk if rows else 1)
        if not found.newer
        else None,
        "note": f"{len(rows)} on this page",
        "exports": [(form, wanted.address(format=form)) for form in (*WRITERS, "orchestration")],
        "missing": request.GET.get("entry") if request.GET.get("entry") and opened is None else "",
    }


def _found(request: MemberRequest, asked: Asked, opened: dict[str, Any] | None) -> Found:
    """The page that was asked for; with an entry open and no page asked for, the one that it stands on."""
    before, after = cursor_in(request, "before"), cursor_in(request, "after")
    if before is None and after is None and opened is not None:
        above = oldest(asked.ways, opened["number"], ROWS)
        if len(above) >= ROWS:
            before = above[NEIGHBOURS] + 1
    return page(asked.ways, ROWS, before=before, after=after)


def _opened(request: MemberRequest, wanted: Wanted, ways: list[Way]) -> dict[str, Any] | None:
    """What the drawer shows, and what stands above and below it among what fits."""
    name = request.GET.get("entry", "").replace("\x00", "")
    entry = find_entry(request.workspace.pk, name)
    if entry is None:
        return None
    newer, older = oldest(ways, entry.pk, 1), newest(ways, 1, before=entry.pk)
    return {
        "view": view_of(entry),
        "number": entry.pk,
        "url": wanted.address(entry=entry.pk),
        "close_url": wanted.address(),
        "newer_url": wanted.address(entry=newer[0]) if newer else None,
        "older_url": wanted.address(entry=older[0]) if older else None,
    }


def _news(request: MemberRequest) -> HttpResponse:
    """How many entries that fit have come since the page was drawn; nothing while there are none."""
    asked = _asked(request, numbers=False)
    after = cursor_in(request, "after") or 0
    number = len(oldest(asked.ways, after, MAX_NEWS + 1))
    context = {
        "news_url": asked.wanted.address(fragment="news", after=after),
        "number": min(number, MAX_NEWS),
        "more": number > MAX_NEWS,
        "url": asked.wanted.address(),
    }
    return render(request, "traces/_news.html", context)


def _listed(entry: LedgerEntry, wanted: Wanted, absences: Absences) -> dict[str, Any]:
    row: Row = describe(entry, absences)
    return {
        "number": entry.pk,
        "url": wanted.address(entry=entry.pk),
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


def _head(workspace_id: int) -> dict[str, Any]:
    """How far the ledger is sealed; `sealed` is the highest place, as the badges number them."""
    found = proofs.head(workspace_id)
    size = found.size if found else 0
    return {
        "size": size,
        "sealed": max(0, size - 1),
        "waiting": waiting(workspace_id),
        "at": found.created_at if found else None,
    }


def _traces(ways: list[Way]) -> Entries:
    """Trace entries that can be reached in one of the ways."""
    condition = Q()
    for way in ways:
        condition |= Q(pk__in=way.entries.order_by().values("pk"))
    return LedgerEntry.objects.filter(condition, kind=Kind.TRACE).select_related("body")


def _file(lines: Any, name: str, content_type: str = "application/jsonl") -> StreamingHttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingHttpResponse(lines, content_type=content_type, headers=headers)
