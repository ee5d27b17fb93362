"""Mask the calls that approvals keep for their cards by the rules of today."""

from __future__ import annotations

from controlplane.shared.masking import to_storable
from sessions.models import Approval


def mask_stored_calls(workspace_id: int, *, apply: bool) -> int:
    """Return how many calls hold what is masked today; with `apply` mask them. 1 query, 1 more for each."""
    number = 0
    for approval in Approval.objects.filter(workspace_id=workspace_id).only("call").iterator(chunk_size=500):
        masked = to_storable(approval.call)
        if masked == approval.call:
            continue
        number += 1
        if apply:
            Approval.objects.filter(pk=approval.pk).update(call=masked)
    return number
