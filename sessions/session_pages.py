"""Sessions in the browser: the list, one session with its timeline, ending and freezing it."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from controlplane.access import MemberRequest, may, member_page, person_name
from controlplane.client_api import served_version
from controlplane.models import Role
from sessions.ending import end_session, freeze_session
from sessions.models import AgentSession
from sessions.opening import find_session
from sessions.session_rows import alive, detail_of, session_page
from traces.reconciliations import last_about
from traces.timeline import ROWS, Window, session_timeline

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
    """`?fragment=timeline` is the timeline alone; `q`, `show`, `after` and `before` say which part of it."""
    session = _session(request, session_id)
    page = session_timeline(request.workspace.pk, session.session_id, _window(request))
    timeline = {
        "rows": page.rows,
        "earlier_url": _url(request, before=page.earlier),
        "later_url": _url(request, after=page.later),
    }
    shown = detail_of(session)
    if request.GET.get("fragment") == "timeline":
        return render(request, "sessions/_timeline.html", {"timeline": timeline, "session": shown})
    context = {
        "session": shown,
        "timeline": timeline,
        "hook_is_old": bool(shown.hook) and shown.hook != served_version(),
        "reconciled": last_about(request.workspace.pk, "session", session.session_id),
        "may_end": may(request.role, Role.REVIEWER),
        "filters": {"q": request.GET.get("q", ""), "show": request.GET.get("show", "everything")},
    }
    return render(request, "sessions/session_detail.html", context)


def _window(request: MemberRequest) -> Window:
    query = request.GET
    return Window(
        after=_cursor(query.get("after", "")),
        before=_cursor(query.get("before", "")),
        limit=ROWS,
        only_changes=query.get("show") == "changes",
        text=query.get("q", "").replace("\0", "").strip()[:200],
    )


def _cursor(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def _url(request: MemberRequest, **cursor: int | None) -> str | None:
    """The same filters from another cursor on; None where there is none."""
    if None in cursor.values():
        return None
    kept = {name: request.GET[name] for name in ("q", "show") if request.GET.get(name)}
    return f"?{urlencode(kept | cursor)}"


@require_POST
@member_page(Role.REVIEWER)
def end(request: MemberRequest, session_id: str) -> HttpResponse:
    """`action`: end | freeze | unfreeze."""
    session = _session(request, session_id)
    action = request.POST.get("action", "end")
    actor = f"user:{request.user.pk}:{person_name(request.user)}"
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
    found = find_session(request.workspace.pk, session_id) if session_id.isprintable() else None
    if found is None:
        raise Http404
    return found
