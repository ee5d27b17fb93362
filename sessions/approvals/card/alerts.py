"""Find the alert about a session that a card shows."""

from __future__ import annotations

from sessions.models import AgentSession
from traces.ledger.append import read_body
from traces.models import LedgerEntry

MAX_ALERTS = 50  # of the session, the newest


def find_alert_text(session: AgentSession, paths: set[str]) -> str:
    """Return the newest alert about one of these paths, else the newest at all, "" without any. 1 query."""
    rows = LedgerEntry.objects.filter(
        workspace_id=session.workspace_id, session_id=session.session_id, kind="session", outcome="alert"
    )
    bodies = [read_body(entry) or {} for entry in rows.select_related("body").order_by("-pk")[:MAX_ALERTS]]
    bodies.sort(key=lambda body: body.get("path") not in paths)  # stable: the newest stays first
    return str(bodies[0].get("text", "")) if bodies else ""
