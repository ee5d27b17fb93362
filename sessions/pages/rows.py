"""Query sessions for their pages: rows with grouped counts, keyset pagination."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from django.db.models import Case, IntegerField, Q, QuerySet, Value, When

from controlplane.models import Workspace
from controlplane.policy.model import SessionState
from controlplane.shared.client_download import client_version
from controlplane.templatetags.names import agent_title
from intents.models import Intent
from sessions.gate.monitoring.health import Health, classify_sessions, count_entries
from sessions.models import AgentSession
from traces.ledger.append import read_body
from traces.models import LedgerEntry

PAGE_SIZE = 50
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class SessionIntent:
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class SessionRow:
    key: int
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
class SessionListPage:
    rows: tuple[SessionRow, ...]
    first: bool
    older: str | None  # the cursor of the next page


def list_open_sessions(workspace: Workspace) -> QuerySet[AgentSession]:
    return AgentSession.objects.filter(workspace=workspace).not_ended()


def load_session_page(workspace: Workspace, *, include_ended: bool, cursor: str = "") -> SessionListPage:
    """Return one page: open sessions first, then by last activity. At most 4 queries.

    A malformed cursor gives the first page.
    """
    queryset = AgentSession.objects.filter(workspace=workspace)
    if not include_ended:
        queryset = queryset.not_ended()
    ended = When(state=SessionState.ENDED.value, then=Value(1))
    ordered = queryset.annotate(is_ended=Case(ended, default=Value(0), output_field=IntegerField()))
    condition = _parse_cursor(cursor)
    if condition is not None:
        ordered = ordered.filter(condition)
    sessions = list(ordered.order_by("is_ended", "-last_seen_at", "-pk")[: PAGE_SIZE + 1])
    older = _format_cursor(sessions[PAGE_SIZE - 1]) if len(sessions) > PAGE_SIZE else None
    return SessionListPage(tuple(build_rows(workspace, sessions[:PAGE_SIZE])), condition is None, older)


def build_rows(workspace: Workspace, sessions: Sequence[AgentSession]) -> Iterable[SessionRow]:
    """Build the rows of any number of sessions in at most 3 queries."""
    ids = [session.session_id for session in sessions]
    counts_by_id = count_entries(workspace.pk, ids)
    health = classify_sessions(workspace.pk, {session_id: counts_by_id[session_id] for session_id in ids})
    names = _map_intent_names(workspace.pk, {session.selected_intent_id for session in sessions} - {""})
    return [
        _build_row(session, counts_by_id[session.session_id], health[session.session_id], names)
        for session in sessions
    ]


def build_detail(session: AgentSession) -> SessionRow:
    """Build one row with the time and revision of its intent's selection. At most 4 queries."""
    (row,) = build_rows(session.workspace, [session])
    selections = LedgerEntry.objects.filter(
        workspace_id=session.workspace_id, session_id=session.session_id, kind="session", outcome="selected"
    )
    entry = selections.select_related("body").order_by("-pk").first()
    revision = (read_body(entry) or {}).get("intent_revision") if entry else None
    return replace(row, selected_at=entry.received_at if entry else None, intent_revision=revision)


def is_hook_old(row: SessionRow) -> bool:
    """Return whether the session runs another hook than the one that is served by now."""
    return bool(row.hook) and row.hook != client_version()


def _build_row(
    session: AgentSession, count: Counter[str], health: Health, names: dict[str, str]
) -> SessionRow:
    intent_id = session.selected_intent_id
    return SessionRow(
        key=session.pk,
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


def _map_intent_names(workspace_id: int, intent_ids: set[str]) -> dict[str, str]:
    rows = Intent.objects.filter(workspace_id=workspace_id, intent_id__in=intent_ids)
    return {row.intent_id: row.title for row in rows}


def _format_cursor(session: AgentSession) -> str:
    is_ended = int(session.state == SessionState.ENDED)
    return f"{is_ended}.{(session.last_seen_at - EPOCH) // MICROSECOND}.{session.pk}"


def _parse_cursor(cursor: str) -> Q | None:
    # Fewer than 18 digits fit the 64-bit integers of every database.
    numbers = cursor.split(".")
    if len(numbers) != 3 or not all(text.isascii() and text.isdigit() and len(text) < 18 for text in numbers):
        return None
    is_ended, microseconds, row_id = (int(text) for text in numbers)
    try:
        last_seen_at = EPOCH + microseconds * MICROSECOND
    except OverflowError:
        return None
    before = Q(last_seen_at__lt=last_seen_at) | Q(last_seen_at=last_seen_at, pk__lt=row_id)
    return Q(is_ended__gt=is_ended) | (Q(is_ended=is_ended) & before)
