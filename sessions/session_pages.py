"""Sessions in the browser: the list, one session with its timeline, ending and freezing it."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from controlplane.access import MemberRequest, member_page, person_name
from controlplane.models import Role
from sessions.models import AgentSession
from sessions.opening import end_session, find_session, freeze_session
from sessions.session_rows import alive, session_page

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
