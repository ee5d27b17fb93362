"""Whether a session's tool calls really pass the gate. A hook that fails to load says nothing by itself."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from django.db.models import Count
from django.utils import timezone

from controlplane.policy.model import SessionState, ToolClass
from sessions.models import AgentSession
from traces.ledger.append import NewEntry, append, read_body
from traces.models import EntryKind, LedgerEntry

UNREPORTED = 3  # changes let through, none of them reported: fewer may still be under way
LOOKED_AT = 500  # allowed calls of all the sessions asked about, the newest
WATCHED = timedelta(hours=1)
MAX_WATCHED = 200
ACTOR = "gate"


class GateHealth(StrEnum):
    GOVERNED = "governed"  # calls are decided upon
    DEGRADED = "degraded"  # half of it: changes without calls, or calls without changes
    SILENT = "silent"  # neither: opened, and nothing was heard of its tools


@dataclass(frozen=True, slots=True)
class Health:
    state: GateHealth
    why: str


GOVERNED = Health(GateHealth.GOVERNED, "Its calls come to the gate.")
SILENT = Health(GateHealth.SILENT, "Nothing was heard of its tools yet.")
UNGATED = Health(
    GateHealth.DEGRADED,
    "It reports changes, but no call of it ever came to the gate: its hook before tools does not run.",
)


def _unreported(count: int) -> Health:
    why = f"{count} changes were let through and none was reported: its hook after tools does not run."
    return Health(GateHealth.DEGRADED, why)


def health_of(session: AgentSession) -> Health:
    """At most 2 queries."""
    return healths(session.workspace_id, [session.session_id])[session.session_id]


def healths(workspace_id: int, session_ids: Iterable[str]) -> dict[str, Health]:
    """At most 2 queries for any number of sessions."""
    wanted = list(session_ids)
    counted = counts(workspace_id, wanted)
    return judged(workspace_id, {session_id: counted[session_id] for session_id in wanted})


def judged(workspace_id: int, counted: Mapping[str, Counter[str]]) -> dict[str, Health]:
    """From counts that are known; at most 1 query."""
    doubtful = [name for name, count in counted.items() if count["allow"] and not count["trace"]]
    changes = _changes(workspace_id, doubtful)
    return {name: _judge(count, changes[name]) for name, count in counted.items()}


def _judge(count: Counter[str], changes: int) -> Health:
    asked = count["allow"] + count["deny"] + count["ask"]
    if count["trace"] and not asked:
        return UNGATED
    if changes >= UNREPORTED:
        return _unreported(changes)
    return GOVERNED if asked else SILENT


def counts(workspace_id: int, session_ids: list[str]) -> dict[str, Counter[str]]:
    """Of each session: its decisions by outcome, its `trace`s and its `alert`s. 1 query."""
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    theirs = LedgerEntry.objects.filter(workspace_id=workspace_id, session_id__in=session_ids)
    # Grouped at once, SQLite would walk the whole ledger by kind instead of the sessions' own entries.
    rows = LedgerEntry.objects.filter(pk__in=theirs.values("pk"))
    grouped = rows.values_list("session_id", "kind", "outcome").annotate(count=Count("pk")).order_by()
    for session_id, kind, outcome, count in grouped:
        if kind in {EntryKind.DECISION, EntryKind.TRACE} or (kind, outcome) == (EntryKind.SESSION, "alert"):
            counted[session_id]["trace" if kind == EntryKind.TRACE else outcome] += count
    return counted


def _changes(workspace_id: int, session_ids: list[str]) -> Counter[str]:
    """How many of the newest allowed calls of each session were to change something. 1 query or none."""
    if not session_ids:
        return Counter()
    rows = LedgerEntry.objects.filter(
        workspace_id=workspace_id, session_id__in=session_ids, kind=EntryKind.DECISION, outcome="allow"
    )
    newest = rows.select_related("body").order_by("-pk")[:LOOKED_AT]
    bodies = ((entry.session_id, read_body(entry) or {}) for entry in newest)
    return Counter(
        session_id
        for session_id, body in bodies
        if body.get("classification") == ToolClass.DESTRUCTIVE and body.get("targets")
    )


def watch() -> int:
    """For the server's own loop: alarms for live sessions whose hooks run only in part; how many are new."""
    recent = AgentSession.objects.filter(last_seen_at__gt=timezone.now() - WATCHED)
    alive = recent.exclude(state__in=[SessionState.ENDED, SessionState.REQUEST]).order_by("-last_seen_at")
    by_workspace: dict[int, list[AgentSession]] = defaultdict(list)
    for session in alive[:MAX_WATCHED]:
        by_workspace[session.workspace_id].append(session)
    return sum(
        alarm(session, found[session.session_id])
        for workspace_id, sessions in by_workspace.items()
        for found in [healths(workspace_id, [session.session_id for session in sessions])]
        for session in sessions
    )


def alarm(session: AgentSession, health: Health) -> bool:
    """Tell the reviewers, once for a session and a kind of trouble; False when there is nothing new."""
    if health.state is not GateHealth.DEGRADED:
        return False
    trouble = "ungated" if health is UNGATED else "unreported"
    made = append(
        NewEntry(
            workspace_id=session.workspace_id,
            kind=EntryKind.SESSION,
            idempotency_key=f"health:{session.pk}:{trouble}",
            session_id=session.session_id,
            intent_id=session.selected_intent_id,
            outcome="alert",
            agent=session.agent_name,
            reason=trouble,
            actor=ACTOR,
            body={"event": "alert", "session_id": session.session_id, "text": health.why},
        )
    )
    return made is not None
