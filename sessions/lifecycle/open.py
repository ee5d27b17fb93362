"""Open and resume agent sessions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from controlplane.policy.model import SessionState
from controlplane.shared.tokens import Bearer
from sessions.errors import ForeignSessionError
from sessions.models import AgentSession, ApprovalGrant, new_id
from traces.ledger.append import NewEntry, append

SEEN_EVERY = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class Opening:
    """What a client says about itself when it opens a session or sends a first call."""

    session_id: str = ""
    agent_name: str = ""
    agent_version: str = ""
    agent_model: str = ""
    hook_version: str = ""
    root: str = ""
    cwd: str = ""
    repository: str = ""
    revision_id: str = ""


def parse_opening(data: dict[str, Any]) -> Opening:
    """Read the validated body of `POST /sessions`."""
    agent = data.get("agent") or {}
    return Opening(
        session_id=data.get("session_id") or "",
        agent_name=agent.get("name", ""),
        agent_version=agent.get("version", ""),
        agent_model=agent.get("model", ""),
        hook_version=agent.get("hook", ""),
        root=data.get("root") or "",
        cwd=data.get("cwd") or "",
        repository=data.get("repository") or "",
        revision_id=data.get("revision_id") or "",
    )


def open_session(bearer: Bearer, opening: Opening, *, resumes: bool = True) -> tuple[AgentSession, bool]:
    """Return the session, and whether it is new. Raise ForeignSessionError when another token owns it.

    A conversation that its client ended goes on, unless the event is one that may come after the end.
    """
    session_id = opening.session_id or new_id()
    session = find_session(bearer.workspace_id, session_id)
    if session is None:
        try:
            with transaction.atomic():
                return _create_session(bearer, session_id, opening), True
        except IntegrityError:  # of two first calls at once, the other one opened it
            session = find_session(bearer.workspace_id, session_id)
            if session is None:
                raise
    require_owner(session, bearer)
    if resumes and session.can_resume:
        resume_session(session, bearer.actor)
    _fill_in(session, opening)
    return session, False


def resume_session(session: AgentSession, actor: str) -> None:
    """Take up a conversation again that its client ended; its intent is to be selected again."""
    previous = session.selected_intent_id or session.resumed_from
    with transaction.atomic():
        rows = AgentSession.objects.filter(pk=session.pk, state=SessionState.ENDED.value, frozen=False)
        resumed = rows.filter(ended_by=AgentSession.EndedBy.CLIENT).apply_change(
            state=SessionState.REQUEST.value,
            ended_at=None,
            ended_by="",
            intent=None,
            selected_intent_id="",
            resumed_from=previous,
            last_seen_at=timezone.now(),
        )
        session.refresh_from_db()
        if resumed:  # else another call of the same conversation was first, or a person ended it
            # Grants for the session ended with it.
            own = ApprovalGrant.objects.live(timezone.now()).filter(session=session, used_at=None)
            for grant in own.exclude(kind=ApprovalGrant.Kind.INTENT):
                ApprovalGrant.objects.revoke(grant)
            record_session_event(session, "resumed", actor, resumed_from=previous or None)


def build_session(workspace_id: int, opening: Opening) -> AgentSession:
    """Build the session that a first call would open, without saving it."""
    return AgentSession(
        workspace_id=workspace_id,
        session_id=opening.session_id,
        agent_name=opening.agent_name,
        root=opening.root or opening.cwd,
        cwd=opening.cwd,
        repository=opening.repository,
        last_seen_at=timezone.now(),
    )


def find_session(workspace_id: int, session_id: str) -> AgentSession | None:
    return (
        AgentSession.objects.select_related("workspace", "intent", "token")
        .filter(workspace_id=workspace_id, session_id=session_id)
        .first()
    )


def require_owner(session: AgentSession, bearer: Bearer) -> None:
    if session.token_id != bearer.token_id:
        raise ForeignSessionError("This session belongs to another token. Open one of your own.")


def record_session_event(session: AgentSession, event: str, actor: str, **details: Any) -> None:
    """Append a session event: opened, reasoning, selected, released, reclaimed, frozen, unfrozen, ran,
    ended or resumed."""
    append(
        NewEntry(
            workspace_id=session.workspace_id,
            kind="session",
            session_id=session.session_id,
            intent_id=session.selected_intent_id,
            outcome=event,
            agent=session.agent_name,
            actor=actor,
            body={"event": event, "session_id": session.session_id, **details},
        )
    )


def _create_session(bearer: Bearer, session_id: str, opening: Opening) -> AgentSession:
    session = AgentSession.objects.create(
        workspace_id=bearer.workspace_id,
        session_id=session_id,
        token_id=bearer.token_id,
        agent_name=opening.agent_name,
        agent_version=opening.agent_version,
        agent_model=opening.agent_model,
        hook_version=opening.hook_version,
        root=opening.root or opening.cwd,
        cwd=opening.cwd,
        repository=opening.repository,
        revision_id=opening.revision_id,
        last_seen_at=timezone.now(),
    )
    record_session_event(
        session,
        "opened",
        bearer.actor,
        agent={"name": opening.agent_name, "version": opening.agent_version, "model": opening.agent_model},
        root=session.root,
        revision_id=opening.revision_id,
    )
    return session


def _fill_in(session: AgentSession, opening: Opening) -> None:
    """Fill in what the client did not say when the session was opened, and note that it is alive.

    Nothing known is overwritten but `revision_id` and `hook_version`. The root is fixed once: a call could
    otherwise move the workspace (CVE-2025-59532).
    """
    now, rows = timezone.now(), AgentSession.objects.filter(pk=session.pk)
    # The agent's name chooses its table of tools, and both folders resolve paths: decisions depend on them.
    decisive = _find_missing(session, opening, "agent_name", "cwd", "repository")
    if not session.root and (opening.root or opening.cwd):
        decisive["root"] = opening.root or opening.cwd
    metadata = _find_missing(session, opening, "agent_version", "agent_model")
    for field in ("revision_id", "hook_version"):
        if getattr(opening, field) and getattr(opening, field) != getattr(session, field):
            metadata[field] = getattr(opening, field)
    if decisive:
        rows.apply_change(last_seen_at=now, **decisive, **metadata)
    elif metadata or now - session.last_seen_at > SEEN_EVERY:
        rows.touch(now, **metadata)
    else:
        return
    session.refresh_from_db()


def _find_missing(session: AgentSession, opening: Opening, *fields: str) -> dict[str, str]:
    """Return the fields that the opening names and the session does not know yet."""
    return {
        field: getattr(opening, field)
        for field in fields
        if getattr(opening, field) and not getattr(session, field)
    }
