"""Reading and changing the policy of a workspace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from controlplane.models import Workspace
from controlplane.policy.rules import policy_document as policies
from intents import store
from traces.ledger.append import NewEntry, append


def read_policy(workspace: Workspace) -> dict[str, Any]:
    """Every key with its value, the product's defaults where the workspace says nothing."""
    return policies.to_document(policies.parse(workspace.policy))


def change_policy(workspace: Workspace, changes: Any, *, actor: str) -> dict[str, Any]:
    """Set the named keys; they hold from the next call. Raises InvalidPolicyError, changing nothing."""
    if not isinstance(changes, Mapping):
        policies.parse(changes)
    with transaction.atomic():
        held = Workspace.objects.select_for_update().get(pk=workspace.pk)
        after = {**held.policy, **changes}
        policies.parse(after)
        if after != held.policy:
            Workspace.objects.filter(pk=held.pk).update(policy=after)
            body = {"what": "policy", "before": held.policy, "after": after}
            append(NewEntry(workspace_id=held.pk, kind="policy", body=body, outcome="changed", actor=actor))
            store.bump(held.pk)
    workspace.policy = after
    return read_policy(workspace)
