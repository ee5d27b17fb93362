"""Tell whether a session's tool calls really pass the gate.

A hook that fails to load says nothing by itself, so this is judged by what the ledger has and has not.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from django.db.models import Count
from django.utils import timezone

from controlplane.policy.model import SessionState, ToolClass
from sessions.models import AgentSession, ContainedRun
from traces.ledger.append import NewEntry, append, read_body
from traces.models import EntryKind, LedgerEntry

MIN_UNREPORTED = 3  # changes allowed and none of them reported: fewer may still be under way
MAX_CALLS_READ = 500  # allowed calls of all the given sessions, the newest
ALERT_PERIOD = timedelta(hours=1)
MAX_SESSIONS = 200
ACTOR = "gate"


class GateHealth(StrEnum):
    GOVERNED = "governed"  # its calls are decided
    DEGRADED = "degraded"  # changes without calls, or calls without changes: one of two hooks does not run
    SILENT = "silent"  # opened, and neither calls nor changes have come


@dataclass(frozen=True, slots=True)
class Health:
    """`alert` is the reason of an alert that this state raises, "" for none."""

    state: GateHealth
    why: str
    alert: str = ""


GOVERNED = Health(GateHealth.GOVERNED, "Its calls come to the gate.")
SILENT = Health(GateHealth.SILENT, "Nothing was heard of its tools yet.")
UNGATED = Health(
    GateHealth.DEGRADED,
    "It reports changes, but no call of it ever came to the gate: its hook before tools does not run.",
    "ungated",
)


def _build_unreported(count: int) -> Health:
    reason = f"{count} changes were let through and none was reported: its hook after tools does not run."
    return Health(GateHealth.DEGRADED, reason, "unreported")


def _build_missing(count: int) -> Health:
    runs = "a contained run" if count == 1 else f"{count} contained runs"
    return Health(GateHealth.DEGRADED, f"The effects of {runs} never came, so nobody knows what changed.")


def compute_health(session: AgentSession) -> Health:
    """Return the health of one session. At most 3 queries."""
    return compute_healths(session.workspace_id, [session.session_id])[session.session_id]


def compute_healths(workspace_id: int, session_ids: Iterable[str]) -> dict[str, Health]:
    """Return the health of each session. At most 3 queries for any number of them."""
    ids = list(session_ids)
    counts_by_session = count_entries(workspace_id, ids)
    return classify_sessions(workspace_id, {session_id: counts_by_session[session_id] for session_id in ids})


def classify_sessions(workspace_id: int, counts: Mapping[str, Counter[str]]) -> dict[str, Health]:
    """Return the health of each session from its entry counts. At most 2 queries."""
    doubtful = [name for name, count in counts.items() if count["allow"] and not count["trace"]]
    changes = _count_changes(workspace_id, doubtful)
    alarmed = [name for name, count in counts.items() if count["alert"]]  # as each missing report is
    missing = _count_missing(workspace_id, alarmed)
    return {name: _classify(count, changes[name], missing[name]) for name, count in counts.items()}


def _classify(count: Counter[str], changes: int, missing: int) -> Health:
    calls = count["allow"] + count["deny"] + count["ask"]
    if count["trace"] and not calls:
        return UNGATED
    if changes >= MIN_UNREPORTED:
        return _build_unreported(changes)
    if missing:
        return _build_missing(missing)
    return GOVERNED if calls else SILENT


def count_entries(workspace_id: int, session_ids: list[str]) -> dict[str, Counter[str]]:
    """Count the decisions of each session by outcome, its `trace`s and its `alert`s. 1 query."""
    totals: dict[str, Counter[str]] = defaultdict(Counter)
    entries = LedgerEntry.objects.filter(workspace_id=workspace_id, session_id__in=session_ids)
    # Grouped at once, SQLite would walk the whole ledger by kind instead of the sessions' own entries.
    rows = LedgerEntry.objects.filter(pk__in=entries.values("pk"))
    grouped = rows.values_list("session_id", "kind", "outcome").annotate(count=Count("pk")).order_by()
    for session_id, kind, outcome, count in grouped:
        if kind in {EntryKind.DECISION, EntryKind.TRACE} or (kind, outcome) == (EntryKind.SESSION, "alert"):
            totals[session_id]["trace" if kind == EntryKind.TRACE else outcome] += count
    return totals


def _count_changes(workspace_id: int, session_ids: list[str]) -> Counter[str]:
    """Count the newest allowed calls of each session that would change something. 1 query or none."""
    if not session_ids:
        return Counter()
    rows = LedgerEntry.objects.filter(
        workspace_id=workspace_id, session_id__in=session_ids, kind=EntryKind.DECISION, outcome="allow"
    )
    newest = rows.select_related("body").order_by("-pk")[:MAX_CALLS_READ]
    bodies = ((entry.session_id, read_body(entry) or {}) for entry in newest)
    return Counter(
        session_id
        for session_id, body in bodies
        if body.get("classification") == ToolClass.DESTRUCTIVE and body.get("targets")
    )


def _count_missing(workspace_id: int, session_ids: list[str]) -> Counter[str]:
    """Count the contained runs of each session whose effects never came. 1 query or none."""
    overdue = ContainedRun.objects.for_workspace(workspace_id).filter(status=ContainedRun.Status.OVERDUE)
    rows = overdue.filter(session__session_id__in=session_ids) if session_ids else overdue.none()
    return Counter(rows.values_list("session__session_id", flat=True))


def alert_on_partial_hooks() -> int:
    """Alert on recent sessions whose hooks run only in part; return how many alerts are new.

    Called by the server's background loop.
    """
    recent = AgentSession.objects.filter(last_seen_at__gt=timezone.now() - ALERT_PERIOD)
    candidates = recent.exclude(state__in=[SessionState.ENDED, SessionState.REQUEST]).order_by(
        "-last_seen_at"
    )
    by_workspace: dict[int, list[AgentSession]] = defaultdict(list)
    for session in candidates[:MAX_SESSIONS]:
        by_workspace[session.workspace_id].append(session)
    return sum(
        alert_if_degraded(session, healths[session.session_id])
        for workspace_id, sessions in by_workspace.items()
        for healths in [compute_healths(workspace_id, [session.session_id for session in sessions])]
        for session in sessions
    )


def alert_if_degraded(session: AgentSession, health: Health) -> bool:
    """Alert the reviewers, once for a session and reason; False when there is nothing new."""
    if not health.alert:
        return False
    appended = append(
        NewEntry(
            workspace_id=session.workspace_id,
            kind=EntryKind.SESSION,
            idempotency_key=f"health:{session.pk}:{health.alert}",
            session_id=session.session_id,
            intent_id=session.selected_intent_id,
            outcome="alert",
            agent=session.agent_name,
            reason=health.alert,
            actor=ACTOR,
            body={"event": "alert", "session_id": session.session_id, "text": health.why},
        )
    )
    return appended is not None
