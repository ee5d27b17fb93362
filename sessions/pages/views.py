"""Sessions in the browser: the list, one session with its timeline, ending and freezing it."""

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
from controlplane.shared.client_download import client_version
from sessions.lifecycle.end import end_session, freeze_session
from sessions.lifecycle.open import find_session
from sessions.models import AgentSession
from sessions.pages.rows import alive, detail_of, session_page
from traces.entries.reconciliations import last_about
from traces.timeline.describe_entries import Row
from traces.timeline.minimap import minimap
from traces.timeline.timeline import ROWS, Window, session_timeline

STAYS = ("q", "show")  # in every address of the page
DONE = {
    "end": ("The session is ended and has let go of its intent.", "The session had ended before."),
    "freeze": ("The session is frozen: nothing it asks to change is let through.", "It was frozen already."),
    "unfreeze": ("The session may go on.", "It was not frozen."),
}


@require_safe
@never_cache
@member_page()
def session_list(request: MemberRequest) -> HttpResponse:
    everything = request.GET.get("show") == "all"
    page = session_page(request.workspace, everything=everything, cursor=request.GET.get("cursor", ""))
    query = "show=all&" if everything else ""
    context = {
        "sessions": page.rows,
        "alive": alive(request.workspace).count(),
        "show": "all" if everything else "alive",
        "newer_url": None if page.first else f"?{query}",
        "older_url": f"?{query}cursor={page.older}" if page.older else None,
        "note": f"{len(page.rows)} on this page",
    }
    return render(request, "sessions/session_list.html", context)


@require_safe
@never_cache
@member_page()
def session_detail(request: MemberRequest, session_id: str) -> HttpResponse:
    """`?fragment=timeline` is the timeline alone; `q`, `show`, times and cursors say which part of it.

    `entry` leads to the part with that entry, marked.
    """
    session = _session(request, session_id)
    window, entry = _window(request), _number(request.GET.get("entry", ""))
    page = session_timeline(request.workspace.pk, session.session_id, window)
    timeline = {
        "rows": page.rows,
        "earlier_url": _url(request, before=page.earlier),
        "later_url": _url(request, after=page.later),
        "entry": entry,
    }
    shown = detail_of(session)
    if request.GET.get("fragment") == "timeline":
        return render(request, "sessions/_timeline.html", {"timeline": timeline, "session": shown})
    context = {
        "session": shown,
        "timeline": timeline,
        "hook_is_old": bool(shown.hook) and shown.hook != client_version(),
        "reconciled": last_about(request.workspace.pk, "session", session.session_id),
        "may_end": has_role(request.role, Role.REVIEWER),
        "filters": {"q": window.text, "show": request.GET.get("show", "everything")},
        "map": minimap(
            request.workspace.pk, session.session_id, _kept(request, STAYS), window.since, window.until
        ),
        "zoomed": bool(window.since or window.until),
        "missing": bool(entry) and not any(_stands_in(row, entry) for row in page.rows),
    }
    return render(request, "sessions/session_detail.html", context)


def _window(request: MemberRequest) -> Window:
    query = request.GET
    since, until = (_moment(query.get(name, "")) for name in ("since", "until"))
    before, after = (_number(query.get(name, "")) for name in ("before", "after"))
    return Window(
        since=since,
        until=until,
        entry=_number(query.get("entry", "")) if before is None and after is None else None,
        after=after,
        before=before,
        limit=ROWS,
        only_changes=query.get("show") == "changes",
        text=query.get("q", "").replace("\0", "").strip()[:200],
    )


def _moment(text: str) -> datetime | None:
    """A time as the minimap's links write it; anything else is no time."""
    try:
        found = parse_datetime(text)
    except ValueError:
        return None
    return found if found is not None and timezone.is_aware(found) else None


def _stands_in(row: Row, number: int | None) -> bool:
    return row.number == number or any(one.number == number for one in row.members)


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def _url(request: MemberRequest, **cursor: int | None) -> str | None:
    """The same filters from another cursor on; None where there is none."""
    if None in cursor.values():
        return None
    return f"?{urlencode(_kept(request, (*STAYS, 'since', 'until')) | cursor)}"


def _kept(request: MemberRequest, names: Iterable[str]) -> dict[str, str]:
    return {name: request.GET[name] for name in names if request.GET.get(name)}


@require_http_methods(["GET", "HEAD", "POST"])
def one_session(request: HttpRequest, slug: str, session_id: str) -> HttpResponseBase:
    """Shown and acted on under one address, so that no id can be taken for that of another page."""
    view = act if request.method == "POST" else session_detail
    return view(request, slug=slug, session_id=session_id)


@require_POST
@member_page(Role.REVIEWER)
def act(request: MemberRequest, session_id: str) -> HttpResponse:
    """`action`: end | freeze | unfreeze."""
    session = _session(request, session_id)
    action = request.POST.get("action", "end")
    actor = f"user:{request.user.pk}:{display_name(request.user)}"
    if action == "end":
        done = end_session(session, actor)
    elif action in DONE:
        done = freeze_session(session, actor, frozen=action == "freeze")
    else:
        raise Http404
    texts = DONE[action]
    messages.add_message(request, messages.SUCCESS if done else messages.INFO, texts[0] if done else texts[1])
    return redirect("sessions:detail", request.workspace.slug, session_id)


def _session(request: MemberRequest, session_id: str) -> AgentSession:
    found = find_session(request.workspace.pk, session_id) if "\x00" not in session_id else None
    if found is None:
        raise Http404
    return found
