"""Serve the session list and one session with its timeline; end and freeze sessions."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from controlplane.models import Role
from controlplane.shared.access import MemberRequest, display_name, has_role, member_page
from sessions.lifecycle.end import end_session, freeze_session
from sessions.lifecycle.open import find_session
from sessions.models import AgentSession
from sessions.pages.rows import build_detail, is_hook_old, list_open_sessions, load_session_page
from sessions.stops.store import find_stop
from traces.entries.reconciliations import find_last_reconciliation
from traces.timeline.describe_entries import TimelineRow
from traces.timeline.minimap import build_minimap
from traces.timeline.timeline import PAGE_SIZE, TimelineWindow, load_timeline

FILTER_PARAMETERS = ("q", "show")  # in every address of the page
ACTION_MESSAGES = {
    "end": ("Session ended; its intent is free again.", "The session had already ended."),
    "freeze": ("Session frozen: every change it requests is denied.", "The session was already frozen."),
    "unfreeze": ("Session unfrozen.", "The session was not frozen."),
}


@require_safe
@never_cache
@member_page()
def session_list(request: MemberRequest) -> HttpResponse:
    include_ended = request.GET.get("show") == "all"
    page = load_session_page(
        request.workspace, include_ended=include_ended, cursor=request.GET.get("cursor", "")
    )
    query = "show=all&" if include_ended else ""
    context = {
        "sessions": page.rows,
        "alive": list_open_sessions(request.workspace).count(),
        "show": "all" if include_ended else "alive",
        "newer_url": None if page.first else f"?{query}",
        "older_url": f"?{query}cursor={page.older}" if page.older else None,
        "note": f"{len(page.rows)} on this page",
    }
    return render(request, "sessions/session_list.html", context)


@require_safe
@never_cache
@member_page()
def session_detail(request: MemberRequest, session_id: str) -> HttpResponse:
    """Show one session. `q`, `show`, times and cursors select the part of its timeline.

    `entry` shows the part with that entry, marked. `?fragment=timeline` returns the timeline alone.
    """
    session = _get_session(request, session_id)
    window, entry = _parse_window(request), _parse_number(request.GET.get("entry", ""))
    page = load_timeline(request.workspace.pk, session.session_id, window)
    timeline = {
        "rows": page.rows,
        "earlier_url": _build_url(request, before=page.earlier),
        "later_url": _build_url(request, after=page.later),
        "entry": entry,
        "view": _build_view(session, window) if page.later is None and window.before is None else "",
    }
    session_row = build_detail(session)
    if request.GET.get("fragment") == "timeline":
        return render(request, "sessions/_timeline.html", {"timeline": timeline, "session": session_row})
    context = {
        "session": session_row,
        "timeline": timeline,
        "hook_is_old": is_hook_old(session_row),
        "reconciled": find_last_reconciliation(request.workspace.pk, "session", session.session_id),
        "may_end": has_role(request.role, Role.REVIEWER),
        "may_stop": has_role(request.role, Role.ADMIN) and not find_stop(request.workspace, session),
        "filters": {"q": window.text, "show": request.GET.get("show", "everything")},
        "map": build_minimap(
            request.workspace.pk,
            session.session_id,
            _get_parameters(request, FILTER_PARAMETERS),
            window.since,
            window.until,
        ),
        "zoomed": bool(window.since or window.until),
        "missing": bool(entry) and not any(_contains_entry(row, entry) for row in page.rows),
    }
    return render(request, "sessions/session_detail.html", context)


def _parse_window(request: MemberRequest) -> TimelineWindow:
    query = request.GET
    since, until = (_parse_time(query.get(name, "")) for name in ("since", "until"))
    before, after = (_parse_number(query.get(name, "")) for name in ("before", "after"))
    return TimelineWindow(
        since=since,
        until=until,
        entry=_parse_number(query.get("entry", "")) if before is None and after is None else None,
        after=after,
        before=before,
        limit=PAGE_SIZE,
        only_changes=query.get("show") == "changes",
        text=query.get("q", "").replace("\0", "").strip()[:200],
    )


def _build_view(session: AgentSession, window: TimelineWindow) -> str:
    """Return what the push connection calls this part of the timeline; "" for a time that is over."""
    if window.until is not None:
        return ""
    show = "changes" if window.only_changes else ""
    return f"timeline?{urlencode({'session': session.session_id, 'show': show, 'q': window.text})}"


def _parse_time(text: str) -> datetime | None:
    """Parse a time as the minimap's links write it; None for anything else."""
    try:
        time = parse_datetime(text)
    except ValueError:
        return None
    return time if time is not None and timezone.is_aware(time) else None


def _contains_entry(row: TimelineRow, number: int | None) -> bool:
    return number in row.numbers


def _parse_number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def _build_url(request: MemberRequest, **cursor: int | None) -> str | None:
    """Return the same filters at another cursor; None without one."""
    if None in cursor.values():
        return None
    return f"?{urlencode(_get_parameters(request, (*FILTER_PARAMETERS, 'since', 'until')) | cursor)}"


def _get_parameters(request: MemberRequest, names: Iterable[str]) -> dict[str, str]:
    return {name: request.GET[name] for name in names if request.GET.get(name)}


@require_http_methods(["GET", "HEAD", "POST"])
def session_address(request: HttpRequest, slug: str, session_id: str) -> HttpResponseBase:
    """Serve page and actions at one address, so that no id can be mistaken for another route."""
    view = act_on_session if request.method == "POST" else session_detail
    return view(request, slug=slug, session_id=session_id)


@require_POST
@member_page(Role.REVIEWER)
def act_on_session(request: MemberRequest, session_id: str) -> HttpResponse:
    """Run `action`: end, freeze or unfreeze."""
    session = _get_session(request, session_id)
    action = request.POST.get("action", "end")
    actor = f"user:{request.user.pk}:{display_name(request.user)}"
    if action == "end":
        changed = end_session(session, actor)
    elif action in ACTION_MESSAGES:
        changed = freeze_session(session, actor, frozen=action == "freeze")
    else:
        raise Http404
    done_text = ACTION_MESSAGES[action]
    messages.add_message(
        request, messages.SUCCESS if changed else messages.INFO, done_text[0] if changed else done_text[1]
    )
    return redirect("sessions:detail", request.workspace.slug, session_id)


def _get_session(request: MemberRequest, session_id: str) -> AgentSession:
    session = find_session(request.workspace.pk, session_id) if "\x00" not in session_id else None
    if session is None:
        raise Http404
    return session
