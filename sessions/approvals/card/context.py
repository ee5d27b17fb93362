"""What a careful reviewer looks at next to a card: goal, session, last events, who else, past decisions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from controlplane.templatetags.times import format_since
from intents.code_owners import code_owners
from intents.models import Intent
from sessions.agent_titles import agent_title
from sessions.approvals.card.alerts import find_alert_text
from sessions.approvals.card.ownership import Owner
from sessions.approvals.card.previews import Criterion
from sessions.approvals.card.subjects import paths_of
from sessions.models import AgentSession, Approval
from sessions.representations import count_session_entries
from traces.ledger.append import body_of
from traces.models import LedgerEntry, TraceFile
from traces.timeline.describe_entries import describe

MAX_PATHS = 20  # whose code owners are named
EVENTS_SHOWN = 5
EVENTS_READ = 20
PAST_SHOWN = 5
PAST_READ = 200
ALERT_WITHIN = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class Goal:
    id: str
    name: str
    description: str
    criteria: tuple[Criterion, ...]


@dataclass(frozen=True, slots=True)
class SessionFacts:
    id: str
    state: str
    since: datetime
    calls: int
    refused: int
    held: int
    gate: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    at: datetime
    outcome: str
    text: str
    object: str = ""


@dataclass(frozen=True, slots=True)
class Other:
    agent: str
    text: str


@dataclass(frozen=True, slots=True)
class CardContext:
    goal: Goal | None
    session: SessionFacts
    events: tuple[Event, ...]
    alert: str
    others: tuple[Other, ...]
    others_note: str
    past: tuple[Event, ...]
    pattern: str


def context_of(approval: Approval, intent: Intent | None, owners: list[Owner]) -> CardContext:
    """9 queries, whatever the workspace holds."""
    paths = paths_of(approval)
    entries = _entries(approval)
    bodies = [(entry, body_of(entry) or {}) for entry in entries]
    return CardContext(
        goal=_goal(intent) if intent else None,
        session=_session(approval),
        events=tuple(_event(entry) for entry in entries[:EVENTS_SHOWN]),
        alert=find_alert_text(approval.session, set(paths)) or _alert(bodies, set(paths)),
        others=tuple(_others(approval, owners, paths)),
        others_note=_owners_note(approval, owners, paths),
        past=tuple(_past(approval, set(paths))),
        pattern=paths[0] if len(paths) == 1 else "",
    )


def _owners_note(approval: Approval, owners: list[Owner], paths: list[str]) -> str:
    sentences = ["No other open intent owns it."] if paths and not owners else []
    people = {
        owner for path in paths[:MAX_PATHS] for owner in code_owners(approval.workspace.local_root, path)
    }
    if people:
        sentences.append(f"Code owners: {', '.join(sorted(people))}.")
    return " ".join(sentences)


def _goal(intent: Intent) -> Goal:
    criteria = tuple(Criterion(str(text)) for text in intent.acceptance_criteria)
    return Goal(intent.intent_id, intent.title, intent.description, criteria)


def _session(approval: Approval) -> SessionFacts:
    session = approval.session
    counts = count_session_entries(session)
    changes = LedgerEntry.objects.filter(
        workspace_id=session.workspace_id, session_id=session.session_id, kind="session"
    )
    last = changes.order_by("-pk").values_list("received_at", flat=True).first()
    return SessionFacts(
        id=session.session_id,
        state="Frozen" if session.frozen else session.state,
        since=last or session.opened_at,
        calls=counts["calls"],
        refused=counts["denied"],
        held=counts["asked"],
    )


def _entries(approval: Approval) -> list[LedgerEntry]:
    rows = LedgerEntry.objects.filter(
        workspace_id=approval.workspace_id, session_id=approval.session.session_id
    )
    return list(rows.select_related("body", "leaf").prefetch_related("files").order_by("-pk")[:EVENTS_READ])


def _event(entry: LedgerEntry) -> Event:
    row = describe(entry)
    return Event(row.at, row.outcome, row.verb, row.object)


def _alert(bodies: Iterable[tuple[LedgerEntry, dict[str, Any]]], paths: set[str]) -> str:
    """Another wording of what was refused a moment ago is how agents walk around a gate."""
    now = timezone.now()
    for entry, body in bodies:
        refused = (
            entry.kind == "decision" and entry.outcome == "deny" and now - entry.received_at < ALERT_WITHIN
        )
        if refused and paths.intersection(body.get("targets", [])):
            return f"Second wording of a call that was denied {format_since(entry.received_at, now)} ago."
    return ""


def _others(approval: Approval, owners: list[Owner], paths: list[str]) -> Iterable[Other]:
    now = timezone.now()
    for owner in owners[:3]:
        for session in owner.sessions[:2]:
            seen = format_since(session.last_seen_at, now, " ago")
            yield Other(agent_title(session.agent_name), f"holds {owner.intent_id}, last seen {seen}")
    rows = TraceFile.objects.filter(workspace_id=approval.workspace_id, path__in=paths[:100])
    files = list(rows.exclude(session_id=approval.session.session_id).order_by("-pk")[:3])
    agents = _agents(approval.workspace_id, [file.session_id for file in files])
    for file in files:
        under = f"{file.intent_id} wrote" if file.intent_id else "wrote"
        title = agent_title(agents.get(file.session_id, ""))
        yield Other(title, f"{under} {file.path} {format_since(file.changed_at, now, ' ago')}")


def _agents(workspace_id: int, session_ids: list[str]) -> dict[str, str]:
    sessions = AgentSession.objects.filter(workspace_id=workspace_id, session_id__in=session_ids)
    return dict(sessions.values_list("session_id", "agent_name"))


def _past(approval: Approval, paths: set[str]) -> Iterable[Event]:
    """Decisions on approvals that were stopped for the same reason on one of the same paths.

    Read from the ledger, whose records are small; the newest `PAST_READ` of the kind are looked at.
    """
    rows = LedgerEntry.objects.filter(
        workspace_id=approval.workspace_id,
        kind="approval",
        error_type=approval.error_type,
        outcome__in=["APPROVED", "REJECTED", "EXPIRED"],
    ).select_related("body")
    found = 0
    for entry in rows.order_by("-pk")[:PAST_READ]:
        body = body_of(entry) or {}
        same = body.get("approval_id") == approval.public_id
        if same or not paths.intersection(body.get("targets") or []):
            continue
        yield Event(entry.received_at, entry.outcome.lower(), _past_text(entry, body))
        found += 1
        if found == PAST_SHOWN:
            return


def _past_text(entry: LedgerEntry, body: dict[str, Any]) -> str:
    if entry.outcome == "EXPIRED":
        return "Timed out, nobody decided"
    comment = f": {body['comment']}" if body.get("comment") else ""
    how = {"once": "Once", "session": "For the session", "scope": "Scope widened"}.get(
        body.get("grant", ""), "Rejected"
    )
    return f"{how}, by {body.get('decider', '')}{comment}"
