"""Read and change the policy of a workspace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from controlplane.models import Workspace
from controlplane.policy.model import Policy
from controlplane.policy.rules import policy_document
from controlplane.policy.rules.policy_document import InvalidPolicyError
from intents.errors import PolicyRejectedError
from traces.ledger.append import NewEntry, append


def read_policy(workspace: Workspace) -> dict[str, Any]:
    """Return every key of the policy, with the product's default where the workspace sets none."""
    return policy_document.to_document(policy_document.parse(workspace.policy))


def parse_policy(document: Any) -> Policy:
    """Parse a document from outside. Raises PolicyRejectedError that names every problem."""
    try:
        return policy_document.parse(document)
    except InvalidPolicyError as error:
        raise PolicyRejectedError(error) from error


def change_policy(workspace: Workspace, changes: Any, *, actor: str) -> dict[str, Any]:
    """Set keys of the policy; they hold from the next call. Raises PolicyRejectedError, changing nothing."""
    if not isinstance(changes, Mapping):
        parse_policy(changes)
    with transaction.atomic():
        locked = Workspace.objects.select_for_update().get(pk=workspace.pk)
        after = {**locked.policy, **changes}
        parse_policy(after)
        if after != locked.policy:
            body = {"what": "policy", "before": locked.policy, "after": after}
            append(NewEntry(workspace_id=locked.pk, kind="policy", body=body, outcome="changed", actor=actor))
            Workspace.objects.filter(pk=locked.pk).apply_change(policy=after)
    workspace.policy = after
    return read_policy(workspace)
