"""Deliver sealed entries to outlets, in order and at least once.

The ledger is the outbox, so nothing can be lost: an outlet that is down is retried with exponential backoff
and continues where it stopped. Several processes may deliver; a lease gives each outlet to one at a time.
"""

from __future__ import annotations

import logging
from datetime import timedelta

from django.db.models import F
from django.utils import timezone

from controlplane.shared import http_post
from controlplane.shared.metrics import OUTLETS, set_gauge
from traces.models import Checkpoint, LedgerLeaf, Outlet
from traces.outlets import otlp, webhook
from traces.outlets.records import OutletRecord, load_records

log = logging.getLogger(__name__)

BATCH = 100  # entries scanned for one post
MAX_POST_BYTES = 1024 * 1024  # of bodies in one post
MAX_POSTS_PER_ROUND = 20  # so that no outlet starves the others
LEASE = timedelta(seconds=60)
MIN_RETRY_DELAY, MAX_RETRY_DELAY = timedelta(seconds=5), timedelta(hours=1)


def deliver_all() -> int:
    """Serve all outlets that are due once; return the number of accepted posts."""
    due = Outlet.objects.filter(next_try_at__lte=timezone.now()).order_by("next_try_at")
    return sum(deliver(outlet) for outlet in due if _has_pending_entries(outlet) and _claim(outlet))


def count_outlets() -> None:
    """Set the gauge of this process. 1 query."""
    failures = list(Outlet.objects.values_list("failures", flat=True))
    failing = sum(map(bool, failures))
    set_gauge(OUTLETS, {"ok": len(failures) - failing, "failing": failing})


def _has_pending_entries(outlet: Outlet) -> bool:
    return LedgerLeaf.objects.filter(workspace_id=outlet.workspace_id, seq__gte=outlet.next_seq).exists()


def _claim(outlet: Outlet) -> bool:
    """Take the lease of an outlet. It expires, so a process that died blocks nobody for longer."""
    lease_end = timezone.now() + LEASE
    # Compare and swap on the time that was read: of two processes only one matches the row.
    unclaimed = Outlet.objects.filter(pk=outlet.pk, next_try_at=outlet.next_try_at)
    return bool(unclaimed.update(next_try_at=lease_end))


def deliver(outlet: Outlet) -> int:
    """Post pending entries to a leased outlet; return the number of accepted posts."""
    accepted = 0
    try:
        while accepted < MAX_POSTS_PER_ROUND and _post_next(outlet):
            accepted += 1
    except http_post.TargetError as error:
        _record_failure(outlet, str(error))
    else:
        Outlet.objects.filter(pk=outlet.pk).update(next_try_at=timezone.now())
    return accepted


def send_test(outlet: Outlet) -> str:
    """Post a message without entries; return the error, "" if it was accepted."""
    try:
        _post(outlet, [], [])
    except http_post.TargetError as error:
        return str(error)
    return ""


def _post_next(outlet: Outlet) -> bool:
    """Post the next entries; return whether there were any. Raises TargetError if they were not accepted."""
    records, next_seq = load_records(outlet, BATCH)
    if next_seq == outlet.next_seq:
        return False
    batch = _take_batch(records)
    if len(batch) < len(records):
        next_seq = batch[-1].seq + 1
    checkpoints = _list_checkpoints(outlet, next_seq)
    if batch or checkpoints:
        _post(outlet, batch, checkpoints)
        Outlet.objects.filter(pk=outlet.pk).update(delivered_at=timezone.now(), failures=0, last_error="")
    # Only after the post was accepted (at least once), and never backwards if the lease was lost meanwhile.
    Outlet.objects.filter(pk=outlet.pk, next_seq=outlet.next_seq).update(
        next_seq=next_seq, next_try_at=timezone.now() + LEASE
    )
    outlet.next_seq = next_seq
    return True


def _take_batch(records: list[OutletRecord]) -> list[OutletRecord]:
    """Return the first records that fit into one post, at least one."""
    bytes_left = MAX_POST_BYTES
    for count, record in enumerate(records):
        bytes_left -= len(record.entry.body.body) if record.include_body and record.body is not None else 0
        if bytes_left < 0 and count:
            return records[:count]
    return records


def _list_checkpoints(outlet: Outlet, next_seq: int) -> list[Checkpoint]:
    """Return the checkpoints that these entries complete; only collectors receive them."""
    if outlet.form != Outlet.Form.OTLP:
        return []
    checkpoints = Checkpoint.objects.filter(workspace_id=outlet.workspace_id)
    return list(checkpoints.filter(size__gt=outlet.next_seq, size__lte=next_seq).order_by("size"))


def _post(outlet: Outlet, records: list[OutletRecord], checkpoints: list[Checkpoint]) -> None:
    if outlet.form == Outlet.Form.OTLP:
        body, headers = otlp.build_message(outlet, records, checkpoints)
    else:
        body, headers = webhook.build_message(outlet, records)
    response = http_post.post(outlet.url, body, headers)
    if not response.is_success:
        raise http_post.TargetError(f"The outlet answered {response.status}: {response.text[:300]}")


def _record_failure(outlet: Outlet, reason: str) -> None:
    delay = min(MAX_RETRY_DELAY, MIN_RETRY_DELAY * 2 ** min(outlet.failures, 12))
    log.warning("delivery to outlet %s failed, next attempt in %s: %s", outlet.pk, delay, reason)
    Outlet.objects.filter(pk=outlet.pk).update(
        failures=F("failures") + 1, last_error=reason[:500], next_try_at=timezone.now() + delay
    )
