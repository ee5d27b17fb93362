"""Keeping the signed heads of ledgers outside the database, again and again, and saying how that goes.

A place gets the newest head when there is a new one and its time has come. What fails is tried again, later
each time; the reason stands beside the place until a head arrives.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone

from controlplane.models import Workspace
from controlplane.shared.metrics import ANCHORS, set_gauge
from traces.anchors.targets import ANCHOR_FAILURES, CHECKS, READERS, SENDERS
from traces.errors import AnchorError
from traces.ledger import proofs
from traces.ledger.append import NewEntry, append
from traces.models import AnchorKind, Checkpoint, EntryKind, LedgerAnchor

log = logging.getLogger(__name__)

LEASE = timedelta(minutes=2)  # longer than any attempt takes
MIN_RETRY, MAX_RETRY = timedelta(seconds=30), timedelta(hours=1)
MAX_ANSWER = 400
MINUTES_RANGE = (1, 10_080)
MAX_ANCHORS = 20  # of a workspace: they share one loop
HEALTH_INTERVAL = 15.0  # seconds between two counts for the metrics


@dataclass(frozen=True, slots=True)
class AnchorHealth:
    """`word` is ok, waiting (nothing sent yet), late, failing or off; `text` says why."""

    state: str
    text: str


def add_anchor(
    workspace: Workspace, kind: str, target: str, every_minutes: int, *, actor: str
) -> LedgerAnchor:
    """Set up a place, with a record in the ledger. Raises AnchorError.

    A file is a matter of whoever runs the server: no page may offer it.
    """
    if kind not in AnchorKind.values:
        raise AnchorError("Choose a kind.")
    if LedgerAnchor.objects.filter(workspace_id=workspace.pk).count() >= MAX_ANCHORS:
        raise AnchorError(f"A workspace has at most {MAX_ANCHORS} anchors.")
    if not MINUTES_RANGE[0] <= every_minutes <= MINUTES_RANGE[1]:
        raise AnchorError(f"Choose {MINUTES_RANGE[0]} to {MINUTES_RANGE[1]:,} minutes.")
    target = CHECKS[kind](workspace, target.strip())
    try:
        with transaction.atomic():
            anchor = LedgerAnchor.objects.create(
                workspace_id=workspace.pk,
                kind=kind,
                target=target,
                every_minutes=every_minutes,
                due_at=timezone.now(),
            )
            _record_change(anchor, "anchor_added", actor)
    except IntegrityError as error:
        raise AnchorError("This place is an anchor already.") from error
    return anchor


def set_enabled(anchor: LedgerAnchor, *, enabled: bool, actor: str) -> None:
    with transaction.atomic():
        locked = LedgerAnchor.objects.select_for_update().get(pk=anchor.pk)
        if locked.enabled != enabled:
            LedgerAnchor.objects.filter(pk=anchor.pk).update(enabled=enabled, due_at=timezone.now())
            _record_change(anchor, "anchor_enabled" if enabled else "anchor_disabled", actor)


def remove_anchor(anchor: LedgerAnchor, *, actor: str) -> None:
    with transaction.atomic():
        deleted, _ = LedgerAnchor.objects.filter(pk=anchor.pk).delete()
        if deleted:
            _record_change(anchor, "anchor_removed", actor)


def retry_soon(anchor: LedgerAnchor) -> None:
    LedgerAnchor.objects.filter(pk=anchor.pk).update(due_at=timezone.now())


def assess_health(anchor: LedgerAnchor, now: datetime) -> AnchorHealth:
    """2 queries."""
    newest = proofs.find_head(anchor.workspace_id)
    size = newest.size if newest else 0
    if not anchor.enabled:
        return AnchorHealth("off", "Switched off.")
    if anchor.anchored_size > size:
        return AnchorHealth(
            "failing", f"{anchor.anchored_size:,} entries were anchored, the ledger has {size:,}."
        )
    if anchor.failures:
        return AnchorHealth("failing", anchor.answer)
    if anchor.anchored_size == size:
        return AnchorHealth("ok", anchor.answer or "Nothing is sealed yet.")
    newer_heads = Checkpoint.objects.filter(workspace_id=anchor.workspace_id, size__gt=anchor.anchored_size)
    since = newer_heads.order_by("size").values_list("created_at", flat=True)[0]
    if now - since > 2 * timedelta(minutes=anchor.every_minutes):
        return AnchorHealth("late", "A new head is waiting for longer than twice the interval.")
    return AnchorHealth("ok" if anchor.anchored_at else "waiting", anchor.answer)


class AnchorSchedule:
    """One round after another over all places; several processes share the work."""

    def __init__(self) -> None:
        self._counted_at = float("-inf")

    def run_once(self) -> int:
        """Send what is due; how many heads arrived."""
        arrived = sum(send_if_due(anchor) for anchor in _list_due(timezone.now()))
        if time.monotonic() - self._counted_at > HEALTH_INTERVAL:
            self._counted_at = time.monotonic()
            _count_health()
        return arrived


_schedule = AnchorSchedule()


def send_due_heads() -> int:
    """One round for the server's own loop."""
    return _schedule.run_once()


def send_if_due(anchor: LedgerAnchor) -> bool:
    """Send the newest head unless it is there, or another process is at it; whether it arrived."""
    head = proofs.find_head(anchor.workspace_id)
    if head is None or head.size <= anchor.anchored_size:
        return False
    claimed = LedgerAnchor.objects.filter(pk=anchor.pk, due_at=anchor.due_at, enabled=True)
    if not claimed.update(due_at=timezone.now() + LEASE):
        return False
    return send_head(anchor, head)


def send_head(anchor: LedgerAnchor, head: Checkpoint) -> bool:
    """Send a head now and write down what came of it; whether it arrived."""
    try:
        answer = SENDERS[anchor.kind](anchor, head)
    except ANCHOR_FAILURES as error:
        return _record_failure(anchor, str(error) or type(error).__name__)
    except Exception as error:  # an anchor's fault must not keep the others from theirs
        log.exception("anchor %s failed", anchor.pk)
        return _record_failure(anchor, type(error).__name__)
    now = timezone.now()
    LedgerAnchor.objects.filter(pk=anchor.pk).update(
        anchored_size=head.size,
        anchored_at=now,
        failures=0,
        answer=answer[:MAX_ANSWER],
        due_at=now + timedelta(minutes=anchor.every_minutes),
    )
    return True


def read_anchored_heads(workspace: Workspace) -> tuple[list[str], list[str]]:
    """(the heads that files and repositories keep, which of these cannot be read and why).

    What was sent to a webhook is at its receiver's.
    """
    heads: list[str] = []
    errors: list[str] = []
    for anchor in LedgerAnchor.objects.filter(workspace_id=workspace.pk, kind__in=READERS).order_by("pk"):
        try:
            heads += READERS[anchor.kind](anchor, workspace)
        except ANCHOR_FAILURES as error:
            errors.append(f"{anchor}: {error}")
    return list(dict.fromkeys(heads)), errors


def _list_due(now: datetime) -> list[LedgerAnchor]:
    return list(LedgerAnchor.objects.filter(enabled=True, due_at__lte=now).order_by("due_at"))


def _count_health() -> None:
    now = timezone.now()
    counts = Counter(assess_health(anchor, now).state for anchor in LedgerAnchor.objects.filter(enabled=True))
    set_gauge(ANCHORS, {state: counts[state] for state in ("ok", "waiting", "late", "failing")})


def _record_failure(anchor: LedgerAnchor, reason: str) -> bool:
    failures = anchor.failures + 1
    pause = min(MIN_RETRY * 2 ** min(failures - 1, 10), MAX_RETRY)
    LedgerAnchor.objects.filter(pk=anchor.pk).update(
        failures=failures, answer=reason[:MAX_ANSWER], due_at=timezone.now() + pause
    )
    return False


def _record_change(anchor: LedgerAnchor, outcome: str, actor: str) -> None:
    body = {"kind": anchor.kind, "target": anchor.target, "every_minutes": anchor.every_minutes}
    append(NewEntry(anchor.workspace_id, EntryKind.POLICY, body, outcome=outcome, actor=actor))
