"""Delivering: each outlet gets the sealed entries in their order, at least once, for as long as it takes.

The ledger is the outbox, so there is nothing to lose: an outlet that is down is tried again after ever longer
pauses and goes on where it stopped. Several processes may deliver; an outlet is served by one at a time.
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
from traces.outlets.records import Record, records_of

log = logging.getLogger(__name__)

BATCH = 100  # entries looked at for one post
MAX_POST = 1024 * 1024  # bytes of bodies that go along in one
POSTS_A_ROUND = 20  # so that no outlet starves the others
LEASE = timedelta(seconds=60)
FIRST_PAUSE, LONGEST_PAUSE = timedelta(seconds=5), timedelta(hours=1)


def deliver_all() -> int:
    """One round over all outlets that are due, for the server's own loop; the number of posts taken."""
    due = Outlet.objects.filter(next_try_at__lte=timezone.now()).order_by("next_try_at")
    taken = sum(deliver(outlet) for outlet in due if _has_news(outlet) and _claim(outlet))
    _count()
    return taken


def _count() -> None:
    failures = list(Outlet.objects.values_list("failures", flat=True))
    failing = sum(map(bool, failures))
    set_gauge(OUTLETS, {"ok": len(failures) - failing, "failing": failing})


def _has_news(outlet: Outlet) -> bool:
    return LedgerLeaf.objects.filter(workspace_id=outlet.workspace_id, seq__gte=outlet.next_seq).exists()


def _claim(outlet: Outlet) -> bool:
    """Keep other processes off for a while; a process that dies holds nothing for longer."""
    until = timezone.now() + LEASE
    unclaimed = Outlet.objects.filter(pk=outlet.pk, next_try_at=outlet.next_try_at)
    return bool(unclaimed.update(next_try_at=until))


def deliver(outlet: Outlet) -> int:
    """Post what waits for a claimed outlet; the number of posts that were taken."""
    taken = 0
    try:
        while taken < POSTS_A_ROUND and _post_next(outlet):
            taken += 1
    except http_post.TargetError as error:
        _failed(outlet, str(error))
    else:
        Outlet.objects.filter(pk=outlet.pk).update(next_try_at=timezone.now())
    return taken


def send_test(outlet: Outlet) -> str:
    """Post a message without entries; what went wrong, "" where it was taken."""
    try:
        _post(outlet, [], [])
    except http_post.TargetError as error:
        return str(error)
    return ""


def _post_next(outlet: Outlet) -> bool:
    """Whether there was something to go through. Raises TargetError when it was not taken."""
    records, behind = records_of(outlet, BATCH)
    if behind == outlet.next_seq:
        return False
    fitting = _fitting(records)
    if len(fitting) < len(records):
        behind = fitting[-1].seq + 1
    heads = _heads(outlet, behind)
    if fitting or heads:
        _post(outlet, fitting, heads)
        Outlet.objects.filter(pk=outlet.pk).update(delivered_at=timezone.now(), failures=0, last_error="")
    Outlet.objects.filter(pk=outlet.pk, next_seq=outlet.next_seq).update(
        next_seq=behind, next_try_at=timezone.now() + LEASE
    )
    outlet.next_seq = behind
    return True


def _fitting(records: list[Record]) -> list[Record]:
    """The first of them that one post can hold, one at least."""
    room = MAX_POST
    for count, record in enumerate(records):
        room -= len(record.entry.body.body) if record.whole and record.body is not None else 0
        if room < 0 and count:
            return records[:count]
    return records


def _heads(outlet: Outlet, behind: int) -> list[Checkpoint]:
    """The signed heads that these entries complete; only a collector is told of them."""
    if outlet.form != Outlet.Form.OTLP:
        return []
    heads = Checkpoint.objects.filter(workspace_id=outlet.workspace_id)
    return list(heads.filter(size__gt=outlet.next_seq, size__lte=behind).order_by("size"))


def _post(outlet: Outlet, records: list[Record], heads: list[Checkpoint]) -> None:
    if outlet.form == Outlet.Form.OTLP:
        body, headers = otlp.message(outlet, records, heads)
    else:
        body, headers = webhook.message(outlet, records)
    answer = http_post.post(outlet.url, body, headers)
    if not answer.taken:
        raise http_post.TargetError(f"It answered {answer.status}: {answer.text[:300]}")


def _failed(outlet: Outlet, why: str) -> None:
    pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(outlet.failures, 12))
    log.warning("outlet %s was not served, next try in %s: %s", outlet.pk, pause, why)
    Outlet.objects.filter(pk=outlet.pk).update(
        failures=F("failures") + 1, last_error=why[:500], next_try_at=timezone.now() + pause
    )
