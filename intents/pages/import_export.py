"""Pages that import `active_intents.yaml`, checked before it is applied, and download it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from controlplane.models import Role
from controlplane.shared.access import MemberRequest, display_name, member_page
from controlplane.shared.downloads import text_download
from intents.file_format.yaml_tree import MAX_BYTES
from intents.registry_file.import_export import (
    ImportOptions,
    ImportPlan,
    ImportResult,
    export_registry,
    import_registry,
    preview_import,
)


@require_http_methods(["GET", "POST"])
@member_page(Role.ADMIN)
def intent_import(request: MemberRequest) -> HttpResponse:
    options = ImportOptions(
        "replace" if request.POST.get("mode") == "replace" else "merge", lenient="lenient" in request.POST
    )
    context: dict[str, Any] = {"mode": options.mode, "lenient": options.lenient, "text": ""}
    if request.method == "POST":
        data = _read_document(request)
        if request.POST.get("step") == "apply":
            result = import_registry(request.workspace, data, options, actor=display_name(request.user))
            if result.applied:
                messages.success(request, _describe(result.plan))
                return redirect("intents:list", request.workspace.slug)
        else:
            result = preview_import(request.workspace.pk, data, options)
        context |= {"text": data.decode(errors="replace"), "report": result.report, "plan": _steps(result)}
    return render(request, "intents/intent_import.html", context)


@require_GET
@member_page()
def intent_export(request: MemberRequest) -> HttpResponse:
    return text_download(export_registry(request.workspace), "active_intents.yaml", "application/yaml")


def _read_document(request: HttpRequest) -> bytes:
    file = request.FILES.get("file")
    if file is not None:
        # One byte more than allowed is enough for the parser to refuse the file as too large.
        return bytes(file.read(MAX_BYTES + 1))
    return request.POST.get("text", "").replace("\r\n", "\n").encode()


def _steps(result: ImportResult) -> list[dict[str, Any]] | None:
    """Return the rows of the plan; None where the file was invalid."""
    if result.values is None:
        return None
    plan = result.plan
    groups = (("added", plan.added), ("changed", plan.changed), ("removed", plan.removed))
    names = {values.intent_id: values.name for values in result.values.intents}
    steps = [
        {
            "intent_id": change.intent_id,
            "name": names.get(change.intent_id) or (change.before.name if change.before else ""),
            "change": action,
            "fields": change.fields,
        }
        for action, changes in groups
        for change in changes
    ]
    unchanged = [
        {"intent_id": intent_id, "name": names[intent_id], "change": "unchanged", "fields": ()}
        for intent_id in plan.unchanged
    ]
    return steps + unchanged


def _describe(plan: ImportPlan) -> str:
    return f"{len(plan.added)} added, {len(plan.changed)} changed, {len(plan.removed)} removed."
