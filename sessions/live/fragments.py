"""Draw what open pages show of an event: once for everybody who watches, not once for each page.

The functions that draw stand in the layers above, so they are named here and imported when they are used.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.utils.module_loading import import_string

from sessions.live.events import EventFragment, LiveEvent

log = logging.getLogger(__name__)

Renderer = Callable[[int, Sequence[LiveEvent]], Mapping[int, EventFragment]]
RENDERERS = {"approval": "sessions.approvals.triage.rows.render_queue_changes"}  # by what the event is about


def attach_fragments(workspace_id: int, events: Sequence[LiveEvent]) -> list[LiveEvent]:
    """Return the events with their fragments. A page that gets none fetches what it shows."""
    fragments: dict[int, Any] = {}
    for subject, name in RENDERERS.items():
        chosen = [event for event in events if event.type.partition(".")[0] == subject]
        try:
            render: Renderer = import_string(name)
            fragments |= render(workspace_id, chosen) if chosen else {}
        except Exception:  # a row that cannot be drawn must not keep the event from anybody
            log.exception("could not draw the events of %s", subject)
    return [replace(event, fragment=fragments.get(event.seq)) for event in events]
