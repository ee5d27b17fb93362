"""Pages of the registry: list, one intent, its form, scope editor and status moves. Posts redirect."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from controlplane.models import Role
from controlplane.policy.model import IntentStatus
from controlplane.policy.rules.constraints import find_reason_unchecked
from controlplane.shared.access import MemberRequest, display_name, has_role, member_page
from intents import registry
from intents.errors import (
    IntentExistsError,
    InvalidIntentError,
    StatusMoveRefusedError,
    VersionConflictError,
)
from intents.models import Intent
from intents.pages.forms import IntentForm
from intents.pages.intent_detail import build_detail_context, build_scope_form
from intents.pages.intent_list import IntentFilters, build_list_context
from intents.pages.scope_preview import find_line_errors, preview_scope
from intents.pages.text_area_lists import numbered_lines
from intents.selectors import find_intent

MAX_BLOCKED_REASON = 500


@require_GET
@member_page()
def intent_list(request: MemberRequest) -> HttpResponse:
    filters = IntentFilters(*(request.GET.get(name, "") for name in ("q", "status", "owner")))
    context = build_list_context(request.workspace.pk, filters)
    return render(request, "intents/intent_list.html", context | {"may_edit": _may_edit(request)})


@require_GET
@member_page()
def intent_detail(request: MemberRequest, intent_id: str) -> HttpResponse:
    intent = _get_intent(request, intent_id)
    return _render_detail(request, intent, build_scope_form(intent, _url(request, "scope-preview", intent)))


@require_http_methods(["GET", "POST"])
@member_page(Role.ADMIN)
def intent_new(request: MemberRequest) -> HttpResponse:
    form = IntentForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            intent = registry.create(request.workspace, form.document(), actor=_actor(request))
        except InvalidIntentError as error:
            form.add_report_errors(error.report)
        except IntentExistsError as error:
            form.add_error("id", error.error)
        else:
            messages.success(request, gettext("%(intent)s is registered.") % {"intent": intent.intent_id})
            _warn_of_constraints(request, intent)
            return redirect(_url(request, "detail", intent))
    return _render_form(request, form)


@require_http_methods(["GET", "POST"])
@member_page(Role.ADMIN)
def intent_edit(request: MemberRequest, intent_id: str) -> HttpResponse:
    intent = _get_intent(request, intent_id)
    form = IntentForm(request.POST or None, intent=intent)
    if request.method == "POST" and form.is_valid():
        try:
            registry.edit(intent, form.document(), actor=_actor(request), version=_read_version(request))
        except InvalidIntentError as error:
            form.add_report_errors(error.report)
        except VersionConflictError as error:
            form.add_error(None, error.error)
        else:
            text = gettext("%(intent)s is saved as revision %(revision)d.")
            messages.success(request, text % {"intent": intent.intent_id, "revision": intent.version})
            _warn_of_constraints(request, intent)
            return redirect(_url(request, "detail", intent))
    return _render_form(request, form, intent)


@require_POST
@member_page(Role.ADMIN)
def intent_move(request: MemberRequest, intent_id: str) -> HttpResponse:
    """Take the intent to another status."""
    intent = _get_intent(request, intent_id)
    fields = {"status": request.POST.get("status", "")}
    if fields["status"] == IntentStatus.BLOCKED:
        fields["blocked_reason"] = request.POST.get("blocked_reason", "")[:MAX_BLOCKED_REASON]
    try:
        registry.edit(intent, fields, actor=_actor(request), version=_read_version(request))
    except (VersionConflictError, StatusMoveRefusedError, InvalidIntentError) as error:
        messages.error(request, str(error))
    else:
        text = gettext("%(intent)s is %(status)s.")
        status = intent.get_status_display().lower()
        messages.success(request, text % {"intent": intent.intent_id, "status": status})
    return redirect(_url(request, "detail", intent))


@require_POST
@member_page(Role.ADMIN)
def intent_scope(request: MemberRequest, intent_id: str) -> HttpResponse:
    """Save the scope editor; with errors the page comes back with the text as it was sent."""
    intent = _get_intent(request, intent_id)
    text = request.POST.get("scope", "")
    # Built first: saving refreshes the intent, and with its new version the form could overwrite that change.
    editor = build_scope_form(intent, _url(request, "scope-preview", intent))
    errors = find_line_errors(text) or _save_scope(request, intent, text)
    if errors:
        return _render_detail(request, intent, editor | {"text": text, "errors": errors}, status=422)
    text = gettext("The scope is saved as revision %(revision)d.")
    messages.success(request, text % {"revision": intent.version})
    return redirect(_url(request, "detail", intent))


@require_POST
@member_page()
def scope_preview(request: MemberRequest, intent_id: str) -> HttpResponse:
    preview = preview_scope(_get_intent(request, intent_id), request.POST.get("scope", ""))
    return render(request, "intents/_scope_preview.html", {"scope_preview": preview})


def _save_scope(request: MemberRequest, intent: Intent, text: str) -> list[dict[str, Any]]:
    """Return `{line, message}` of each error; none where the scope was saved."""
    fields = {"owned_scope": [line for _, line in numbered_lines(text)]}
    try:
        registry.edit(intent, fields, actor=_actor(request), version=_read_version(request))
    except InvalidIntentError as error:
        return [{"line": 1, "message": diagnostic.message} for diagnostic in error.report.errors]
    except VersionConflictError as error:
        return [{"line": 1, "message": f"{error} Look at the newest scope before you save yours."}]
    return []


def _warn_of_constraints(request: MemberRequest, intent: Intent) -> None:
    for reason in filter(None, map(find_reason_unchecked, intent.constraints)):
        messages.warning(request, reason)


def _get_intent(request: MemberRequest, intent_id: str) -> Intent:
    intent = find_intent(request.workspace.pk, intent_id)
    if intent is None:
        raise Http404
    return intent


def _may_edit(request: MemberRequest) -> bool:
    return has_role(request.role, Role.ADMIN)


def _actor(request: HttpRequest) -> str:
    return display_name(request.user)


def _url(request: MemberRequest, name: str, intent: Intent) -> str:
    return reverse(f"intents:{name}", args=[request.workspace.slug, intent.intent_id])


def _render_form(request: MemberRequest, form: IntentForm, intent: Intent | None = None) -> HttpResponse:
    details = {"id": intent.intent_id, "revision": intent.version} if intent else None
    context = {"form": form, "intent": details}
    return render(request, "intents/intent_form.html", context, status=422 if form.is_bound else 200)


def _render_detail(
    request: MemberRequest, intent: Intent, editor: dict[str, Any], status: int = 200
) -> HttpResponse:
    context = build_detail_context(intent, may_edit=_may_edit(request))
    return render(request, "intents/intent_detail.html", context | {"scope_form": editor}, status=status)


def _read_version(request: HttpRequest) -> int:
    """Return the version that the form was made for; 0, which no intent has, where it names none."""
    text = request.POST.get("version", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
