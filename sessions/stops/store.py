"""Set, lift and find stops. A stop raises the workspace's revision, so it holds from the next decision on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from django.db import transaction
from django.utils import timezone

from controlplane.models import EmergencyStop, Workspace
from controlplane.shared.errors import InvalidInputError
from controlplane.shared.masking import mask_text
from controlplane.templatetags.names import agent_title
from sessions.errors import AlreadyStoppedError, StopNotFoundError, StoppedError
from sessions.models import AgentSession
from traces.ledger.append import NewEntry, append

MAX_REASON_LENGTH = 200
Kind = EmergencyStop.Kind


@dataclass(frozen=True, slots=True)
class StopActor:
    """Who stops or starts again: by the name that pages and agents are told, and by that of the ledger."""

    name: str
    actor: str


def stop(workspace: Workspace, kind: str, subject: str, by: StopActor, *, reason: str = "") -> EmergencyStop:
    """Stop a workspace, an agent or a session.

    Raise InvalidInputError for a subject that is none, AlreadyStoppedError where it stands still already.
    """
    subject = _check_subject(workspace, kind, subject)
    with transaction.atomic():
        # The row lock makes two people who stop at once take turns.
        Workspace.objects.select_for_update().get(pk=workspace.pk)
        if EmergencyStop.objects.holding().filter(workspace=workspace, kind=kind, subject=subject).exists():
            raise AlreadyStoppedError
        new = EmergencyStop.objects.create(
            workspace=workspace, kind=kind, subject=subject, stopped_by=by.name,
            reason=mask_text(reason.strip())[:MAX_REASON_LENGTH],
        )  # fmt: skip
        _record(new, "stopped", by.actor)
    return new


def lift(workspace: Workspace, public_id: str, by: StopActor) -> EmergencyStop:
    """Lift a stop. Raise StopNotFoundError where it is not there or somebody lifted it before."""
    with transaction.atomic():
        holding = EmergencyStop.objects.holding().filter(workspace=workspace, public_id=public_id)
        if not holding.update(lifted_at=timezone.now(), lifted_by=by.name):
            raise StopNotFoundError
        lifted = EmergencyStop.objects.get(public_id=public_id)
        _record(lifted, "started", by.actor)
    return lifted


def list_stops(workspace: Workspace) -> tuple[EmergencyStop, ...]:
    """Return the stops that hold, the widest first. 1 query for each revision of the workspace."""
    return _read_stops(workspace.pk, workspace.revision)


def is_stopped(workspace: Workspace) -> bool:
    """Return whether the whole workspace stands still."""
    return any(row.kind == Kind.WORKSPACE for row in list_stops(workspace))


def find_stop(workspace: Workspace, session: AgentSession) -> str:
    """Return what is stopped and by whom where that holds for this session, else ""."""
    names = {
        Kind.WORKSPACE.value: "",
        Kind.AGENT.value: session.agent_name,
        Kind.SESSION.value: session.session_id,
    }
    stops = list_stops(workspace)
    return next((describe_stop(row) for row in stops if names[row.kind] == row.subject), "")


def require_running(session: AgentSession) -> None:
    """Raise StoppedError where a stop holds for the session. 2 queries: what it reads is never old."""
    detail = find_stop(Workspace.objects.get(pk=session.workspace_id), session)
    if detail:
        raise StoppedError(detail)


def describe_stop(row: EmergencyStop) -> str:
    """Return one sentence: "Ada stopped this workspace: wrong branch."."""
    subject = {
        Kind.WORKSPACE.value: "this workspace",
        Kind.AGENT.value: f"{agent_title(row.subject)} in this workspace",
        Kind.SESSION.value: "this session",
    }[row.kind]
    reason = f": {row.reason.rstrip('.')}" if row.reason else ""
    return f"{row.stopped_by} stopped {subject}{reason}."


def forget_stops() -> None:
    """Empty the cache, for tests that roll revisions back."""
    _read_stops.cache_clear()


@lru_cache(maxsize=256)
def _read_stops(workspace_id: int, revision: int) -> tuple[EmergencyStop, ...]:  # noqa: ARG001  part of the key
    holding: Iterable[EmergencyStop] = EmergencyStop.objects.holding().filter(workspace_id=workspace_id)
    return tuple(sorted(holding, key=lambda row: (Kind.values.index(row.kind), row.pk)))


def _check_subject(workspace: Workspace, kind: str, subject: str) -> str:
    """Return the subject as it is stored. Raise InvalidInputError."""
    if kind not in Kind.values:
        raise InvalidInputError(f"kind: must be one of {', '.join(Kind.values)}.")
    if kind == Kind.WORKSPACE:
        return ""
    column = "agent_name" if kind == Kind.AGENT else "session_id"
    known = AgentSession.objects.filter(workspace=workspace, **{column: subject})
    if not subject or "\0" in subject or not known.exists():
        raise InvalidInputError(f"subject: there is no {kind} of this name in the workspace.")
    return subject


def _record(row: EmergencyStop, event: str, actor: str) -> None:
    """Append the ledger's entry and raise the revision that every decision is bound to."""
    body = {
        "what": "stop", "event": event, "stop_id": row.public_id, "kind": row.kind, "subject": row.subject,
        "reason": row.reason, "by": row.lifted_by or row.stopped_by,
    }  # fmt: skip
    session_id = row.subject if row.kind == Kind.SESSION else ""
    append(
        NewEntry(
            workspace_id=row.workspace_id, kind="policy", outcome=event, actor=actor, body=body,
            session_id=session_id, agent=row.subject if row.kind == Kind.AGENT else "",
        )
    )  # fmt: skip
    Workspace.objects.filter(pk=row.workspace_id).apply_change()
