"""Table rows of anchors for pages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from traces.anchors.schedule import assess_health
from traces.anchors.targets import derive_webhook_secret
from traces.models import AnchorKind, LedgerAnchor

# The status badge whose colour fits each state.
BADGES = {
    "ok": "approved",
    "waiting": "pending",
    "late": "ask",
    "failing": "deny",
    "contradicted": "broken",
    "off": "cancelled",
}


@dataclass(frozen=True, slots=True)
class AnchorRow:
    """`badge` is a status, for its colour. `message` and `target` are untrusted. `secret` is for admins."""

    id: int
    kind: str
    target: str
    every_minutes: int
    enabled: bool
    health: str
    badge: str
    message: str
    size: int
    anchored_at: datetime | None
    secret: str


def list_anchor_rows(workspace_id: int, *, secrets: bool = False) -> list[AnchorRow]:
    """List a workspace's anchors in order of creation. 1 query, and 2 for each anchor."""
    now = timezone.now()
    anchors = LedgerAnchor.objects.filter(workspace_id=workspace_id).order_by("pk")
    return [_row(anchor, now, secrets=secrets) for anchor in anchors]


def _row(anchor: LedgerAnchor, now: datetime, *, secrets: bool) -> AnchorRow:
    health = assess_health(anchor, now)
    show_secret = secrets and anchor.kind == AnchorKind.WEBHOOK
    return AnchorRow(
        id=anchor.pk,
        kind=str(AnchorKind(anchor.kind).label),
        target=anchor.target,
        every_minutes=anchor.every_minutes,
        enabled=anchor.enabled,
        health=health.state,
        badge=BADGES[health.state],
        message=health.text,
        size=anchor.anchored_size,
        anchored_at=anchor.anchored_at,
        secret=derive_webhook_secret(anchor) if show_secret else "",
    )
