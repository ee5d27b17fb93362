"""Collect the background of a card: goal, session, last events, other agents, past decisions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from controlplane.templatetags.names import agent_title
from controlplane.templatetags.times import format_since
from intents.code_owners import find_code_owners
from intents.criteria import CriterionState, list_criteria
from intents.models import Intent
from sessions.approvals.card.alerts import find_alert_text
from sessions.approvals.card.ownership import PathOwner
from sessions.approvals.card.run_facts import RunFacts, build_run_facts
from sessions.approvals.card.subjects import list_paths
from sessions.models import AgentSession, Approval
from sessions.representations import count_session_entries
from traces.ledger.append import read_body
from traces.models import LedgerEntry, TraceFile
from traces.timeline.held_calls import describe_folded

MAX_PATHS = 20  # whose code owners are named
MAX_EVENTS = 5
MAX_ENTRIES_READ = 20
MAX_PAST_DECISIONS = 5
MAX_DECISIONS_READ = 200
RETRY_WINDOW = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class IntentGoal:
    id: str
    name: str
    description: str
    criteria: tuple[CriterionState, ...]


@dataclass(frozen=True, slots=True)
class SessionSummary:
    id: str
    state: str
    since: datetime
    calls: int
    refused: int
    held: int
    gate: str = ""


@dataclass(frozen=True, slots=True)
class ContextEvent:
    at: datetime
    outcome: str
    text: str
    object: str = ""


@dataclass(frozen=True, slots=True)
class OtherAgent:
    agent: str
    text: str


@dataclass(frozen=True, slots=True)
class CardContext:
    goal: IntentGoal | None
    session: SessionSummary
    events: tuple[ContextEvent, ...]
    alert: str
    others: tuple[OtherAgent, ...]
    others_note: str
    past: tuple[ContextEvent, ...]
    pattern: str
    run: RunFacts | None = None


def build_context(approval: Approval, intent: Intent | None, owners: list[PathOwner]) -> CardContext:
    """Build the context in 9 queries, whatever the size of the workspace; 10 where criteria have evidence,
    2 more for a run."""
    paths = list_paths(approval)
    entries = _list_entries(approval)
    bodies = [(entry, read_body(entry) or {}) for entry in entries]
    return CardContext(
        goal=_build_goal(intent) if intent else None,
        session=_summarize_session(approval),
        events=_build_events(entries),
        alert=find_alert_text(approval.session, set(paths)) or _find_retried_denial(bodies, set(paths)),
        others=tuple(_list_other_agents(approval, owners, paths)),
        others_note=_describe_owners(approval, owners, paths),
        past=tuple(_list_past_decisions(approval, set(paths))),
        pattern=paths[0] if len(paths) == 1 else "",
        run=build_run_facts(approval) if approval.kind == Approval.Kind.RUN else None,
    )


def _describe_owners(approval: Approval, owners: list[PathOwner], paths: list[str]) -> str:
    sentences = ["No other open intent owns it."] if paths and not owners else []
    users = {
        owner for path in paths[:MAX_PATHS] for owner in find_code_owners(approval.workspace.local_root, path)
    }
    if users:
        sentences.append(f"Code owners: {', '.join(sorted(users))}.")
    return " ".join(sentences)


def _build_goal(intent: Intent) -> IntentGoal:
    return IntentGoal(intent.intent_id, intent.title, intent.description, list_criteria(intent))


def _summarize_session(approval: Approval) -> SessionSummary:
    session = approval.session
    counts = count_session_entries(session)
    entries = LedgerEntry.objects.filter(
        workspace_id=session.workspace_id, session_id=session.session_id, kind="session"
    )
    last_change = entries.order_by("-pk").values_list("received_at", flat=True).first()
    return SessionSummary(
        id=session.session_id,
        state="Frozen" if session.frozen else session.state,
        since=last_change or session.opened_at,
        calls=counts["calls"],
        refused=counts["denied"],
        held=counts["asked"],
    )


def _list_entries(approval: Approval) -> list[LedgerEntry]:
    rows = LedgerEntry.objects.filter(
        workspace_id=approval.workspace_id, session_id=approval.session.session_id
    )
    return list(
        rows.select_related("body", "leaf").prefetch_related("files").order_by("-pk")[:MAX_ENTRIES_READ]
    )


def _build_events(entries: list[LedgerEntry]) -> tuple[ContextEvent, ...]:
    """Return the newest events first, each held call as one."""
    rows = describe_folded(entries[::-1])[::-1]
    return tuple(ContextEvent(row.at, row.outcome, row.verb, row.object) for row in rows[:MAX_EVENTS])


def _find_retried_denial(bodies: Iterable[tuple[LedgerEntry, dict[str, Any]]], paths: set[str]) -> str:
    """Return a warning when a call on one of these paths was denied minutes ago, else "".

    Rewording a denied call is how agents try to get around a gate.
    """
    now = timezone.now()
    for entry, body in bodies:
        is_recent_denial = (
            entry.kind == "decision" and entry.outcome == "deny" and now - entry.received_at < RETRY_WINDOW
        )
        if is_recent_denial and paths.intersection(body.get("targets", [])):
            return f"Similar to a call that was denied {format_since(entry.received_at, now, ' ago')}."
    return ""


def _list_other_agents(approval: Approval, owners: list[PathOwner], paths: list[str]) -> Iterable[OtherAgent]:
    now = timezone.now()
    for owner in owners[:3]:
        for session in owner.sessions[:2]:
            last_seen = format_since(session.last_seen_at, now, " ago")
            yield OtherAgent(
                agent_title(session.agent_name), f"holds {owner.intent_id}, last seen {last_seen}"
            )
    rows = TraceFile.objects.filter(workspace_id=approval.workspace_id, path__in=paths[:100])
    files = list(rows.exclude(session_id=approval.session.session_id).order_by("-pk")[:3])
    agents = _map_agent_names(approval.workspace_id, [file.session_id for file in files])
    for file in files:
        action = f"{file.intent_id} wrote" if file.intent_id else "wrote"
        title = agent_title(agents.get(file.session_id, ""))
        yield OtherAgent(title, f"{action} {file.path} {format_since(file.changed_at, now, ' ago')}")


def _map_agent_names(workspace_id: int, session_ids: list[str]) -> dict[str, str]:
    sessions = AgentSession.objects.filter(workspace_id=workspace_id, session_id__in=session_ids)
    return dict(sessions.values_list("session_id", "agent_name"))


def _list_past_decisions(approval: Approval, paths: set[str]) -> Iterable[ContextEvent]:
    """Yield decisions on approvals held for the same reason on one of the same paths.

    Reads the newest `MAX_DECISIONS_READ` ledger entries; their bodies are small.
    """
    rows = LedgerEntry.objects.filter(
        workspace_id=approval.workspace_id,
        kind="approval",
        error_type=approval.error_type,
        outcome__in=["APPROVED", "REJECTED", "EXPIRED"],
    ).select_related("body")
    count = 0
    for entry in rows.order_by("-pk")[:MAX_DECISIONS_READ]:
        body = read_body(entry) or {}
        is_same = body.get("approval_id") == approval.public_id
        if is_same or not paths.intersection(body.get("targets") or []):
            continue
        yield ContextEvent(entry.received_at, entry.outcome.lower(), _describe_past_decision(entry, body))
        count += 1
        if count == MAX_PAST_DECISIONS:
            return


def _describe_past_decision(entry: LedgerEntry, body: dict[str, Any]) -> str:
    if entry.outcome == "EXPIRED":
        return "Timed out, nobody decided"
    comment = f": {body['comment']}" if body.get("comment") else ""
    extent = {"once": "Once", "session": "For the session", "scope": "Scope widened"}.get(
        body.get("grant", ""), "Rejected"
    )
    return f"{extent}, by {body.get('decider', '')}{comment}"
