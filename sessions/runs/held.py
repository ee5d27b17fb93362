"""Ask a person about what a run changed and may not land by itself: one approval for all of it."""

from __future__ import annotations

from typing import Any

from controlplane.policy.model import Verdict
from sessions.approvals.lifecycle import build_approval
from sessions.approvals.reach import rate_run
from sessions.approvals.triage.dangers import find_dangers
from sessions.gate.snapshot import SessionSnapshot
from sessions.models import Approval, ContainedRun
from sessions.runs.effects import Effects
from sessions.runs.traces import GIT_FOLDER
from traces.ledger.append import read_body
from traces.models import LedgerEntry

MAX_TARGETS = 200  # that the approval lists with what was done to them, deletions first


def build_held(run: ContainedRun, effects: Effects, snapshot: SessionSnapshot) -> Approval | None:
    """Return the approval of a run, not saved yet; None where nothing waits."""
    held = effects.list_by(Verdict.ASK)
    if not held:
        return None
    session, intent, first = run.session, snapshot.core.intent, held[0]
    call = _describe_run(run, effects, held)
    return build_approval(
        session,
        kind=Approval.Kind.RUN,
        digest=f"run:{run.public_id}",
        timeout_minutes=snapshot.core.policy.approval_timeout_minutes,
        reach=rate_run(held, find_dangers(call)),
        tool=run.tool,
        call=call,
        error_type=first["error_type"],
        reason=first["reason"],
        message=first["error"],
        intent_id=session.selected_intent_id,
        intent_revision=intent.revision if intent else 0,
        workspace_revision=snapshot.workspace_revision,
    )


def _describe_run(run: ContainedRun, effects: Effects, held: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what the card of a run is built from, beside the run itself."""
    decided = _read_decision(run)
    return {
        "run_id": run.public_id,
        "command": run.command,
        "exit_code": run.exit_code,
        "duration_ms": run.duration_ms,
        "contained_by": run.claim,
        "landed": [row["path"] for row in effects.list_by(Verdict.ALLOW) if not _is_git(row)],
        "offending": [row["path"] for row in held],
        "targets": _list_targets(held),
        "files": [_describe_file(row, effects.diffs) for row in held],
        "input": decided.get("input"),
        "effects": decided.get("effects") or [],
    }


def _read_decision(run: ContainedRun) -> dict[str, Any]:
    """Return the body of the decision that allowed the command; empty after a redaction."""
    entry = LedgerEntry.objects.filter(workspace_id=run.workspace_id, entry_id=run.decision_id)
    found = entry.select_related("body").first()
    return (read_body(found) if found is not None else None) or {}


def _list_targets(held: list[dict[str, Any]]) -> list[dict[str, Any]]:
    rows = sorted(held, key=lambda row: row["change"] != "deleted")[:MAX_TARGETS]
    return [
        {"path": row["path"], "op": "delete" if row["change"] == "deleted" else "write", "recursive": False}
        for row in rows
    ]


def _describe_file(row: dict[str, Any], diffs: dict[str, str]) -> dict[str, Any]:
    names = ("path", "change", "before", "after", "size", "target", "mode", "added", "removed", "reason")
    return {name: row.get(name) for name in names} | {"diff": diffs.get(row["path"]), "why": row["error"]}


def _is_git(row: dict[str, Any]) -> bool:
    return bool(row["path"].startswith(GIT_FOLDER))
