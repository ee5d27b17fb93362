"""The handshake, `select_active_intent`: a session takes one intent, for life, and gets its context."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from controlplane.models import Workspace
from controlplane.policy.model import (
    ACTION_HINTS,
    ErrorType,
    IntentStatus,
    Policy,
    Reason,
    Registry,
)
from intents import registry
from intents.models import Intent
from intents.prompts.context import build_intent_context
from intents.rules.ignore_files import find_excluded_intents
from intents.selectors import describe_unmet, find_intent, find_unmet_dependencies
from sessions.core_values import load_policy
from sessions.errors import StoppedError
from sessions.lifecycle.available_intents import EXCLUDED, describe_holder, list_known_ids
from sessions.lifecycle.intent_lock import find_holder, lock_intent
from sessions.lifecycle.open import record_session_event
from sessions.models import AgentSession
from sessions.stops.store import find_stop

INTENT_ID = re.compile(r"INT-[0-9]{3,}")
NEW_SESSION = "A session keeps its intent for life: start a new session for other work."


@dataclass(frozen=True, slots=True)
class Refusal:
    error_type: ErrorType
    reason: Reason
    error: str


def select_intent(session: AgentSession, intent_id: object, actor: str) -> dict[str, Any]:
    """Select an intent and return the handshake's answer (contract 4).

    When refused, `success` is false, with `error` and `error_type`.
    """
    intent_id = _to_text(intent_id)
    with transaction.atomic():
        # Both rows are locked, so of two handshakes for one intent the second one finds a holder.
        sessions = AgentSession.objects.select_for_update(of=("self",)).select_related("workspace", "intent")
        session = sessions.get(pk=session.pk)
        policy = load_policy(session.workspace)
        intent = _lock_intent_row(session.workspace, intent_id)
        refusal = _find_refusal(session, intent_id, intent, policy)
        if refusal is None and intent is not None:
            _take_intent(session, intent, policy, actor)
    if refusal is not None:
        selected = session.intent if refusal.error_type is ErrorType.INTENT_LOCKED else None
        return _render_refusal(
            refusal, selected if selected is not None and selected.intent_id == intent_id else None
        )
    assert intent is not None  # else there is a refusal
    return {"success": True, **build_intent_context(intent)}


def preview_selection(session: AgentSession, intent_id: object, policy: Policy) -> dict[str, Any]:
    """Return what `select_intent` would answer, without taking anything."""
    intent_id = _to_text(intent_id)
    intent = find_intent(session.workspace_id, intent_id) if isinstance(intent_id, str) else None
    refusal = _find_refusal(session, intent_id, intent, policy)
    if refusal is None and intent is not None:
        return {"success": True, **build_intent_context(intent)}
    return _render_refusal(refusal or _refuse_unknown(session, intent_id))


def _to_text(intent_id: object) -> object:
    """Return the text of a whole number: a model sends the registry's id `7` as 7."""
    return str(intent_id) if isinstance(intent_id, int) and not isinstance(intent_id, bool) else intent_id


def _render_refusal(refusal: Refusal, intent: Intent | None = None) -> dict[str, Any]:
    """Render a refusal; for the intent that the session holds already, with its context."""
    empty: dict[str, Any] = {"context": None, "intent": None, "history": [], "files": []}
    return {
        "success": False,
        **(build_intent_context(intent) if intent is not None else empty),
        "error": refusal.error,
        "error_type": refusal.error_type.value,
        "reason": refusal.reason.value,
        "action_hint": ACTION_HINTS[refusal.error_type],
    }


def _lock_intent_row(workspace: Workspace, intent_id: object) -> Intent | None:
    if not isinstance(intent_id, str):
        return None
    intents = Intent.objects.select_for_update(of=("self",)).select_related("workspace")
    return intents.filter(workspace=workspace, intent_id=intent_id).first()


def _find_refusal(
    session: AgentSession, intent_id: object, intent: Intent | None, policy: Policy
) -> Refusal | None:
    return (
        _refuse_session(session)
        or _refuse_registry(session.workspace)
        or (_refuse_unknown(session, intent_id) if intent is None else None)
        or (_refuse_intent(session, intent, policy) if intent is not None else None)
    )


def _refuse_session(session: AgentSession) -> Refusal | None:
    stopped = find_stop(session.workspace, session)
    if stopped:
        return Refusal(ErrorType.SESSION_ENDED, Reason.STOPPED, StoppedError(stopped).error)
    if session.ended:
        return Refusal(ErrorType.SESSION_ENDED, Reason.ENDED, "This session has ended. Start a new session.")
    if session.selected_intent_id:
        error = f"This session is locked to {session.selected_intent_id}. {NEW_SESSION}"
        return Refusal(ErrorType.INTENT_LOCKED, Reason.ALREADY_SELECTED, error)
    return None


def _refuse_registry(workspace: Workspace) -> Refusal | None:
    state = registry.find_registry_state(workspace.pk)
    if state is Registry.OK:
        return None
    return Refusal(
        ErrorType.ORCHESTRATION_UNAVAILABLE, Reason(state.value), registry.describe_unavailable(state)
    )


def _refuse_unknown(session: AgentSession, intent_id: object) -> Refusal:
    workspace = session.workspace
    policy = load_policy(workspace)
    known = list_known_ids(workspace.pk, policy, find_excluded_intents(workspace), session=session)
    ids = ", ".join(known) or "none"
    if not isinstance(intent_id, str) or not INTENT_ID.fullmatch(intent_id):
        error = (
            f"{intent_id!r} is neither an intent ID of the form INT-001 (ASCII digits) nor a known ID of this"
            " workspace."
        )
    else:
        error = f"There is no intent {intent_id} in this workspace."
    return Refusal(ErrorType.MISSING_OR_INVALID_INTENT, Reason.NOT_FOUND, f"{error} Known intents: {ids}.")


def _refuse_intent(session: AgentSession, intent: Intent, policy: Policy) -> Refusal | None:
    refusal = _refuse_closed(intent) or _refuse_excluded(intent)
    if refusal is not None:
        return refusal
    unmet = find_unmet_dependencies(intent)
    if unmet:
        error = f"{intent.intent_id} {describe_unmet(unmet)}. Select another intent."
        return Refusal(ErrorType.INTENT_CONFLICT, Reason.DEPENDENCIES_UNMET, error)
    holder = find_holder(intent, policy, exclude=session)
    if holder is not None:
        holds = describe_holder(holder.session_id, holder.agent_name)
        error = f"{intent.intent_id} is {holds}. Select another intent, or wait until it is released."
        return Refusal(ErrorType.INTENT_CONFLICT, Reason.HELD_BY_OTHER_SESSION, error)
    return None


def _refuse_closed(intent: Intent) -> Refusal | None:
    blocked = (intent.blocked_reason or "").strip().removesuffix(".")
    texts = {
        IntentStatus.COMPLETED: "is completed. Select another intent.",
        IntentStatus.ABANDONED: "was abandoned. Select another intent.",
        IntentStatus.BLOCKED: f"is blocked: {blocked or 'no reason given'}. Select another intent.",
    }
    text = texts.get(IntentStatus(intent.status))
    if text is None:
        return None
    reason = Reason(intent.status.lower())
    return Refusal(ErrorType.MISSING_OR_INVALID_INTENT, reason, f"{intent.intent_id} {text}")


def _refuse_excluded(intent: Intent) -> Refusal | None:
    if intent.intent_id not in find_excluded_intents(intent.workspace):
        return None
    error = f"{intent.intent_id} is {EXCLUDED}, by an `intent:` line. Select another intent."
    return Refusal(ErrorType.INTENT_IGNORED, Reason.INTENTIGNORE, error)


def _take_intent(session: AgentSession, intent: Intent, policy: Policy, actor: str) -> None:
    if intent.status == IntentStatus.PENDING:
        reason = f"selected by session {session.session_id}"
        intent = registry.move(intent, IntentStatus.IN_PROGRESS, actor=actor, reason=reason)
    lock_intent(session, intent, policy)
    record_session_event(
        session, "selected", actor, intent_id=intent.intent_id, intent_revision=intent.version
    )
