"""Find or prepare the approval that an `ask` waits for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from controlplane.policy.messages import render_rejected_again
from controlplane.policy.model import Verdict
from controlplane.shared.masking import storable
from intents.selectors import find_owners
from sessions.approvals.lifecycle import find_latest, new_approval, pending_for
from sessions.approvals.reach import reach_of
from sessions.approvals.rejections import words_of
from sessions.gate.outcome import Checked
from sessions.models import Approval


def join_or_plan(checked: Checked) -> Checked:
    """With the approval for exactly this call: the one that is open already, or a new one, not yet saved.

    A call that a human has rejected in this session is refused with the human's own words.
    """
    session, decision = checked.held.session, checked.decision
    rejected = find_latest(session, decision.digest, Approval.Status.REJECTED)
    if rejected is not None:
        error = render_rejected_again(decision.error or "", words_of(rejected.decider, rejected.comment))
        return replace(
            checked, decision=replace(decision, verdict=Verdict.DENY, error=error), answered=Verdict.DENY
        )
    approval = pending_for(session, decision.digest) or _timed_out(checked) or _planned(checked)
    return replace(checked, approval=approval)


def _timed_out(checked: Checked) -> Approval | None:
    """The approval that this very request was held for, over without a decision: it is not asked anew."""
    ended = (Approval.Status.EXPIRED, Approval.Status.CANCELLED)
    return (
        Approval.objects.select_related("workspace")
        .filter(public_id=checked.request.resumed, session=checked.held.session, status__in=ended)
        .first()
        if checked.request.resumed
        else None
    )


def _planned(checked: Checked) -> Approval:
    session, decision, held = checked.held.session, checked.decision, checked.held
    policy = held.snapshot.policy
    paths = [target.path for target in decision.targets]
    owners = set(find_owners(session.workspace_id, paths, ignore_case=policy.case_insensitive_paths))
    return new_approval(
        session,
        kind=Approval.Kind.CALL,
        digest=decision.digest,
        timeout_minutes=policy.approval_timeout_minutes,
        reach=reach_of(decision, owners - {decision.intent_id or ""}),
        tool=checked.request.call.tool,
        call=_shown(checked),
        error_type=decision.error_type or "",
        reason=str(decision.reason or ""),
        message=decision.error or "",
        intent_id=decision.intent_id or "",
        intent_revision=held.snapshot.intent.revision if held.snapshot.intent else 0,
        workspace_revision=held.workspace_revision,
    )


def _shown(checked: Checked) -> dict[str, Any]:
    """What the reviewer's card is drawn from."""
    call, decision = checked.request.call, checked.decision
    return {
        "input": storable(call.input),
        "cwd": call.cwd,
        "root": call.root,
        "targets": [
            {"path": target.path, "op": target.op, "recursive": target.recursive}
            for target in decision.targets
        ],
        "offending": list(decision.offending),
        "unknown": [
            {"text": storable(part.text), "why": part.reason, "start": part.start, "end": part.end}
            for part in decision.unknown
        ],
        "nearest_pattern": decision.nearest_pattern,
    }
