"""The lessons page: list, download, record, retire and restore. Posts redirect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST, require_safe

from controlplane.models import Role
from controlplane.shared.access import MemberRequest, display_name, has_role, member_page
from controlplane.shared.downloads import text_download
from controlplane.shared.errors import DomainError, NotFoundError
from intents.lessons.lesson_list import build_list_context, find_list_url
from traces.cursors import cursor_in
from traces.lessons import retire
from traces.lessons.agent_md import render_agent_md
from traces.lessons.store import (
    MAX_FILE_LENGTH,
    Lesson,
    LessonSection,
    LessonSource,
    NewLesson,
    load_lessons,
    record_lesson,
)

MAX_TEXT_LENGTH = 5_000


class LessonForm(forms.Form):
    section = forms.ChoiceField(choices=[(section.value, section.value.title()) for section in LessonSection])
    text = forms.CharField(max_length=MAX_TEXT_LENGTH, widget=forms.Textarea({"rows": 5}))
    file = forms.CharField(max_length=MAX_FILE_LENGTH, required=False)


@require_safe
@member_page()
def lesson_list(request: MemberRequest) -> HttpResponse:
    """Show lessons, newest first (7 queries), or download AGENT.md (2)."""
    if request.GET.get("format") == "markdown":
        return text_download(render_agent_md(load_lessons(request.workspace.pk)), "AGENT.md", "text/markdown")
    return _render_list(request, LessonForm())


@require_safe
@member_page()
def lesson_show(request: MemberRequest, lesson_id: str) -> HttpResponse:
    """Redirect to the lesson's page of the list, which changes as lessons are added."""
    url = find_list_url(request.workspace.pk, lesson_id)
    if url is None:
        raise Http404
    return redirect(reverse("lessons:list", args=[request.workspace.slug]) + url)


@require_POST
@member_page(Role.REVIEWER)
def lesson_add(request: MemberRequest) -> HttpResponse:
    form = LessonForm(request.POST)
    if not form.is_valid():
        return _render_list(request, form, status=400)
    with transaction.atomic():
        new = record_lesson(request.workspace.pk, _build_lesson(request, form.cleaned_data), _actor(request))
    if new:
        messages.success(request, gettext("Recorded. It appears in the next prompts that it is relevant to."))
    else:
        messages.info(request, gettext("This lesson is known already; its count was raised."))
    return redirect("lessons:list", request.workspace.slug)


@require_POST
@member_page(Role.REVIEWER)
def lesson_retire(request: MemberRequest, lesson_id: str) -> HttpResponse:
    return _change(
        request, lesson_id, retire.retire, _("Retired. Prompts and AGENT.md no longer include it.")
    )


@require_POST
@member_page(Role.REVIEWER)
def lesson_restore(request: MemberRequest, lesson_id: str) -> HttpResponse:
    return _change(request, lesson_id, retire.restore, _("Restored. Prompts and AGENT.md include it again."))


def _change(
    request: MemberRequest,
    lesson_id: str,
    change: Callable[[int, retire.RetirementRequest], Lesson],
    message: str | Promise,
) -> HttpResponse:
    reason = request.POST.get("reason", "")
    retiring = retire.RetirementRequest(lesson_id, reason, display_name(request.user), _actor(request))
    try:
        change(request.workspace.pk, retiring)
    except NotFoundError as error:
        raise Http404 from error
    except DomainError as error:
        messages.error(request, error.error)
    else:
        messages.success(request, str(message))
    url = reverse("lessons:list", args=[request.workspace.slug])
    return redirect(f"{url}?{request.GET.urlencode()}" if request.GET else url)


def _build_lesson(request: MemberRequest, data: dict[str, Any]) -> NewLesson:
    by, section = display_name(request.user), LessonSection(data["section"])
    return NewLesson(data["file"], data["text"], section=section, source=LessonSource.PERSON, by=by)


def _render_list(request: MemberRequest, form: LessonForm, status: int = 200) -> HttpResponse:
    tab, start = request.GET.get("show", ""), cursor_in(request, "from") or 0
    context = build_list_context(request.workspace, tab, start)
    context |= {"form": form, "may_edit": has_role(request.role, Role.REVIEWER)}
    return render(request, "lessons/lesson_list.html", context, status=status)


def _actor(request: MemberRequest) -> str:
    return f"user:{request.user.pk}:{display_name(request.user)}"
