"""The Explain page: try a call, or look at a recorded decision, and see every step in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from controlplane.policy.calls.resolve_tool import resolve_tool
from controlplane.shared.access import MemberRequest, member_page
from controlplane.shared.errors import DomainError
from sessions.approvals.card.command import CommandSetting, CommandView, build_command_view, extract_command
from sessions.explain import form
from sessions.explain.form import KINDS, ExplainInput
from sessions.explain.steps import (
    Explanation,
    explain_call,
    find_or_build_session,
    read_session_snapshot,
    read_snapshot_at,
)
from traces.entries.recorded_calls import find_decision, to_recorded_call
from traces.ledger.append import read_body

if TYPE_CHECKING:
    from controlplane.models import Workspace
    from traces.models import LedgerEntry

# How the outcome of a step looks, and the word for it.
LOOKS = {
    "pass": ("yes", "Passed"),
    "skip": ("pending", "Not reached"),
    "allow": ("allow", "Allowed"),
    "ask": ("ask", "Held"),
    "deny": ("deny", "Denied"),
}


@dataclass(frozen=True, slots=True)
class StepRow:
    number: int
    name: str
    saw: str
    look: str
    word: str
    text: str


@dataclass(frozen=True, slots=True)
class Result:
    """What the template's `result` needs; its head says what the fields mean."""

    verdict: str
    answered: str
    error: str
    error_type: str
    reason: str
    tool_class: str
    targets: list[str]
    nearest: str
    unknown: list[str]
    revisions: dict[str, int | None]
    intent_id: str
    steps: list[StepRow]
    command: CommandView | None


@require_safe
@never_cache
@member_page()
def explain(request: MemberRequest) -> HttpResponse:
    """`?decision=<id>` shows a recorded decision, and decides its call anew."""
    workspace = request.workspace
    decision_id = request.GET.get("decision", "")
    if not decision_id:
        return _render_page(request, ExplainInput())
    entry = find_decision(workspace.pk, decision_id) if decision_id.isprintable() else None
    if entry is None:
        raise Http404
    return _render_page(request, _input_from_entry(entry), **_explain_entry(workspace, entry))


@require_POST
@never_cache
@member_page()
def preview(request: MemberRequest) -> HttpResponse:
    """What the gate would answer to the call in the form. A post, because calls are long."""
    data = form.read_post(request.POST)
    return _render_page(request, data, **_explain_input(request.workspace, data))


def _render_page(request: MemberRequest, data: ExplainInput, **found: Any) -> HttpResponse:
    context = {
        "form_input": data,
        "kinds": KINDS,
        "viewpoints": form.list_viewpoints(request.workspace),
        "error": "",
        "result": None,
        "recorded": None,
    } | found
    status = 400 if context["error"] else 200
    return render(request, "explain/explain.html", context, status=status)


def _explain_input(workspace: Workspace, data: ExplainInput) -> dict[str, Any]:
    try:
        requested = form.build_request(data)
        snapshot = read_snapshot_at(workspace.pk, requested, form.parse_viewpoint(data))
    except DomainError as error:
        return {"error": error.error}
    return {"result": build_result(explain_call(requested.call, snapshot))}


def _explain_entry(workspace: Workspace, entry: LedgerEntry) -> dict[str, Any]:
    call = to_recorded_call(entry, root=workspace.local_root)
    body = read_body(entry) or {}
    facts = {
        "id": entry.entry_id,
        "at": entry.received_at,
        "session_id": entry.session_id,
        "intent_id": entry.intent_id,
        "tool": entry.tool,
        "outcome": entry.outcome,
        "error": body.get("error") or "",
        "approval_id": body.get("approval_id") or "",
        "lost": call.unreplayable_reason,
    }
    if call.call is None:
        return {"recorded": facts}
    snapshot = read_session_snapshot(find_or_build_session(workspace, entry.session_id, agent=entry.agent))
    # Only a call in another work tree than its session's was recorded with its root.
    repository = snapshot.session.repository if body.get("root") else ""
    return {"recorded": facts, "result": build_result(explain_call(call.call, snapshot, repository))}


def _input_from_entry(entry: LedgerEntry) -> ExplainInput:
    body = read_body(entry) or {}
    return ExplainInput(
        kind="tool",
        text=form.to_json_text(body.get("input")),
        tool=entry.tool,
        cwd=body.get("cwd") or "",
        viewpoint=f"session:{entry.session_id}",
    )


def build_result(explanation: Explanation) -> Result:
    decision = explanation.decision
    return Result(
        verdict=decision.verdict.value,
        answered=explanation.answered_verdict.value,
        error=decision.error or "",
        error_type=decision.error_type.value if decision.error_type else "",
        reason=str(decision.reason or ""),
        tool_class=decision.tool_class.value.lower(),
        targets=[target.path or "." for target in decision.targets],
        nearest=decision.nearest_pattern or "",
        unknown=[f"{part.reason}: {part.text}" for part in decision.unknown],
        revisions=explanation.revisions,
        intent_id=decision.intent_id or "",
        steps=[
            StepRow(step.number, step.name, step.observed, *LOOKS[step.outcome], step.text)
            for step in explanation.steps
        ],
        command=_build_command_view(explanation),
    )


def _build_command_view(explanation: Explanation) -> CommandView | None:
    """The command with its targets marked, where the call is one."""
    call, snapshot = explanation.call, explanation.snapshot.core
    resolved = resolve_tool(call)
    if not extract_command(resolved):
        return None
    scope = snapshot.intent.owned_scope if snapshot.intent else ()
    policy = snapshot.policy
    setting = CommandSetting(
        call.root,
        call.cwd,
        scope,
        policy.safe_commands,
        policy.case_insensitive_paths,
        explanation.filesystem,
    )
    return build_command_view(resolved, setting)
