"""Create, change, move and complete single intents. Complete files are `registry_file.import_export`'s work.

`actor` is the name that the ledger records. Each change is one transaction with a revision of the intent, a
ledger entry and a new revision of the workspace. The intent that is passed in is refreshed and returned.
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
from intents.errors import (
    IntentExistsError,
    InvalidIntentError,
    StatusMoveRefusedError,
    VersionConflictError,
)
from intents.evidence.records import Record, confirm_claims, put_claims
from intents.file_format.registry_parser import parse_intent
from intents.file_format.values import IntentValues
from intents.models import Intent, RegistryDocument
from intents.statuses import may_move

SERVER_FIELDS = frozenset({"id", "created_at", "updated_at", "acceptance_evidence"})
"""Fields of the document that no edit sets."""


def find_registry_state(workspace_id: int) -> Registry:
    """Return whether decisions may rely on the registry, as of the last sync. At most 2 queries."""
    document = RegistryDocument.objects.filter(workspace_id=workspace_id, synced=True).only("state").first()
    if document is not None and document.state != Registry.OK:
        return Registry(document.state)
    return Registry.OK if Intent.objects.for_workspace(workspace_id).exists() else Registry.EMPTY


def describe_unavailable(state: Registry) -> str:
    """Return the text for agents while decisions cannot rely on the registry."""
    return TEXTS[ErrorType.ORCHESTRATION_UNAVAILABLE, Reason(state.value)]


def create(workspace: Workspace, document: Mapping[str, Any], *, actor: str, reason: str = "") -> Intent:
    """Register one intent from its document, PENDING unless that says otherwise.

    Raises InvalidIntentError, IntentExistsError.
    """
    now = store.now_timestamp()
    defaults = {"status": IntentStatus.PENDING.value, "created_at": now, "updated_at": now}
    with store.change_registry(workspace.pk, Intent.objects.none(), actor=actor, reason=reason) as changes:
        others = store.list_values(workspace.pk)
        if any(values.intent_id == document.get("id") for values in others):
            raise IntentExistsError(document.get("id"))
        values = _parse({**defaults, **document, "acceptance_evidence": []}, None, others)
        store.set_last_updated(workspace.pk, now)
        (intent,) = changes.add([values])
    return intent


def edit(
    intent: Intent, fields: Mapping[str, Any], *, actor: str, reason: str = "", version: int | None = None
) -> Intent:
    """Change fields, named as in the document. Where nothing differs, no revision is made.

    `version` is the one that the caller read; None skips the check. Raises VersionConflictError,
    InvalidIntentError, StatusMoveRefusedError.
    """
    with _lock(intent, actor, reason) as changes:
        if version is not None and version != intent.version:
            raise VersionConflictError(intent.version)
        _edit(intent, fields, changes, actor)
    return intent


def move(
    intent: Intent, target: IntentStatus, *, actor: str, reason: str = "", blocked_reason: str = ""
) -> Intent:
    """Take an intent to another status; the same status changes nothing. Raises StatusMoveRefusedError."""
    with _lock(intent, actor, reason) as changes:
        before = store.to_values(intent)
        after = replace(before, status=target, raw_status="", blocked_reason=blocked_reason)
        if target is not before.status:
            _save(intent, _apply_status_rules(before, after, actor), changes)
    return intent


def claim_criteria(intent: Intent, claims: Iterable[Record], *, actor: str, reason: str) -> Intent:
    """Keep claims as the evidence of their criteria; the same ones again change nothing."""
    with _lock(intent, actor, reason) as changes:
        before = store.to_values(intent)
        evidence = put_claims(before.acceptance_criteria, before.acceptance_evidence, claims)
        if evidence != before.acceptance_evidence:
            _save(intent, replace(before, acceptance_evidence=evidence), changes)
    return intent


def complete(
    intent: Intent,
    *,
    actor: str,
    confirmed_by: str,
    evidence: Iterable[Record] | None = None,
    reason: str = "",
) -> Intent:
    """Complete an intent, which confirms its claims; `evidence` is what was looked at, where that is known.

    Raise StatusMoveRefusedError where the intent is not in progress.
    """
    with _lock(intent, actor, reason) as changes:
        before = store.to_values(intent)
        if before.status is IntentStatus.COMPLETED:
            return intent
        # Claims made since then were not looked at: they are left out.
        records = before.acceptance_evidence if evidence is None else tuple(evidence)
        after = replace(before, status=IntentStatus.COMPLETED, raw_status="", acceptance_evidence=records)
        _save(intent, _apply_status_rules(before, _drop_stale_evidence(after), confirmed_by), changes)
    return intent


def widen(
    intent: Intent, patterns: Iterable[str], kinds: Iterable[str] = (), *, actor: str, reason: str
) -> Intent:
    """Add the patterns and the kinds of commands that the intent lacks. Raises InvalidIntentError."""
    with _lock(intent, actor, reason) as changes:
        fields = {
            "owned_scope": _append_missing(intent.owned_scope, patterns),
            "allowed_commands": _append_missing(intent.allowed_commands, kinds),
        }
        _edit(intent, fields, changes, actor)
    return intent


def _append_missing(items: list[str], additions: Iterable[str]) -> list[str]:
    return [*items, *(item for item in dict.fromkeys(additions) if item not in items)]


@contextmanager
def _lock(intent: Intent, actor: str, reason: str) -> Iterator[store.RegistryChanges]:
    """Lock the intent and refresh it: the caller may have read it before somebody else's change."""
    rows = Intent.objects.filter(pk=intent.pk)
    with store.change_registry(intent.workspace_id, rows, actor=actor, reason=reason) as changes:
        intent.refresh_from_db()
        yield changes


def _edit(intent: Intent, fields: Mapping[str, Any], changes: store.RegistryChanges, actor: str) -> None:
    before = store.to_values(intent)
    registered = store.list_values(intent.workspace_id)
    others = [values for values in registered if values.intent_id != intent.intent_id]
    after = _apply_status_rules(before, _parse(_merge(before, fields), before, others), actor)
    if after.acceptance_criteria != before.acceptance_criteria:
        after = _drop_stale_evidence(after)
    if after != before:
        _save(intent, after, changes)


def _save(intent: Intent, after: IntentValues, changes: store.RegistryChanges) -> None:
    now = store.now_timestamp()
    changes.change(intent, replace(after, updated_at=now))
    store.set_last_updated(intent.workspace_id, now)


def _parse(
    document: Mapping[str, Any], current: IntentValues | None, others: list[IntentValues]
) -> IntentValues:
    parsed = parse_intent(document, current=current, others=others)
    if parsed.values is None:
        raise InvalidIntentError(parsed.report)
    return parsed.values


def _merge(before: IntentValues, fields: Mapping[str, Any]) -> dict[str, Any]:
    document = replace(before, raw_status="").to_document()
    return {**document, **{name: value for name, value in fields.items() if name not in SERVER_FIELDS}}


def _drop_stale_evidence(values: IntentValues) -> IntentValues:
    """Drop what proves other words than those of the criteria; revisions keep it."""
    evidence = put_claims(values.acceptance_criteria, values.acceptance_evidence, ())
    return replace(values, acceptance_evidence=evidence)


def _apply_status_rules(before: IntentValues, after: IntentValues, actor: str) -> IntentValues:
    """Refuse a forbidden move; keep the document's own word while the status stays.

    Leaving BLOCKED clears the reason; whoever completes an intent confirms its claims. Raises
    StatusMoveRefusedError.
    """
    if after.status is before.status:
        return replace(after, raw_status=before.raw_status)
    if not may_move(before.status, after.status):
        raise StatusMoveRefusedError(before.intent_id, before.status, after.status)
    if before.status is IntentStatus.BLOCKED:
        return replace(after, blocked_reason="")
    if after.status is IntentStatus.COMPLETED:
        evidence = confirm_claims(after.acceptance_evidence, actor, store.now_timestamp())
        return replace(after, acceptance_evidence=evidence)
    return after
