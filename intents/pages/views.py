"""Pages of the registry: list, one intent, editing, import and export. Posts change and redirect."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from controlplane.models import Role
from controlplane.policy.model import IntentStatus
from controlplane.shared.access import MemberRequest, may, member_page, person_name
from controlplane.shared.downloads import text_download
from intents import registry
from intents.file_format.yaml_tree import MAX_BYTES
from intents.models import Intent
from intents.pages.forms import IntentForm
from intents.pages.intent_detail import build_detail_context, build_scope_form
from intents.pages.intent_list import IntentFilters, build_list_context
from intents.pages.scope_preview import find_line_errors, preview_scope
from intents.pages.text_area_lists import numbered_lines
from intents.registry_file import import_export
from intents.selectors import find_intent

TEXT_WHEN_BLOCKING = 500


@require_GET
@member_page()
def intent_list(request: MemberRequest) -> HttpResponse:
    filters = IntentFilters(*(request.GET.get(name, "") for name in ("q", "status", "owner")))
    context = build_list_context(request.workspace.pk, filters)
    return render(request, "intents/intent_list.html", context | {"may_edit": _may_edit(request)})


@require_GET
@member_page()
def intent_detail(request: MemberRequest, intent_id: str) -> HttpResponse:
    intent = _found(request, intent_id)
    return _detail(request, intent, build_scope_form(intent, _address(request, "scope-preview", intent)))


@require_http_methods(["GET", "POST"])
@member_page(Role.ADMIN)
def intent_new(request: MemberRequest) -> HttpResponse:
    form = IntentForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            intent = registry.create(request.workspace, form.document(), actor=_actor(request))
        except registry.InvalidIntentError as error:
            form.add_report_errors(error.report)
        except registry.IntentExistsError as error:
            form.add_error("id", str(error))
        else:
            messages.success(request, f"{intent.intent_id} is registered.")
            return redirect(_address(request, "detail", intent))
    return render(request, "intents/intent_form.html", {"form": form, "intent": None}, status=_status(form))


@require_http_methods(["GET", "POST"])
@member_page(Role.ADMIN)
def intent_edit(request: MemberRequest, intent_id: str) -> HttpResponse:
    """Posted to by three forms: a move of the status, the scope editor, and the whole form."""
    intent = _found(request, intent_id)
    if "status" in request.POST:
        return _move(request, intent)
    if "scope" in request.POST and "name" not in request.POST:
        return _save_scope(request, intent)
    form = IntentForm(request.POST or None, intent=intent)
    if request.method == "POST" and form.is_valid() and _saved(request, intent, form):
        return redirect(_address(request, "detail", intent))
    facts = {"id": intent.intent_id, "revision": intent.version}
    return render(request, "intents/intent_form.html", {"form": form, "intent": facts}, status=_status(form))


@require_POST
@member_page()
def scope_preview(request: MemberRequest, intent_id: str) -> HttpResponse:
    found = preview_scope(_found(request, intent_id), request.POST.get("scope", ""))
    return render(request, "intents/_scope_preview.html", {"scope_preview": found})


@require_http_methods(["GET", "POST"])
@member_page(Role.ADMIN)
def intent_import(request: MemberRequest) -> HttpResponse:
    how = import_export.ImportOptions(
        "replace" if request.POST.get("mode") == "replace" else "merge", lenient="lenient" in request.POST
    )
    context: dict[str, Any] = {"mode": how.mode, "lenient": how.lenient, "text": ""}
    if request.method == "POST":
        data = _document(request)
        if request.POST.get("step") == "apply":
            found = import_export.import_registry(request.workspace, data, how, actor=_actor(request))
            if found.applied:
                messages.success(request, _told(found.plan))
                return redirect("intents:list", request.workspace.slug)
        else:
            found = import_export.preview_import(request.workspace.pk, data, how)
        context |= {"text": data.decode(errors="replace"), "report": found.report, "plan": _steps(found)}
    return render(request, "intents/intent_import.html", context)


@require_GET
@member_page()
def intent_export(request: MemberRequest) -> HttpResponse:
    return text_download(
        import_export.export_registry(request.workspace), "active_intents.yaml", "application/yaml"
    )


def _found(request: MemberRequest, intent_id: str) -> Intent:
    intent = find_intent(request.workspace.pk, intent_id)
    if intent is None:
        raise Http404
    return intent


def _may_edit(request: MemberRequest) -> bool:
    return may(request.role, Role.ADMIN)


def _actor(request: HttpRequest) -> str:
    return person_name(request.user)


def _address(request: MemberRequest, name: str, intent: Intent) -> str:
    return reverse(f"intents:{name}", args=[request.workspace.slug, intent.intent_id])


def _status(form: IntentForm) -> int:
    return 422 if form.is_bound else 200


def _detail(
    request: MemberRequest, intent: Intent, editor: dict[str, Any], status: int = 200
) -> HttpResponse:
    context = build_detail_context(intent, may_edit=_may_edit(request))
    return render(request, "intents/intent_detail.html", context | {"scope_form": editor}, status=status)


def _move(request: MemberRequest, intent: Intent) -> HttpResponse:
    changes = {"status": request.POST["status"]}
    if changes["status"] == IntentStatus.BLOCKED:
        changes["blocked_reason"] = request.POST.get("blocked_reason", "")[:TEXT_WHEN_BLOCKING]
    try:
        registry.edit(intent, changes, actor=_actor(request), version=_version(request))
    except (
        registry.VersionConflictError,
        registry.StatusMoveRefusedError,
        registry.InvalidIntentError,
    ) as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{intent.intent_id} is {intent.get_status_display().lower()}.")
    return redirect(_address(request, "detail", intent))


def _save_scope(request: MemberRequest, intent: Intent) -> HttpResponse:
    text = request.POST["scope"]
    editor = build_scope_form(intent, _address(request, "scope-preview", intent)) | {"text": text}
    errors = find_line_errors(text)
    if not errors:
        try:
            changes = {"owned_scope": [line for _, line in numbered_lines(text)]}
            registry.edit(intent, changes, actor=_actor(request), version=_version(request))
        except registry.InvalidIntentError as error:
            errors = [{"line": 1, "message": problem.message} for problem in error.report.errors]
        except registry.VersionConflictError as error:
            errors = [{"line": 1, "message": f"{error} Look at the newest scope before you save yours."}]
    if errors:
        return _detail(request, intent, editor | {"errors": errors}, status=422)
    messages.success(request, f"The scope is saved as revision {intent.version}.")
    return redirect(_address(request, "detail", intent))


def _saved(request: MemberRequest, intent: Intent, form: IntentForm) -> bool:
    try:
        registry.edit(intent, form.document(), actor=_actor(request), version=_version(request))
    except registry.InvalidIntentError as error:
        form.add_report_errors(error.report)
    except registry.VersionConflictError as error:
        form.add_error(None, str(error))
    else:
        messages.success(request, f"{intent.intent_id} is saved as revision {intent.version}.")
        return True
    return False


def _version(request: HttpRequest) -> int:
    """The version that the form was made for; 0, which no intent has, where the form does not say."""
    text = request.POST.get("version", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def _document(request: HttpRequest) -> bytes:
    file = request.FILES.get("file")
    if file is not None:
        return bytes(file.read(MAX_BYTES + 1))
    return request.POST.get("text", "").replace("\r\n", "\n").encode()


def _steps(found: import_export.ImportResult) -> list[dict[str, Any]] | None:
    """The plan as the page lists it; None where the file was invalid."""
    if found.values is None:
        return None
    plan = found.plan
    changes = (("added", plan.added), ("changed", plan.changed), ("removed", plan.removed))
    names = {values.intent_id: values.name for values in found.values.intents}
    steps = [
        {
            "intent_id": one.intent_id,
            "name": names.get(one.intent_id) or (one.before.name if one.before else ""),
            "change": word,
            "fields": one.fields,
        }
        for word, ones in changes
        for one in ones
    ]
    same = [
        {"intent_id": one, "name": names[one], "change": "unchanged", "fields": ()} for one in plan.unchanged
    ]
    return steps + same


def _told(plan: import_export.ImportPlan) -> str:
    return f"{len(plan.added)} added, {len(plan.changed)} changed, {len(plan.removed)} removed."
