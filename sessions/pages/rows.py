"""Sessions as their pages show them: a row each, counts by one grouped query, keyset pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from django.db.models import Case, IntegerField, Q, QuerySet, Value, When

from controlplane.models import Workspace
from controlplane.policy.model import SessionState
from intents.models import Intent
from sessions.agent_titles import agent_title
from sessions.gate.health import Health, counts, judged
from sessions.models import AgentSession
from traces.ledger.append import body_of
from traces.models import LedgerEntry

PAGE = 50
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class SessionIntent:
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class SessionRow:
    id: str
    agent: str
    version: str
    state: str
    frozen: bool
    intent: SessionIntent | None
    calls: int
    refused: int
    held: int
    writes: int
    alerts: int
    opened_at: datetime
    last_call: datetime
    hook: str
    health: Health
    selected_at: datetime | None = None  # these two on the page of one session only
    intent_revision: int | None = None


@dataclass(frozen=True, slots=True)
class SessionPage:
    rows: tuple[SessionRow, ...]
    first: bool
    older: str | None  # the cursor of the next page


def alive(workspace: Workspace) -> QuerySet[AgentSession]:
    return AgentSession.objects.filter(workspace=workspace).not_ended()


def session_page(workspace: Workspace, *, everything: bool, cursor: str = "") -> SessionPage:
    """Live ones first, then by last sign of life; from the first on for a cursor of nobody's.

    At most 4 queries.
    """
    rows = AgentSession.objects.filter(workspace=workspace) if everything else alive(workspace)
    over = When(state=SessionState.ENDED.value, then=Value(1))
    rows = rows.annotate(over=Case(over, default=Value(0), output_field=IntegerField()))
    after = _after(cursor)
    if after is not None:
        rows = rows.filter(after)
    found = list(rows.order_by("over", "-last_seen_at", "-pk")[: PAGE + 1])
    older = _cursor(found[PAGE - 1]) if len(found) > PAGE else None
    return SessionPage(tuple(rows_of(workspace, found[:PAGE])), after is None, older)


def rows_of(workspace: Workspace, sessions: Sequence[AgentSession]) -> Iterable[SessionRow]:
    """At most 3 queries for any number of sessions."""
    ids = [session.session_id for session in sessions]
    counted = counts(workspace.pk, ids)
    health = judged(workspace.pk, {session_id: counted[session_id] for session_id in ids})
    names = _names(workspace.pk, {session.selected_intent_id for session in sessions} - {""})
    return [
        _row(session, counted[session.session_id], health[session.session_id], names) for session in sessions
    ]


def detail_of(session: AgentSession) -> SessionRow:
    """With when it took which revision of its intent. At most 4 queries."""
    (row,) = rows_of(session.workspace, [session])
    selected = LedgerEntry.objects.filter(
        workspace_id=session.workspace_id, session_id=session.session_id, kind="session", outcome="selected"
    )
    entry = selected.select_related("body").order_by("-pk").first()
    revision = (body_of(entry) or {}).get("intent_revision") if entry else None
    return replace(row, selected_at=entry.received_at if entry else None, intent_revision=revision)


def _row(session: AgentSession, count: Counter[str], health: Health, names: dict[str, str]) -> SessionRow:
    intent_id = session.selected_intent_id
    return SessionRow(
        id=session.session_id,
        agent=agent_title(session.agent_name),
        version=session.agent_version,
        state=session.state,
        frozen=session.frozen,
        intent=SessionIntent(intent_id, names.get(intent_id, "")) if intent_id else None,
        calls=count["allow"] + count["deny"] + count["ask"],
        refused=count["deny"],
        held=count["ask"],
        writes=count["trace"],
        alerts=count["alert"],
        opened_at=session.opened_at,
        last_call=session.last_seen_at,
        hook=session.hook_version,
        health=health,
    )


def _names(workspace_id: int, intent_ids: set[str]) -> dict[str, str]:
    rows = Intent.objects.filter(workspace_id=workspace_id, intent_id__in=intent_ids)
    return {row.intent_id: row.title for row in rows}


def _cursor(session: AgentSession) -> str:
    over = int(session.state == SessionState.ENDED)
    return f"{over}.{(session.last_seen_at - EPOCH) // MICROSECOND}.{session.pk}"


def _after(cursor: str) -> Q | None:
    numbers = cursor.split(".")
    if len(numbers) != 3 or not all(text.isascii() and text.isdigit() and len(text) < 18 for text in numbers):
        return None
    over, seen, key = (int(text) for text in numbers)
    try:
        moment = EPOCH + seen * MICROSECOND
    except OverflowError:
        return None
    earlier = Q(last_seen_at__lt=moment) | Q(last_seen_at=moment, pk__lt=key)
    return Q(over__gt=over) | (Q(over=over) & earlier)
