"""Draw the rows of sessions that events change, for every page that shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from django.template.loader import render_to_string

from controlplane.models import Workspace
from controlplane.policy.model import SessionState
from sessions.lifecycle.open import find_session
from sessions.live.events import LiveEvent, RowChange
from sessions.models import AgentSession, Approval
from sessions.pages.rows import SessionRow, build_detail, build_rows, is_hook_old, list_open_sessions
from traces.timeline.describe_entries import TimelineRow
from traces.timeline.timeline import PAGE_SIZE, TimelineWindow, load_timeline

SESSION_ROW, ALIVE = "sessions/_session_row.html", "sessions/_alive.html"
SESSION_LIST = "session-rows"
TIMELINE_ROW, TIMELINE_LIST = "sessions/_timeline_row.html", "timeline-rows"
SESSION_PARTS = {
    "session-summary": "sessions/_session_summary.html",
    "session-state": "sessions/_session_state.html",
}
RECENT_ENTRIES = (20, PAGE_SIZE)  # read to find the rows that new entries belong to: few, then more


def render_session_rows(
    workspace_id: int, _: Mapping[str, str], events: Sequence[LiveEvent]
) -> dict[int, list[RowChange]]:
    """Return the row of each session that an event is about; the newest of its events draws it."""
    newest = {str(event.data["session_id"]): event.seq for event in events if event.data["session_id"]}
    workspace = Workspace.objects.get(pk=workspace_id)
    sessions = list(AgentSession.objects.filter(workspace=workspace, session_id__in=newest))
    rows = build_rows(workspace, sessions)
    changes = {newest[row.id]: [_render_row(workspace, row)] for row in rows}
    if changes and any(event.subject == "session" for event in events):
        alive = render_to_string(ALIVE, {"alive": list_open_sessions(workspace).count()}).strip()
        changes[max(changes)].append(RowChange("sessions-alive", alive))
    return changes


def _render_row(workspace: Workspace, row: SessionRow) -> RowChange:
    html = render_to_string(SESSION_ROW, {"workspace": workspace, "session": row}).strip()
    # One that has ended stays where it is shown, and is never added to the list.
    return RowChange(
        f"session-{row.key}", html, "" if row.state == SessionState.ENDED else SESSION_LIST, row.key
    )


def render_timeline_rows(
    workspace_id: int, parameters: Mapping[str, str], events: Sequence[LiveEvent]
) -> dict[int, list[RowChange]] | None:
    """Return the rows of one session's timeline that events belong to, and what its header says.

    An entry may join an earlier row: a run of like calls, or the call that was held. None where a row began
    before what is read.
    """
    session_id = parameters.get("session", "")
    numbers = {event.seq for event in events if event.data["session_id"] == session_id}
    session = find_session(workspace_id, session_id) if numbers else None
    if session is None:
        return {}
    window = TimelineWindow(only_changes=parameters.get("show") == "changes", text=parameters.get("q", ""))
    rows = _load_rows(session, window, numbers)
    if rows is None:
        return None
    changes: dict[int, list[RowChange]] = {max(numbers): _render_session_parts(session)}
    for row in rows:
        changes.setdefault(max(numbers.intersection(row.numbers)), []).append(
            _render_timeline_row(session.workspace, row)
        )
    return changes


def _load_rows(session: AgentSession, window: TimelineWindow, numbers: set[int]) -> list[TimelineRow] | None:
    """Return the rows that tell of these entries; None where one of them began before what is read."""
    for limit in RECENT_ENTRIES:
        page = load_timeline(session.workspace_id, session.session_id, replace(window, limit=limit))
        rows = [row for row in page.rows if numbers.intersection(row.numbers)]
        if page.earlier is None:
            return rows
        is_complete = min(numbers) >= page.earlier and rows[:1] != page.rows[:1]
        if is_complete and not _were_held_before(session, rows, page.rows[0].at):
            return rows
    return None


def _were_held_before(session: AgentSession, rows: Sequence[TimelineRow], time: datetime) -> bool:
    """Return whether a row is about a call that was held before this time. 1 query, 0 for other rows."""
    ids = [row.approval_id for row in rows if row.approval_id]
    approvals = Approval.objects.for_workspace(session.workspace_id).filter(public_id__in=ids)
    return bool(ids) and approvals.filter(requested_at__lte=time).exists()


def _render_timeline_row(workspace: Workspace, row: TimelineRow) -> RowChange:
    html = render_to_string(TIMELINE_ROW, {"workspace": workspace, "row": row, "timeline": {"entry": None}})
    return RowChange(row.id, html.strip(), TIMELINE_LIST, row.number)


def _render_session_parts(session: AgentSession) -> list[RowChange]:
    row = build_detail(session)
    context = {"workspace": session.workspace, "session": row, "hook_is_old": is_hook_old(row)}
    return [
        RowChange(name, render_to_string(template, context).strip())
        for name, template in SESSION_PARTS.items()
    ]
