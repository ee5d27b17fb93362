"""Build the card of one approval, from its preview to the buttons."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from controlplane.models import Role, Workspace
from controlplane.shared.access import has_role
from controlplane.templatetags.names import agent_title
from intents.known_files import KnownFiles, load_known_files
from intents.models import Intent
from sessions.approvals.card.context import CardContext, build_context
from sessions.approvals.card.offers import (
    GRANT_MINUTES,
    GrantOffer,
    OfferInputs,
    describe_rejection_effect,
    list_offers,
    list_rejection_presets,
)
from sessions.approvals.card.ownership import Ownership, load_ownership
from sessions.approvals.card.previews import Preview, build_preview
from sessions.approvals.card.previews.run_values import ALL, RunChoice
from sessions.approvals.card.receipts import Receipt, build_receipt
from sessions.approvals.card.stop_reason import StopReason, explain_stop
from sessions.approvals.card.subjects import describe_subject, find_agent_reason, list_paths
from sessions.approvals.decision_input import Decider
from sessions.approvals.grants import find_grant_obstacle
from sessions.approvals.kinds.command_kinds import suggest_approval_kinds
from sessions.approvals.kinds.mcp_judgement import find_called_tool
from sessions.approvals.lifecycle import require_other_decider
from sessions.approvals.queue import AgentLabel
from sessions.approvals.triage.dangers import Danger, find_dangers
from sessions.errors import OwnRequestError
from sessions.models import Approval

NEAR_EXPIRY = timedelta(seconds=90)
OWN_REQUEST = Receipt("This is your agent's request. Another reviewer must decide.")
REVIEWERS_ONLY = Receipt("Only a reviewer can decide this.")


@dataclass(frozen=True, slots=True)
class IntentLink:
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class CardReach:
    level: str
    why: str


@dataclass(frozen=True, slots=True)
class DecisionEffects:
    reject: str


@dataclass(frozen=True, slots=True)
class WiderChoice:
    """What the wider grants cover: kinds of commands; the MCP tool that an admin may say only reads."""

    kinds: tuple[str, ...]
    called_tool: str


@dataclass(frozen=True, slots=True)
class CardId:
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Card:
    """Hold what the card's template shows; `_card.html` describes each field.

    `near_end`: the deadline is near enough to offer an extension.
    """

    id: str
    key: str
    kind: str
    verb: str
    object: str
    object_is: str
    dangers: tuple[Danger, ...]
    agent_reason: str
    agent: AgentLabel
    session_id: str
    decision_id: str
    intent: IntentLink | None
    reach: CardReach
    opened_at: datetime
    expires_at: datetime
    can_extend: bool
    near_end: bool
    preview: Preview
    why: StopReason
    grants: list[GrantOffer]
    wider: WiderChoice
    effects: DecisionEffects
    ids: list[CardId]
    state: str
    irreversible: bool
    receipt: Receipt | None
    presets: list[str]
    context: CardContext | None
    next_url: str | None = None
    comment: str = ""
    minutes: int = GRANT_MINUTES


@dataclass(frozen=True, slots=True)
class CardViewer:
    """The person who looks at the card."""

    user: Any
    role: Role

    @property
    def is_admin(self) -> bool:
        return has_role(self.role, Role.ADMIN)

    def to_decider(self, name: str) -> Decider:
        return Decider(
            name=name,
            user_id=self.user.pk,
            actor=f"user:{self.user.pk}:{name}",
            is_admin=self.is_admin,
        )


@dataclass(frozen=True, slots=True)
class DecisionDraft:
    """Form input of a refused post, shown again so that nothing has to be retyped."""

    grant: str = ""
    comment: str = ""
    choice: RunChoice = ALL  # of the files of a run


NO_DRAFT = DecisionDraft()


def build_card(
    approval: Approval,
    viewer: CardViewer,
    *,
    next_url: str | None = None,
    draft: DecisionDraft = NO_DRAFT,
    with_context: bool = False,
) -> Card:
    """Build the card of an approval from `with_card_relations()` in at most 6 queries, 14 with context."""
    workspace, intent = approval.workspace, _find_intent(approval)
    subject = describe_subject(approval)
    ownership = load_ownership(workspace)
    owners = ownership.find_owners(list_paths(approval), excluded_id=approval.intent_id)
    preview = build_preview(approval, workspace, intent, draft.choice)
    state = get_card_state(approval, viewer)
    inputs = _build_offer_inputs(approval, subject.kind, intent, ownership)
    return Card(
        id=approval.public_id,
        key=approval.shape or approval.public_id,
        dangers=tuple(find_dangers(approval.call)),
        agent_reason=find_agent_reason(approval),
        kind=subject.kind,
        verb=subject.verb,
        object="" if subject.kind == "completion" else subject.object,
        object_is=subject.object_is,
        agent=AgentLabel(agent_title(approval.session.agent_name)),
        session_id=approval.session.session_id,
        decision_id=approval.decision_id,
        intent=IntentLink(intent.intent_id, intent.title) if intent else None,
        reach=CardReach(str(approval.get_reach_display()).lower(), approval.reach_why),
        opened_at=approval.requested_at,
        expires_at=approval.expires_at,
        can_extend=state == "pending" and not approval.extended,
        near_end=approval.expires_at - timezone.now() < NEAR_EXPIRY,
        preview=preview,
        why=explain_stop(approval, owners),
        grants=list_offers(inputs, draft.grant, is_admin=viewer.is_admin),
        wider=_build_wider_choice(approval, viewer),
        effects=DecisionEffects(describe_rejection_effect(approval)),
        ids=_list_ids(approval),
        state=state,
        irreversible=not preview.complete or _is_irreversible(approval, preview),
        receipt=_build_receipt(approval, state, viewer, draft),
        presets=list_rejection_presets(subject.kind, owners),
        context=build_context(approval, intent, owners) if with_context else None,
        next_url=next_url,
        comment=draft.comment,
    )


def get_card_state(approval: Approval, viewer: CardViewer) -> str:
    """Return pending, approved, rejected, expired, cancelled, yours or reader (may look, not decide)."""
    if approval.status != Approval.Status.PENDING:
        return approval.status.lower()
    try:
        require_other_decider(approval, viewer.to_decider(""))
    except OwnRequestError:
        return "yours"
    return "pending" if has_role(viewer.role, Role.REVIEWER) else "reader"


def find_intent_link(approval: Approval) -> IntentLink | None:
    intent = _find_intent(approval)
    return IntentLink(intent.intent_id, intent.title) if intent else None


def _find_intent(approval: Approval) -> Intent | None:
    if not approval.intent_id:
        return None
    return Intent.objects.filter(workspace_id=approval.workspace_id, intent_id=approval.intent_id).first()


def _list_known_files(approval: Approval, workspace: Workspace) -> KnownFiles | None:
    """Walk the repository only where a wider scope is on offer; otherwise return None."""
    is_pending = approval.status == Approval.Status.PENDING
    return load_known_files(workspace) if is_pending and not find_grant_obstacle(approval, "scope") else None


def _build_offer_inputs(
    approval: Approval,
    kind: str,
    intent: Intent | None,
    ownership: Ownership,
) -> OfferInputs:
    files = _list_known_files(approval, approval.workspace)
    scope = tuple(intent.owned_scope) if intent else ()
    return OfferInputs(approval, kind, scope, intent.version if intent else 0, files, ownership)


def _build_wider_choice(approval: Approval, viewer: CardViewer) -> WiderChoice:
    called_tool = find_called_tool(approval) if viewer.is_admin else ""
    return WiderChoice(suggest_approval_kinds(approval), called_tool)


def _is_irreversible(approval: Approval, preview: Preview) -> bool:
    """Return whether approving deletes files or completes an intent."""
    if approval.kind == Approval.Kind.COMPLETION or (preview.command is not None and preview.command.deletes):
        return True
    return any(target["op"] == "delete" for target in approval.call.get("targets", []))


def _build_receipt(
    approval: Approval, state: str, viewer: CardViewer, draft: DecisionDraft
) -> Receipt | None:
    if state == "pending":
        return None
    if state in {"yours", "reader"}:
        return OWN_REQUEST if state == "yours" else REVIEWERS_ONLY
    receipt = build_receipt(approval, viewer.user)
    return receipt.with_note(draft.comment) if draft.comment else receipt


def _list_ids(approval: Approval) -> list[CardId]:
    digest = approval.digest
    ids = [
        ("approval", approval.public_id),
        ("decision", approval.decision_id),
        ("", f"{approval.error_type} / {approval.reason}" if approval.error_type else ""),
        ("digest", f"{digest[:16]}…{digest[-4:]}" if len(digest) > 24 else digest),
    ]
    return [CardId(name, value) for name, value in ids if value]
