"""Draw what open pages show of an event: once for everybody who watches, not once for each page.

A page names what it shows, its *view*: `sessions`, or with parameters `timeline?session=s-1`. The functions
that draw stand in the layers above, so they are named here and imported when they are used.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl

from django.utils.module_loading import import_string

from sessions.live.events import ALL_EVENTS, QUEUE, LiveEvent, QueueChange, RowChange

log = logging.getLogger(__name__)

ALWAYS_DRAWN = frozenset({QUEUE, ALL_EVENTS})
Changes = Mapping[int, Sequence[RowChange]]  # by the number of the event
Renderer = Callable[[int, Mapping[str, str], Sequence[LiveEvent]], Changes | None]  # None: pages fetch it
RENDER_QUEUE = "sessions.approvals.triage.rows.render_queue_changes"
RENDERERS = {
    "sessions": "sessions.pages.live_rows.render_session_rows",
    "timeline": "sessions.pages.live_rows.render_timeline_rows",
    "calls": "controlplane.pages.live_rows.render_recent_calls",
    "intents": "controlplane.pages.live_rows.render_intent_rows",
    "overview": "controlplane.pages.live_rows.render_overview_parts",
}


def attach_queue(workspace_id: int, events: Sequence[LiveEvent], *, with_rows: bool) -> list[LiveEvent]:
    """Return the events with the count of what is pending, and with the rows of the queue."""
    queue = _render_queue(workspace_id, events, with_rows=with_rows)
    if queue is None:
        return list(events)
    return [replace(event, queue=queue.get(event.seq), drawn=ALWAYS_DRAWN) for event in events]


def attach_changes(workspace_id: int, events: Sequence[LiveEvent], views: Collection[str]) -> list[LiveEvent]:
    """Return events, which have their queue, with what they change in these views.

    A page whose view cannot be drawn fetches what it shows.
    """
    changes = {view: _render_view(workspace_id, view, events) for view in views if _has_renderer(view)}
    drawn = frozenset(view for view in views if changes.get(view, {}) is not None)
    return [
        replace(
            event,
            changes={view: one[event.seq] for view, one in changes.items() if one and event.seq in one},
            drawn=event.drawn | drawn if event.drawn is not None else None,
        )
        for event in events
    ]


def _has_renderer(view: str) -> bool:
    return view.partition("?")[0] in RENDERERS


def _render_queue(
    workspace_id: int, events: Sequence[LiveEvent], *, with_rows: bool
) -> Mapping[int, QueueChange] | None:
    chosen = [event for event in events if event.subject == "approval"]
    if not chosen:
        return {}
    try:
        render: Any = import_string(RENDER_QUEUE)
        drawn: Mapping[int, QueueChange] = render(workspace_id, chosen, with_rows=with_rows)
    except Exception:  # a row that cannot be drawn must not keep the event from anybody
        log.exception("could not draw the queue")
        return None
    return drawn


def _render_view(workspace_id: int, view: str, events: Sequence[LiveEvent]) -> Changes | None:
    name, _, parameters = view.partition("?")
    try:
        render: Renderer = import_string(RENDERERS[name])
        return render(workspace_id, dict(parse_qsl(parameters)), events)
    except Exception:
        log.exception("could not draw the events of %s", name)
        return None
