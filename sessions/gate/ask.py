"""Find or prepare the approval that an `ask` waits for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from controlplane.policy.messages import render_rejected_again
from controlplane.policy.model import Decision, Verdict
from controlplane.shared.masking import to_storable
from intents.selectors import find_owners
from sessions.approvals.effects import render_effects
from sessions.approvals.lifecycle import build_approval, find_latest, find_pending
from sessions.approvals.reach import rate_reach
from sessions.approvals.rejections import format_rejection
from sessions.approvals.triage.dangers import find_dangers
from sessions.gate.outcome import GateOutcome
from sessions.models import Approval


def attach_approval(outcome: GateOutcome) -> GateOutcome:
    """Return the outcome with the pending approval for exactly this call, or with a new one, not yet saved.

    A call that a reviewer has rejected in this session becomes a denial with the reviewer's own words.
    """
    session, decision = outcome.snapshot.session, outcome.decision
    rejected = find_latest(session, decision.digest, Approval.Status.REJECTED)
    if rejected is not None:
        error = render_rejected_again(
            decision.error or "", format_rejection(rejected.decider, rejected.comment)
        )
        denial = replace(decision, verdict=Verdict.DENY, error=error)
        return replace(outcome, decision=denial, answered=Verdict.DENY, rejection=rejected)
    approval = find_pending(session, decision.digest) or _find_expired(outcome) or _build_approval(outcome)
    return replace(outcome, approval=approval)


def _find_expired(outcome: GateOutcome) -> Approval | None:
    """Return the approval that this very request waited for, once it is over without a decision.

    Without this, the end of the waiting time would open a second approval for the same question.
    """
    if not outcome.request.resumed:
        return None
    ended = (Approval.Status.EXPIRED, Approval.Status.CANCELLED)
    approvals = Approval.objects.select_related("workspace").filter(session=outcome.snapshot.session)
    return approvals.filter(public_id=outcome.request.resumed, status__in=ended).first()


def _build_approval(outcome: GateOutcome) -> Approval:
    session, decision, snapshot = outcome.snapshot.session, outcome.decision, outcome.snapshot
    policy, intent = snapshot.core.policy, snapshot.core.intent
    paths = [target.path for target in decision.targets]
    owners = set(find_owners(session.workspace_id, paths, ignore_case=policy.case_insensitive_paths))
    call = _describe_call(outcome)
    return build_approval(
        session,
        kind=Approval.Kind.CALL,
        digest=decision.digest,
        timeout_minutes=policy.approval_timeout_minutes,
        reach=rate_reach(decision, owners - {decision.intent_id or ""}, find_dangers(call)),
        tool=outcome.request.call.tool,
        call=call,
        error_type=decision.error_type or "",
        reason=str(decision.reason or ""),
        message=to_storable(decision.error or ""),  # it quotes the call
        intent_id=decision.intent_id or "",
        intent_revision=intent.revision if intent else 0,
        workspace_revision=snapshot.workspace_revision,
        refused=_list_refused(decision),
    )


def _describe_call(outcome: GateOutcome) -> dict[str, Any]:
    """Return what the reviewer's card is built from."""
    call, decision = outcome.request.call, outcome.decision
    return {
        "input": outcome.stored_call.input,
        "cwd": call.cwd,
        "root": call.root,
        "targets": [
            {"path": target.path, "op": target.op, "recursive": target.recursive}
            for target in decision.targets
        ],
        "offending": list(decision.offending),
        "unknown": [
            {"text": text, "why": part.reason, "start": part.start, "end": part.end}
            for text, part in zip(outcome.stored_call.unknown, decision.unknown, strict=True)
        ],
        "nearest_pattern": decision.nearest_pattern,
        "effects": render_effects(decision.effects),
    }


def _list_refused(decision: Decision) -> list[dict[str, str]]:
    """Return kind and effect of each part that nobody has permitted, each pair once."""
    pairs = dict.fromkeys((part.kind, part.effect.value) for part in decision.refused)
    return [{"kind": kind, "effect": effect} for kind, effect in pairs]
