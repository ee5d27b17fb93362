"""The tools of the handshake other than `select_active_intent`, as the gate and the MCP server run them.

Each takes the arguments of its call, which are the model's, and answers in words. A call that comes twice,
from a client's hook and then from its MCP connection, does its work once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from controlplane.models import Workspace
from controlplane.policy.model import ErrorType, IntentStatus, Reason, Registry
from controlplane.shared.errors import ConflictError, InvalidInputError
from intents.criteria import render_criteria
from intents.models import Intent
from intents.registry import describe_unavailable, find_registry_state
from intents.rules.ignore_files import find_excluded_intents
from intents.selectors import find_intent
from intents.statuses import SELECTABLE_STATUSES, parse_status
from intents.summaries import MAX_DESCRIPTION_LENGTH, IntentSummary, one_line
from sessions.approvals.representations import represent_approval
from sessions.core_values import load_policy
from sessions.lifecycle.available_intents import list_available_intents
from sessions.lifecycle.claims import CLAIMS_FIELD
from sessions.lifecycle.complete import complete_intent
from sessions.lifecycle.request_scope import ScopeRequest, request_scope
from sessions.lifecycle.session_context import load_context, to_workspace_path
from sessions.models import AgentSession, Approval
from sessions.stops.store import require_running
from traces.lessons.store import LessonSection, NewLesson, record_lesson

NO_INTENT = "No intent can be selected now. Ask the user to have one registered, or call propose_intent."
MAX_TEXT = 2_000
MAX_NOTES = 20_000
MAX_PATTERNS = 50
MAX_PATTERN = 512


@dataclass(frozen=True, slots=True)
class HandshakeResult:
    """What the model is told, and the approval that waits for a person, if any."""

    text: str
    approval: Approval | None = None


def run_handshake_tool(
    name: str, session: AgentSession, arguments: Mapping[str, Any], actor: str
) -> HandshakeResult:
    """Run one of `HANDSHAKE_RUNNERS`. Raise DomainError for whatever the model can correct."""
    require_running(session)
    return HANDSHAKE_RUNNERS[name](session, arguments, actor)


def render_available_intents(
    workspace: Workspace, session: AgentSession | None, status_filter: str = ""
) -> str:
    """Return one line an intent, or why there is none. Raise InvalidInputError for an unknown status."""
    state = find_registry_state(workspace.pk)
    if state is not Registry.OK:
        return describe_unavailable(state)
    status = parse_status(status_filter, lenient=True) if status_filter else None
    if status_filter and status is None:
        raise InvalidInputError(f"status_filter: {status_filter!r} is not an intent status.")
    if status is not None and status not in SELECTABLE_STATUSES:
        intents = _list_closed_intents(workspace.pk, status)
    else:
        policy = load_policy(workspace)
        excluded = find_excluded_intents(workspace)
        intents = list_available_intents(workspace.pk, policy, excluded, session=session)
        intents = [intent for intent in intents if status is None or intent.status == status]
    return "\n".join(map(_render_intent, intents)) or (f"No intent is {status}." if status else NO_INTENT)


def describe_pending(approval: Approval) -> str:
    fields = represent_approval(approval)
    return (
        f"A human must decide this first, until {fields['expires_at']}: {fields['url']}\n"
        f"Tell the user. Ask gate_status with approval_id {fields['id']} how it went."
    )


def _list_intents(session: AgentSession, arguments: Mapping[str, Any], actor: str) -> HandshakeResult:  # noqa: ARG001
    status_filter = _read_text(arguments, "status_filter", required=False)
    return HandshakeResult(render_available_intents(session.workspace, session, status_filter))


def _request_scope(session: AgentSession, arguments: Mapping[str, Any], actor: str) -> HandshakeResult:  # noqa: ARG001
    access = arguments.get("access") or "write"
    if access != "read":
        _require_intent(session)
    patterns, kinds = _read_texts(arguments, "patterns"), _read_texts(arguments, "kinds")
    if not patterns and not kinds:
        raise InvalidInputError(f"patterns: must be a list of 1 to {MAX_PATTERNS} globs.")
    request = ScopeRequest(patterns, kinds, str(access), _read_text(arguments, "reason"))
    approval = request_scope(session, request)
    return HandshakeResult(describe_pending(approval), approval)


def _read_texts(arguments: Mapping[str, Any], name: str) -> tuple[str, ...]:
    texts = arguments.get(name)
    if texts is None:
        return ()
    if not isinstance(texts, list) or len(texts) > MAX_PATTERNS:
        raise InvalidInputError(f"{name}: must be a list of at most {MAX_PATTERNS} texts.")
    if not all(isinstance(text, str) and 0 < len(text) <= MAX_PATTERN for text in texts):
        raise InvalidInputError(f"{name}: each must be a text of 1 to {MAX_PATTERN} characters.")
    return tuple(texts)


def _complete(session: AgentSession, arguments: Mapping[str, Any], actor: str) -> HandshakeResult:
    _require_intent(session)
    notes = _read_text(arguments, "verification_notes", MAX_NOTES)
    cited = arguments.get("intent_id")
    if cited is not None and str(cited) != session.selected_intent_id:
        error = f"This session works on {session.selected_intent_id}, not on {one_line(str(cited), 100)}."
        error_type = ErrorType.MISSING_OR_INVALID_INTENT.value
        raise ConflictError(error, error_type=error_type, reason=Reason.MISMATCH.value)
    intent = load_context(session).intent
    is_completed = intent is not None and intent.status is IntentStatus.COMPLETED
    approval = None if is_completed else complete_intent(session, notes, actor, arguments.get(CLAIMS_FIELD))
    text = "The intent is completed." if approval is None else describe_pending(approval)
    return HandshakeResult("\n".join(filter(None, (text, _describe_criteria(session)))), approval)


def _describe_criteria(session: AgentSession) -> str:
    intent = find_intent(session.workspace_id, session.selected_intent_id)
    return render_criteria(intent) if intent is not None else ""


def _record_lesson(session: AgentSession, arguments: Mapping[str, Any], actor: str) -> HandshakeResult:
    _require_intent(session)
    section, sections = arguments.get("section", LessonSection.LESSON.value), list(LessonSection)
    if section not in sections:
        raise InvalidInputError(f"section: must be one of {', '.join(sections)}.")
    lesson = NewLesson(
        to_workspace_path(session, _read_text(arguments, "file", required=False)),
        _read_text(arguments, "problems"),
        session_id=session.session_id,
        intent_id=session.selected_intent_id,
        section=LessonSection(section),
    )
    with transaction.atomic():
        is_new = record_lesson(session.workspace_id, lesson, actor)
    text = "The lesson is recorded." if is_new else "This lesson was known already, or says nothing."
    return HandshakeResult(text)


def _require_intent(session: AgentSession) -> None:
    if not session.selected_intent_id:
        error = "You must cite a valid active Intent ID. Call select_active_intent first."
        error_type = ErrorType.MISSING_OR_INVALID_INTENT.value
        raise ConflictError(error, error_type=error_type, reason=Reason.NONE_SELECTED.value)


def _read_text(
    arguments: Mapping[str, Any], name: str, max_length: int = MAX_TEXT, *, required: bool = True
) -> str:
    value = arguments.get(name)
    if value is None and not required:
        return ""
    if not isinstance(value, str) or len(value) > max_length or (required and not value.strip()):
        raise InvalidInputError(f"{name}: must be a non-empty text of at most {max_length} characters.")
    return value


def _list_closed_intents(workspace_id: int, status: IntentStatus) -> list[IntentSummary]:
    rows = Intent.objects.for_workspace(workspace_id).in_file_order().filter(status=status.value)
    return [
        IntentSummary(
            row.intent_id, one_line(row.title), one_line(row.description, MAX_DESCRIPTION_LENGTH), row.status
        )
        for row in rows.only("intent_id", "name", "description", "status")
    ]


def _render_intent(intent: IntentSummary) -> str:
    status = f"{intent.status}, {intent.note}" if intent.note else intent.status
    return f"{intent.intent_id} [{status}] {intent.name}: {intent.description}"


HANDSHAKE_RUNNERS: Mapping[str, Callable[[AgentSession, Mapping[str, Any], str], HandshakeResult]] = {
    "list_active_intents": _list_intents,
    "request_scope_expansion": _request_scope,
    "complete_intent": _complete,
    "record_lesson": _record_lesson,
}
