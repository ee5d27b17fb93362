"""Take the report of a contained run: judge it, record what lands, open one approval for what waits."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from django.db import transaction
from django.utils import timezone

from controlplane.policy.model import Verdict
from controlplane.shared.tokens import Bearer
from sessions.approvals.lifecycle import open_approval
from sessions.approvals.representations import represent_approval_briefly
from sessions.errors import GateBusyError, RunNotFoundError, RunReportedError
from sessions.gate.snapshot import SessionSnapshot, read_snapshot
from sessions.lifecycle.open import record_session_event, require_owner
from sessions.models import Approval, ContainedRun
from sessions.runs.effects import Effects, build_effects
from sessions.runs.held import build_held
from sessions.runs.judge import judge_changes
from sessions.runs.traces import record_landings
from sessions.stops.store import require_running

MAX_LISTED = 200  # files of the session's entry
MAX_ATTEMPTS = 5
STRICTNESS = (Verdict.ALLOW, Verdict.ASK, Verdict.DENY)


def find_run(bearer: Bearer, run_id: str) -> ContainedRun:
    """Return a run of the bearer's own session.

    Raise RunNotFoundError, ForeignSessionError or StoppedError.
    """
    runs = ContainedRun.objects.for_workspace(bearer.workspace_id)
    run = runs.select_related("session__workspace", "session__intent", "approval").filter(public_id=run_id)
    found = run.first()
    if found is None:
        raise RunNotFoundError(f"There is no run {run_id} in this workspace.")
    require_owner(found.session, bearer)
    require_running(found.session)  # what it changed stays on the client's disk meanwhile
    return found


def report_effects(bearer: Bearer, run: ContainedRun, report: dict[str, Any]) -> dict[str, Any]:
    """Judge the report and record it. The same report again is answered as the first time.

    Raise RunReportedError for another report of the same run, GateBusyError where the rules kept changing.
    """
    digest = hashlib.sha256(json.dumps(report, sort_keys=True).encode()).hexdigest()
    for _ in range(MAX_ATTEMPTS):
        if run.status == ContainedRun.Status.REPORTED:
            if run.report_digest != digest:
                raise RunReportedError(run.public_id)
            return render_answer(run)
        snapshot = read_snapshot(run.session)
        effects = build_effects(run.session, judge_changes(report["files"], snapshot))
        if _record_report(bearer, run, report | {"digest": digest}, effects, snapshot):
            return render_answer(run)
        run.refresh_from_db()
    raise GateBusyError


def _record_report(
    bearer: Bearer, run: ContainedRun, report: dict[str, Any], effects: Effects, snapshot: SessionSnapshot
) -> bool:
    """Record the report with all that follows from it, in one transaction.

    False where another report came first, or the rules it was judged by have changed.
    """
    with transaction.atomic():
        # Of two reports at once one is recorded; the other one is compared with it.
        waiting = ContainedRun.objects.filter(pk=run.pk).exclude(status=ContainedRun.Status.REPORTED)
        was_first = waiting.update(
            status=ContainedRun.Status.REPORTED,
            reported_at=timezone.now(),
            report_digest=report["digest"],
            exit_code=report["exit_code"],
            duration_ms=report["duration_ms"],
            effects=effects.rows,
        )
        if not was_first or not snapshot.is_current():
            transaction.set_rollback(True)
            return False
        run.refresh_from_db()
        approval = build_held(run, effects, snapshot)
        _record_event(run, effects, bearer, approval)
        if approval is not None:
            open_approval(approval, run.decision_id)
            run.approval = approval
            run.save(update_fields=["approval"])
        record_landings(run, effects.list_by(Verdict.ALLOW), bearer.actor)
    return True


def render_answer(run: ContainedRun) -> dict[str, Any]:
    """Return which paths land, wait and are thrown away, and the approval that some wait for."""
    paths: dict[str, list[str]] = {verdict.value: [] for verdict in STRICTNESS}
    for effect in run.effects:
        paths[effect["verdict"]].append(effect["path"])
    decision = next((word.value for word in reversed(STRICTNESS) if paths[word.value]), Verdict.ALLOW.value)
    return {
        "decision": decision,
        "land": paths[Verdict.ALLOW.value],
        "hold": paths[Verdict.ASK.value],
        "discard": paths[Verdict.DENY.value],
        "approval": represent_approval_briefly(run.approval) if run.approval else None,
    }


def _record_event(run: ContainedRun, effects: Effects, bearer: Bearer, approval: Approval | None) -> None:
    """Record the run as an event of the session."""
    names = ("path", "change", "before", "after", "verdict")
    record_session_event(
        run.session,
        "run",
        bearer.actor,
        run_id=run.public_id,
        decision_id=run.decision_id,
        command=run.command,
        exit_code=run.exit_code,
        duration_ms=run.duration_ms,
        contained_by=run.claim,
        counts={verdict.value: len(effects.list_by(verdict)) for verdict in STRICTNESS},
        files=[{name: row.get(name) for name in names} for row in effects.rows[:MAX_LISTED]],
        approval_id=approval.public_id if approval else None,
    )
