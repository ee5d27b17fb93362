"""Load what a session works under: its workspace, policy, registry state and intent."""

from __future__ import annotations

from dataclasses import dataclass

from controlplane.models import Workspace
from controlplane.policy.model import Policy, Registry, SelectedIntent
from controlplane.policy.paths.canonical import CanonicalPath, canonicalize
from intents.registry import find_registry_state
from intents.selectors import find_intent
from sessions.core_values import load_policy, to_core_intent
from sessions.errors import IntentNotActiveError, SessionEndedError, StoppedError
from sessions.lifecycle.intent_lock import find_holder
from sessions.models import AgentSession
from sessions.stops.store import find_stop


@dataclass(frozen=True, slots=True)
class SessionContext:
    """A session with what it works under.

    `intent` is the selected one, even while another session holds it.
    """

    session: AgentSession
    workspace: Workspace
    policy: Policy
    registry: Registry
    intent: SelectedIntent | None
    intent_held_by_other: bool
    stopped: str = ""  # who stopped what, where a stop holds for the session


def load_context(session: AgentSession) -> SessionContext:
    """Read a session and its surroundings; write nothing. At most 6 queries."""
    # The workspace comes first: whatever changes after this line raises a revision above the one read here.
    workspace = Workspace.objects.get(pk=session.workspace_id)
    if session.pk is not None:  # a dry run may ask for a session that nobody has opened
        session = AgentSession.objects.select_related("intent").get(pk=session.pk)
    policy = load_policy(workspace)
    intent, held_by_other = _selected_intent(session, policy)
    state = find_registry_state(workspace.pk)
    stopped = find_stop(workspace, session)
    return SessionContext(session, workspace, policy, state, intent, held_by_other, stopped)


def load_active_context(session: AgentSession) -> SessionContext:
    """Load the context of a session at work.

    Raise StoppedError, SessionEndedError or IntentNotActiveError.
    """
    context = load_context(session)
    if context.stopped:
        raise StoppedError(context.stopped)
    if context.session.ended:
        raise SessionEndedError
    intent = context.intent
    if intent is None or context.intent_held_by_other or intent.status != "IN_PROGRESS":
        raise IntentNotActiveError
    return context


def to_workspace_path(session: AgentSession, file: str) -> str:
    """Return the path relative to the workspace where the session's root allows it; else as sent."""
    root = session.root or session.workspace.local_root or None
    resolved = canonicalize(file, root=root, cwd=session.cwd or None, writing=False)
    return resolved.path if isinstance(resolved, CanonicalPath) else file


def _selected_intent(session: AgentSession, policy: Policy) -> tuple[SelectedIntent | None, bool]:
    """Return the selected intent, and whether another session took it while this one was silent."""
    row = session.intent
    if row is not None:
        return to_core_intent(row), False
    if not session.selected_intent_id or session.ended:
        return None, False
    row = find_intent(session.workspace_id, session.selected_intent_id)
    if row is None:
        return None, False
    if find_holder(row, policy, exclude=session) is not None:
        return to_core_intent(row), True
    session.intent = row  # free again: the session's next call takes it back
    return to_core_intent(row), False
