"""Build the card of alike calls: what they share, how each differs from most, and one decision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from controlplane.templatetags.names import agent_title
from sessions.approvals.batch.decide import MAX_APPROVALS
from sessions.approvals.card.build import (
    OWN_REQUEST,
    REVIEWERS_ONLY,
    CardReach,
    CardViewer,
    IntentLink,
    find_intent_link,
    get_card_state,
)
from sessions.approvals.card.ownership import load_ownership
from sessions.approvals.card.receipts import Receipt
from sessions.approvals.card.stop_reason import StopReason, explain_stop
from sessions.approvals.card.subjects import abbreviate, describe_subject, find_agent_reason, list_paths
from sessions.approvals.queue import AgentLabel
from sessions.approvals.triage.dangers import Danger, find_dangers
from sessions.approvals.triage.openings import is_irreversible
from sessions.approvals.triage.shapes import describe_shape
from sessions.models import Approval


@dataclass(frozen=True, slots=True)
class AlikeCall:
    """One call of the group. `difference` says how it differs from most others; such a call is not ticked."""

    id: str
    target: str
    dangers: tuple[Danger, ...]
    agent_reason: str
    expires_at: datetime
    difference: str = ""


@dataclass(frozen=True, slots=True)
class AlikeCard:
    """What the template of the group shows; `_alike.html` describes each field."""

    id: str
    key: str
    verb: str
    object: str
    agent: AgentLabel
    intent: IntentLink | None
    reach: CardReach
    dangers: tuple[Danger, ...]
    agent_reason: str
    opened_at: datetime
    expires_at: datetime
    why: StopReason
    calls: tuple[AlikeCall, ...]
    more: int
    state: str
    irreversible: bool
    receipt: Receipt | None
    decision_id: str
    next_url: str | None

    @property
    def ticked(self) -> int:
        return sum(not call.difference for call in self.calls)


def build_alike_card(
    approvals: Sequence[Approval], viewer: CardViewer, *, next_url: str | None = None
) -> AlikeCard:
    """Build the card of several pending calls of one shape in at most 4 queries."""
    first = approvals[0]
    subject = describe_subject(first)
    calls = _compare(approvals[:MAX_APPROVALS])
    owners = load_ownership(first.workspace).find_owners(list_paths(first), excluded_id=first.intent_id)
    state = get_card_state(first, viewer)
    reasons = {call.agent_reason for call in calls if not call.difference}
    return AlikeCard(
        id=first.public_id,
        key=first.shape,
        verb=subject.verb,
        object=describe_shape(first, subject),
        agent=AgentLabel(agent_title(first.session.agent_name)),
        intent=find_intent_link(first),
        reach=CardReach(str(first.get_reach_display()).lower(), first.reach_why),
        dangers=tuple(find_dangers(first.call)),
        agent_reason=reasons.pop() if len(reasons) == 1 else "",
        opened_at=first.requested_at,
        expires_at=min(approval.expires_at for approval in approvals),
        why=explain_stop(first, owners),
        calls=calls,
        more=len(approvals) - len(calls),
        state=state,
        irreversible=is_irreversible(first),
        receipt={"yours": OWN_REQUEST, "reader": REVIEWERS_ONLY}.get(state),
        decision_id=first.decision_id,
        next_url=next_url,
    )


def _compare(approvals: Sequence[Approval]) -> tuple[AlikeCall, ...]:
    """Return the calls, those that differ from most of them first."""
    reasons = [find_agent_reason(approval) for approval in approvals]
    dangers = [tuple(find_dangers(approval.call)) for approval in approvals]
    usual_reason = Counter(reasons).most_common(1)[0]
    usual_dangers = Counter(dangers).most_common(1)[0][0]
    calls = []
    for approval, reason, danger in zip(approvals, reasons, dangers, strict=True):
        difference = ""
        if danger != usual_dangers:
            difference = "another danger"
        # A reason that nearly every call words anew is no sign of anything.
        elif reason != usual_reason[0] and usual_reason[1] * 2 > len(approvals):
            difference = "another reason"
        calls.append(
            AlikeCall(
                id=approval.public_id,
                target=abbreviate(list_paths(approval)),
                dangers=danger,
                agent_reason=reason,
                expires_at=approval.expires_at,
                difference=difference,
            )
        )
    return tuple(sorted(calls, key=lambda call: not call.difference))
