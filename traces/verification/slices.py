"""Verify ledgers a slice at a time, for the server's loop: no page waits, and tampering is found by itself.

One pass reads every sealed entry with its rows, follows the tree to each signed head, and ends with the
counts. The next one begins an hour later. What a pass found stays until the next is complete.
"""

from __future__ import annotations

import logging
from dataclasses import asdict
from datetime import timedelta
from itertools import islice

from django.db.models import F, Q
from django.utils import timezone

from controlplane.models import Workspace
from traces.ledger import merkle
from traces.ledger.proofs import find_head, split_hashes
from traces.models import Checkpoint, LedgerCheck
from traces.verification.counts import find_changed_counts
from traces.verification.registry import list_projections
from traces.verification.removed_bodies import load_removed_bodies
from traces.verification.report import VerificationReport
from traces.verification.verify import PROJECTION_CHANGED, check_entries, read_leaves

log = logging.getLogger(__name__)

SLICE = 500  # entries a run: with their rows about 60 ms of processor time
WORKSPACES_A_RUN = 4
REST = timedelta(hours=1)  # between two passes
MAX_KEPT = 20  # problems


def check_due_ledgers() -> int:
    """Check one slice of a few ledgers, for the server's loop. Return the number of entries checked."""
    now = timezone.now()
    known = LedgerCheck.objects.values_list("workspace_id", flat=True)
    for workspace_id in Workspace.objects.exclude(pk__in=known).values_list("pk", flat=True)[
        :WORKSPACES_A_RUN
    ]:
        LedgerCheck.objects.get_or_create(workspace_id=workspace_id)
    due = LedgerCheck.objects.filter(
        Q(next_seq__gt=0) | Q(completed_at=None) | Q(completed_at__lt=now - REST)
    ).order_by(F("started_at").asc(nulls_first=True))
    return sum(
        check_slice(workspace_id) for workspace_id in due.values_list("pk", flat=True)[:WORKSPACES_A_RUN]
    )


def check_slice(workspace_id: int, size: int = SLICE) -> int:
    """Check the next entries of a ledger; at its newest head complete the pass. Return how many."""
    check, _ = LedgerCheck.objects.get_or_create(workspace_id=workspace_id)
    if not check.next_seq:
        check.started_at, check.problems = timezone.now(), []
    first = check.next_seq
    frontier, report = _check_from(check, size)
    if not report.ok:  # a redaction that was committed meanwhile looks like a loss, once
        frontier, report = _check_from(check, size)
    check.next_seq, check.frontier = report.checked, b"".join(frontier)
    is_stuck = report.checked == first and first < report.size
    if is_stuck or report.checked >= report.size:
        _complete(check, report)
    _keep_problems(check, report)
    check.save()
    return report.checked - first


def _check_from(check: LedgerCheck, size: int) -> tuple[list[bytes], VerificationReport]:
    """Check the entries from `check.next_seq`. Return the frontier behind them, and what was found."""
    report = VerificationReport(check.workspace_id)
    head = find_head(check.workspace_id)
    report.size = head.size if head else 0
    report.checked = check.next_seq
    frontier = split_hashes(bytes(check.frontier))
    roots = _load_roots(check.workspace_id, report.checked, report.checked + size)
    for leaves in islice(read_leaves(report, size), 1):
        removed = load_removed_bodies(report)  # after the bodies: what is missing there is explained here
        check_entries(report, [(leaf.entry, leaf.seq) for leaf in leaves], removed)
        for leaf in leaves:
            merkle.extend_frontier(frontier, report.checked, merkle.leaf_hash(bytes(leaf.entry.envelope)))
            report.checked += 1
            expected = roots.get(report.checked)
            if expected is not None and expected != merkle.fold_roots(frontier):
                report.add("ROOT_MISMATCH", f"the entries do not lead to the signed head of {report.checked}")
    return frontier, report


def _load_roots(workspace_id: int, first: int, last: int) -> dict[int, bytes]:
    heads = Checkpoint.objects.filter(workspace_id=workspace_id, size__gt=first, size__lte=last)
    return {size: bytes(root) for size, root in heads.values_list("size", "root")}


def _complete(check: LedgerCheck, report: VerificationReport) -> None:
    """End the pass with what belongs to no single entry."""
    for projection in list_projections():
        for text in projection.find_strays(check.workspace_id):
            report.add(PROJECTION_CHANGED, text)
    for text in find_changed_counts(check.workspace_id):
        report.add(PROJECTION_CHANGED, text)
    if report.checked < report.size and report.ok:
        report.add("ENTRIES_MISSING", f"{report.size} entries are sealed, only {report.checked} are there")
    check.completed_at, check.completed_size = timezone.now(), report.checked
    check.next_seq, check.frontier = 0, b""


def _keep_problems(check: LedgerCheck, report: VerificationReport) -> None:
    new = [problem for problem in map(asdict, report.problems) if problem not in check.problems]
    for problem in new:
        log.error("ledger of workspace %s: %s: %s", check.workspace_id, problem["kind"], problem["text"])
    check.problems = [*check.problems, *new][:MAX_KEPT]
    if not check.next_seq:
        check.found = check.problems
