"""What may be done to registered intents one at a time. Whole files are `transfer`'s work.

`actor` is how the ledger names who acts. Each change is one transaction with its revision, its ledger entry
and a new revision of the workspace. The intent that is passed in is brought up to date and returned.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from controlplane.models import Workspace
from controlplane.policy.messages import TEXTS
from controlplane.policy.model import ErrorType, IntentStatus, Reason, Registry
from intents import store
from intents.file_format.registry_parser import parse_intent
from intents.file_format.report import ValidationReport
from intents.file_format.values import IntentValues
from intents.models import Intent, RegistryDocument
from intents.statuses import ALLOWED_MOVES, may_move


class InvalidIntentError(Exception):
    """The intent would not be valid; `report` says why. Nothing was changed."""

    def __init__(self, report: ValidationReport) -> None:
        super().__init__(" ".join(problem.message for problem in report.errors))
        self.report = report


class IntentExistsError(Exception):
    """An intent of this id is registered already."""


class VersionConflictError(Exception):
    """Somebody changed the intent since; `current` is its version now."""

    def __init__(self, current: int) -> None:
        super().__init__(f"The intent was changed meanwhile: its version is {current}.")
        self.current = current


class StatusMoveRefusedError(Exception):
    """No move leads from the intent's status to that one."""

    def __init__(self, intent_id: str, current: IntentStatus, target: IntentStatus) -> None:
        allowed = ", ".join(sorted(ALLOWED_MOVES[current])) or "nowhere, it is final"
        super().__init__(f"{intent_id} is {current}; it cannot become {target}. Allowed: {allowed}.")


def registry_state(workspace: Workspace) -> Registry:
    """Whether the workspace's intents can be relied upon, as last synced. 2 queries."""
    return state_of(workspace.pk)


def state_of(workspace_id: int) -> Registry:
    document = RegistryDocument.objects.filter(workspace_id=workspace_id, synced=True).only("state").first()
    if document is not None and document.state != Registry.OK:
        return Registry(document.state)
    return Registry.OK if Intent.objects.filter(workspace_id=workspace_id).exists() else Registry.EMPTY


def describe_unavailable(state: Registry) -> str:
    """What an agent is told while there is nothing to rely on."""
    return TEXTS[ErrorType.ORCHESTRATION_UNAVAILABLE, Reason(state.value)]


def create(workspace: Workspace, document: Mapping[str, Any], *, actor: str, reason: str = "") -> Intent:
    """Register one intent from its document form, PENDING unless it says otherwise.

    Raises InvalidIntentError, IntentExistsError.
    """
    now = store.now_timestamp()
    defaults = {"status": IntentStatus.PENDING.value, "created_at": now, "updated_at": now}
    with store.change_registry(workspace.pk, Intent.objects.none(), actor=actor, reason=reason) as changes:
        kept = store.list_values(workspace.pk)
        if any(values.intent_id == document.get("id") for values in kept):
            raise IntentExistsError(f"{document.get('id')} is registered already.")
        values = _checked({**defaults, **document}, None, kept)
        store.set_last_updated(workspace.pk, now)
        (intent,) = changes.add([values])
    return intent


def edit(
    intent: Intent, changes: Mapping[str, Any], *, actor: str, reason: str = "", version: int | None = None
) -> Intent:
    """Change fields, named as in the document. Without a difference there is no new revision.

    `version` is the one that the caller saw. Raises VersionConflictError, InvalidIntentError and
    StatusMoveRefusedError.
    """
    with _changing(intent, actor, reason) as held:
        if version is not None and version != intent.version:
            raise VersionConflictError(intent.version)
        _edit(intent, changes, held)
    return intent


def move(
    intent: Intent, target: IntentStatus, *, actor: str, reason: str = "", blocked_reason: str = ""
) -> Intent:
    """Take an intent to another status; staying changes nothing. Raises StatusMoveRefusedError."""
    with _changing(intent, actor, reason) as held:
        before = store.to_values(intent)
        wanted = replace(before, status=target, raw_status="", blocked_reason=blocked_reason)
        if target is not before.status:
            _save(intent, _with_status_of(before, wanted), held)
    return intent


def complete(intent: Intent, *, actor: str, reason: str = "") -> Intent:
    """Raises StatusMoveRefusedError where the intent is not in progress."""
    return move(intent, IntentStatus.COMPLETED, actor=actor, reason=reason)


def add_scope_patterns(intent: Intent, patterns: Iterable[str], *, actor: str, reason: str) -> Intent:
    """Widen the scope by the patterns that it does not have yet. Raises InvalidIntentError."""
    with _changing(intent, actor, reason) as held:
        scope = list(intent.owned_scope)
        scope += [pattern for pattern in dict.fromkeys(patterns) if pattern not in scope]
        _edit(intent, {"owned_scope": scope}, held)
    return intent


@contextmanager
def _changing(intent: Intent, actor: str, reason: str) -> Iterator[store.RegistryChanges]:
    """Hold the intent, brought up to date first."""
    own = Intent.objects.filter(pk=intent.pk)
    with store.change_registry(intent.workspace_id, own, actor=actor, reason=reason) as held:
        intent.refresh_from_db()
        yield held


def _edit(intent: Intent, changes: Mapping[str, Any], held: store.RegistryChanges) -> None:
    before = store.to_values(intent)
    others = store.list_values(intent.workspace_id)
    kept = [values for values in others if values.intent_id != intent.intent_id]
    after = _with_status_of(before, _checked(_merged(before, changes), before, kept))
    if after != before:
        _save(intent, after, held)


def _save(intent: Intent, after: IntentValues, held: store.RegistryChanges) -> None:
    now = store.now_timestamp()
    held.change(intent, replace(after, updated_at=now))
    store.set_last_updated(intent.workspace_id, now)


def _checked(
    document: Mapping[str, Any], registered: IntentValues | None, kept: list[IntentValues]
) -> IntentValues:
    reading = parse_intent(document, current=registered, others=kept)
    if reading.values is None:
        raise InvalidIntentError(reading.report)
    return reading.values


def _merged(before: IntentValues, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The document with the changes in it; the id and the times of the document are not the caller's."""
    document = replace(before, raw_status="").to_document()
    fixed = {"id", "created_at", "updated_at"}
    return {**document, **{name: value for name, value in changes.items() if name not in fixed}}


def _with_status_of(before: IntentValues, after: IntentValues) -> IntentValues:
    """Hold the moves; keep the document's own word while the status stays, the reason while it is blocked."""
    if after.status is before.status:
        return replace(after, raw_status=before.raw_status)
    if not may_move(before.status, after.status):
        raise StatusMoveRefusedError(before.intent_id, before.status, after.status)
    if before.status is IntentStatus.BLOCKED:
        return replace(after, blocked_reason="")
    return after
