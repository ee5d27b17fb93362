"""Draw what events change on the overview, the list of intents and the page that connects an agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.template.loader import render_to_string
from django.utils import timezone

from controlplane.models import Workspace
from controlplane.pages.overview import MAX_ROWS, count_pending, list_waiting
from controlplane.pages.recent_calls import list_recent_calls
from intents.pages.intent_list import IntentFilters, build_list_context
from sessions.live.events import LiveEvent, RowChange

CALL, CALL_LIST = "overview/_recent_call.html", "recent-calls"
WAITING, PENDING = "overview/_waiting_list.html", "overview/_figure_pending.html"

INTENT, INTENT_LIST, INTENT_STRIP = "intents/_intent_row.html", "intent-rows", "intents/_strip.html"


def render_recent_calls(
    workspace_id: int, _: Mapping[str, str], events: Sequence[LiveEvent]
) -> dict[int, list[RowChange]]:
    """Return the row of each decision, of many the newest ones that the list has room for."""
    numbers = [event.seq for event in events if event.subject == "decision"]
    if not numbers:
        return {}
    workspace = Workspace.objects.get(pk=workspace_id)
    calls = list_recent_calls(workspace_id, MAX_ROWS, above=min(numbers) - 1)
    return {
        call.number: [
            RowChange(
                f"call-{call.number}",
                render_to_string(CALL, {"workspace": workspace, "row": call}).strip(),
                CALL_LIST,
                call.number,
            )
        ]
        for call in calls
        if call.number in numbers
    }


def render_overview_parts(
    workspace_id: int, parameters: Mapping[str, str], events: Sequence[LiveEvent]
) -> dict[int, list[RowChange]]:
    """Return the rows of decisions; with approvals also the list of those that wait, and their number."""
    changes = render_recent_calls(workspace_id, parameters, events)
    approvals = [event.seq for event in events if event.subject == "approval"]
    if approvals:
        changes.setdefault(max(approvals), []).extend(_render_pending(workspace_id))
    return changes


def _render_pending(workspace_id: int) -> list[RowChange]:
    workspace, now = Workspace.objects.get(pk=workspace_id), timezone.now()
    waiting = {"workspace": workspace, "waiting": list_waiting(workspace, now)}
    figures = {"figures": count_pending(workspace, now)}
    return [
        RowChange("waiting", render_to_string(WAITING, waiting).strip()),
        RowChange("figure-pending", render_to_string(PENDING, figures).strip()),
    ]


def render_intent_rows(
    workspace_id: int, _: Mapping[str, str], events: Sequence[LiveEvent]
) -> dict[int, list[RowChange]] | None:
    """Return the rows of intents that changed, or that sessions took or let go; None when one was removed."""
    newest = {
        event.data["intent_id"]: event.seq
        for event in events
        if event.subject in {"intent", "session"} and event.data["intent_id"]
    }
    if not newest:
        return {}
    context = build_list_context(workspace_id, IntentFilters(), only=newest.keys())
    context |= {"workspace": Workspace.objects.get(pk=workspace_id)}
    if len(context["intents"]) < len(newest):
        return None
    changes = {newest[row["id"]]: [_render_intent(context, row)] for row in context["intents"]}
    strip = render_to_string(INTENT_STRIP, context).strip()
    changes[max(changes)].append(RowChange("intents-strip", strip))
    return changes


def _render_intent(context: Mapping[str, Any], row: Mapping[str, Any]) -> RowChange:
    html = render_to_string(INTENT, {**context, "intent": row}).strip()
    return RowChange(f"intent-{row['key']}", html, INTENT_LIST, row["position"])
