"""Take the report of a contained run: judge it, record what lands, open one approval for what waits."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from django.db import transaction
from django.utils import timezone

from controlplane.policy.model import Verdict
from controlplane.shared.masking import to_storable
from controlplane.shared.tokens import Bearer
from sessions.approvals.lifecycle import find_pending, open_request
from sessions.approvals.reach import ReachRating
from sessions.approvals.representations import represent_approval_briefly
from sessions.errors import RunNotFoundError, RunReportedError
from sessions.gate.snapshot import SessionSnapshot, read_snapshot
from sessions.lifecycle.open import record_session_event, require_owner
from sessions.models import Approval, ContainedRun
from sessions.runs.judge import GIT_FOLDER, JudgedChange, judge_changes
from sessions.stops.store import require_running
from sessions.trace_report import record_trace
from traces.entry_schema import DELETED

MAX_STORED_DIFF = 64 * 1024  # characters of one file on a card
MAX_LISTED = 200  # files of the session's entry
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

    Raise RunReportedError for another report of the same run.
    """
    digest = hashlib.sha256(json.dumps(report, sort_keys=True).encode()).hexdigest()
    if run.status == ContainedRun.Status.REPORTED:
        if run.report_digest != digest:
            raise RunReportedError(run.public_id)
        return render_answer(run)
    snapshot = read_snapshot(run.session)
    judged = judge_changes(report["files"], snapshot)
    with transaction.atomic():
        # Of two reports at once one is recorded; the other one is compared with it.
        waiting = ContainedRun.objects.filter(pk=run.pk).exclude(status=ContainedRun.Status.REPORTED)
        was_first = waiting.update(
            status=ContainedRun.Status.REPORTED,
            reported_at=timezone.now(),
            report_digest=digest,
            exit_code=report["exit_code"],
            duration_ms=report["duration_ms"],
            effects=[_to_effect(change) for change in judged],
        )
        if not was_first:
            run.refresh_from_db()
            return report_effects(bearer, run, report)
        run.refresh_from_db()
        run.approval = _open_approval(run, judged, snapshot)
        run.save(update_fields=["approval"])
        _record(run, judged, bearer)
    return render_answer(run)


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


def _to_effect(judged: JudgedChange) -> dict[str, Any]:
    """Return what is stored of a change: no text of a file."""
    fields = {
        name: judged.change.get(name) for name in ("path", "change", "before", "after", "size", "target")
    }
    verdict = {"verdict": judged.verdict.value, "error_type": judged.error_type, "reason": judged.reason}
    fields |= verdict | {"error": to_storable(judged.error), "ignored": bool(judged.change.get("ignored"))}
    return {name: value for name, value in fields.items() if value is not None}


def _record(run: ContainedRun, judged: list[JudgedChange], bearer: Bearer) -> None:
    """Record the run as an event of the session, and each file that lands as a trace."""
    counts = {verdict.value: sum(one.verdict is verdict for one in judged) for verdict in STRICTNESS}
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
        counts=counts,
        files=[_summarize(change) for change in judged[:MAX_LISTED]],
        approval_id=run.approval.public_id if run.approval else None,
    )
    for change in judged:
        if change.verdict is Verdict.ALLOW:
            record_landing(run, change.change, bearer.actor)


def record_landing(run: ContainedRun, change: dict[str, Any], actor: str) -> None:
    """Record one landed file as a trace of the session's intent; git's own files are none."""
    if change["path"].startswith(GIT_FOLDER):
        return
    trace: dict[str, Any] = {"path": change["path"], "revision_id": run.session.revision_id or None}
    if change["change"] == "deleted":
        trace["content_hash"] = DELETED
    elif isinstance(change.get("content"), str):
        trace["content"] = change["content"]
    else:
        trace["content_hash"] = change["after"]
    record_trace(run.session, trace, actor)


def _summarize(judged: JudgedChange) -> dict[str, Any]:
    change = judged.change
    names = ("path", "change", "before", "after")
    return {name: change.get(name) for name in names} | {"verdict": judged.verdict.value}


def _open_approval(
    run: ContainedRun, judged: list[JudgedChange], snapshot: SessionSnapshot
) -> Approval | None:
    """Open one approval for all files that wait; None where none does."""
    held = [change for change in judged if change.verdict is Verdict.ASK]
    if not held:
        return None
    session, intent, first = run.session, snapshot.core.intent, held[0]
    digest = f"run:{run.public_id}"
    return find_pending(session, digest) or open_request(
        session,
        kind=Approval.Kind.RUN,
        digest=digest,
        timeout_minutes=snapshot.core.policy.approval_timeout_minutes,
        reach=ReachRating(Approval.Reach.MEDIUM, f"changes {len(held)} files that were looked at"),
        tool=run.tool,
        call=_describe_run(run, held, judged),
        error_type=first.error_type,
        reason=first.reason,
        message=first.error,
        intent_id=session.selected_intent_id,
        intent_revision=intent.revision if intent else 0,
        workspace_revision=snapshot.workspace_revision,
    )


def _describe_run(run: ContainedRun, held: list[JudgedChange], judged: list[JudgedChange]) -> dict[str, Any]:
    """Return what the card of a run is built from."""
    return {
        "run_id": run.public_id,
        "command": run.command,
        "exit_code": run.exit_code,
        "duration_ms": run.duration_ms,
        "contained_by": run.claim,
        "landed": [one.path for one in judged if one.verdict is Verdict.ALLOW and not _is_git(one)],
        "offending": [one.path for one in held],
        "files": [_describe_file(one) for one in held],
    }


def _describe_file(judged: JudgedChange) -> dict[str, Any]:
    change = judged.change
    diff = change.get("diff")
    shown = to_storable(diff) if isinstance(diff, str) and len(diff) <= MAX_STORED_DIFF else None
    names = ("path", "change", "before", "after", "size", "target")
    return {name: change.get(name) for name in names} | {"diff": shown, "why": judged.error}


def _is_git(judged: JudgedChange) -> bool:
    return judged.path.startswith(GIT_FOLDER)
