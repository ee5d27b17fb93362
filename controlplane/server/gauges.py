"""Measure what operators watch: what waits for people, the sealer and other systems, and room on the disk."""

from __future__ import annotations

import shutil

from django.conf import settings
from django.utils import timezone

from controlplane.shared.metrics import DISK_FREE, PENDING_APPROVALS, UNSEALED_AGE
from sessions.models import Approval
from traces.anchors.schedule import count_anchors
from traces.models import LedgerEntry
from traces.outlets.delivery import count_outlets

MAX_UNSEALED = 50_000  # entries that are looked at


def measure() -> None:
    """Set the gauges of this process. 5 queries, and one or two an anchor."""
    count_outlets()
    count_anchors()
    DISK_FREE.set(shutil.disk_usage(settings.DATA_DIR).free)
    PENDING_APPROVALS.set(Approval.objects.filter(status=Approval.Status.PENDING).count())
    # Of the newest only: what is older was sealed, or is reported by `verify_ledger`.
    newest = LedgerEntry.objects.above(LedgerEntry.objects.highest_row_id() - MAX_UNSEALED)
    unsealed = newest.unsealed().order_by("pk")
    oldest = unsealed.values_list("received_at", flat=True).first()
    UNSEALED_AGE.set((timezone.now() - oldest).total_seconds() if oldest else 0)
