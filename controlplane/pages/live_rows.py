"""Draw what events change on the overview and on the page that connects an agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.template.loader import render_to_string
from django.utils import timezone

from controlplane.models import Workspace
from controlplane.pages.overview import MAX_ROWS, count_pending, list_waiting
from controlplane.pages.recent_calls import list_recent_calls
from sessions.live.events import LiveEvent, RowChange

CALL, CALL_LIST = "overview/_recent_call.html", "recent-calls"
WAITING, PENDING = "overview/_waiting_list.html", "overview/_figure_pending.html"


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
