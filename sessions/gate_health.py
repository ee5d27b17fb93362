"""Whether a session's tool calls really pass the gate. A hook that fails to load says nothing by itself."""

from __future__ import annotations

from enum import StrEnum

from sessions.models import AgentSession
from traces.models import LedgerEntry


class GateHealth(StrEnum):
    GOVERNED = "governed"  # calls are decided upon
    DEGRADED = "degraded"  # changes are recorded, but no call ever came to the gate
    SILENT = "silent"  # neither: opened, and nothing was heard of its tools


def health_of(session: AgentSession) -> GateHealth:
    """1 query; 2 for a session that never asked the gate."""
    mine = LedgerEntry.objects.filter(workspace_id=session.workspace_id, session_id=session.session_id)
    if mine.filter(kind="decision").exists():
        return GateHealth.GOVERNED
    return GateHealth.DEGRADED if mine.filter(kind="trace").exists() else GateHealth.SILENT
