"""Send signed heads to anchors on schedule, and report each anchor's health.

An anchor gets the newest head when there is a new one and its interval is over. Failures are retried with
exponential backoff; the reason is shown until a head arrives.
"""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from controlplane.models import Workspace
from controlplane.shared.metrics import ANCHORS, set_gauge
from traces.anchors.continuation import check_last_head, find_contradiction, mark_contradicted
from traces.anchors.outside_record import read_record, remember_head, remember_setup
from traces.anchors.targets import ANCHOR_FAILURES, CHECKS, READERS, SENDERS
from traces.anchors.witness import ContradictedError
from traces.errors import AnchorError
from traces.ledger import proofs
from traces.ledger.append import NewEntry, append, read_body
from traces.models import AnchorKind, Checkpoint, EntryKind, LedgerAnchor, LedgerEntry

log = logging.getLogger(__name__)

LEASE = timedelta(minutes=2)  # longer than any attempt takes
MIN_RETRY, MAX_RETRY = timedelta(seconds=30), timedelta(hours=1)
MAX_ANSWER = 400
MINUTES_RANGE = (1, 10_080)
MAX_ANCHORS = 20  # per workspace: they share one loop
STATES = ("ok", "waiting", "late", "failing", "contradicted")


@dataclass(frozen=True, slots=True)
class AnchorHealth:
    """`state` is one of `STATES`, waiting before anything was sent, or off. `text` gives the reason."""

    state: str
    text: str


def add_anchor(
    workspace: Workspace, kind: str, target: str, every_minutes: int, *, actor: str
) -> LedgerAnchor:
    """Create an anchor and record it in the ledger. Raise AnchorError.

    Files are for whoever runs the server: pages must not offer them.
    """
    if kind not in AnchorKind.values:
        raise AnchorError("Choose one of: file, webhook, git, witness, timestamp.")
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
        raise AnchorError("This anchor exists already.") from error
    remember_setup(workspace.pk)
    return anchor


def set_enabled(anchor: LedgerAnchor, *, enabled: bool, actor: str) -> None:
    with transaction.atomic():
        locked = LedgerAnchor.objects.select_for_update().get(pk=anchor.pk)
        if locked.enabled != enabled:
            LedgerAnchor.objects.filter(pk=anchor.pk).update(enabled=enabled, due_at=timezone.now())
            _record_change(anchor, "anchor_enabled" if enabled else "anchor_disabled", actor)
    remember_setup(anchor.workspace_id)


def remove_anchor(anchor: LedgerAnchor, *, actor: str) -> None:
    with transaction.atomic():
        deleted, _ = LedgerAnchor.objects.filter(pk=anchor.pk).delete()
        if deleted:
            _record_change(anchor, "anchor_removed", actor)
    remember_setup(anchor.workspace_id)


def retry_soon(anchor: LedgerAnchor) -> None:
    LedgerAnchor.objects.filter(pk=anchor.pk).update(due_at=timezone.now())


def assess_health(anchor: LedgerAnchor, now: datetime) -> AnchorHealth:
    """Return the health of an anchor. 2 queries."""
    newest = proofs.find_head(anchor.workspace_id)
    size = newest.size if newest else 0
    if not anchor.enabled:
        return AnchorHealth("off", "Switched off.")
    if anchor.contradicted or anchor.anchored_size > size:
        text = f"{anchor.anchored_size:,} entries were anchored, but the ledger has only {size:,}."
        return AnchorHealth("contradicted", anchor.answer if anchor.contradicted else text)
    if anchor.failures:
        return AnchorHealth("failing", anchor.answer)
    if anchor.anchored_size == size:
        return AnchorHealth("ok", anchor.answer or "Nothing is sealed yet.")
    newer_heads = Checkpoint.objects.filter(workspace_id=anchor.workspace_id, size__gt=anchor.anchored_size)
    since = newer_heads.order_by("size").values_list("created_at", flat=True)[0]
    if now - since > 2 * timedelta(minutes=anchor.every_minutes):
        return AnchorHealth("late", "The newest head has been waiting for more than twice the interval.")
    return AnchorHealth("ok" if anchor.anchored_at else "waiting", anchor.answer)


def send_due_heads() -> int:
    """Run one round over all anchors. Return how many heads arrived. Several processes can share the work."""
    return sum(send_if_due(anchor) for anchor in _list_due(timezone.now()))


def check_anchored_heads() -> None:
    """Hold every ledger against the last head that left it; create anchors that a restored backup lacks."""
    for workspace in Workspace.objects.order_by("pk"):
        _restore_setup(workspace)
        check_last_head(workspace.pk)


def send_if_due(anchor: LedgerAnchor) -> bool:
    """Send the newest head unless the anchor has it or another process sends it. Tell whether it arrived."""
    head = proofs.find_head(anchor.workspace_id)
    if head is None or head.size <= anchor.anchored_size:
        return False
    # Moving `due_at` on from the value that was read is the lease: only one process's update matches.
    claimed = LedgerAnchor.objects.filter(pk=anchor.pk, due_at=anchor.due_at, enabled=True)
    if not claimed.update(due_at=timezone.now() + LEASE):
        return False
    return send_head(anchor, head)


def send_head(anchor: LedgerAnchor, head: Checkpoint) -> bool:
    """Send a head that continues those before it, and store the result. Return whether it arrived."""
    try:
        if reason := find_contradiction(anchor):
            mark_contradicted(anchor.workspace_id, reason)
            return False
        answer = SENDERS[anchor.kind](anchor, head)
        remember_head(anchor.workspace_id, head.note)
    except ContradictedError as error:
        mark_contradicted(anchor.workspace_id, str(error))
        return False
    except ANCHOR_FAILURES as error:
        return _record_failure(anchor, str(error) or type(error).__name__)
    except Exception as error:  # one broken anchor must not stop the others
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
    """Return (heads stored in files and repositories, errors of those that cannot be read).

    Heads sent to a webhook are with its receiver and cannot be read back.
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
    due = LedgerAnchor.objects.filter(enabled=True, contradicted=False, due_at__lte=now)
    return list(due.order_by("due_at"))


def _restore_setup(workspace: Workspace) -> None:
    """Create the anchors that were set up after the backup from which the database was restored."""
    for setup in read_record(workspace.pk)["anchors"]:
        place = {"workspace_id": workspace.pk, "kind": setup["kind"], "target": setup["target"]}
        if LedgerAnchor.objects.filter(**place).exists() or _was_removed(place):
            continue
        with transaction.atomic():
            anchor = LedgerAnchor.objects.create(**setup, workspace_id=workspace.pk, due_at=timezone.now())
            _record_change(anchor, "anchor_restored", "system")


def _was_removed(place: dict[str, Any]) -> bool:
    """Return whether the newest entry about an anchor tells its removal: by a process with another folder."""
    entries = LedgerEntry.objects.for_workspace(place["workspace_id"]).of_kind(EntryKind.POLICY)
    told = entries.filter(outcome__startswith="anchor_").with_body().newest_first()
    bodies = ((entry.outcome, read_body(entry) or {}) for entry in told.iterator())
    about = (one for one, body in bodies if all(body.get(name) == place[name] for name in ("kind", "target")))
    return next(about, "") == "anchor_removed"


def count_anchors() -> None:
    """Set the gauge of this process, by health."""
    now = timezone.now()
    counts = Counter(assess_health(anchor, now).state for anchor in LedgerAnchor.objects.filter(enabled=True))
    set_gauge(ANCHORS, {state: counts[state] for state in STATES})


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
