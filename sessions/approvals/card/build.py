"""One approval as its card shows it, from what will happen to the decision."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from controlplane.models import Role, Workspace
from controlplane.shared.access import has_role
from intents.known_files import KnownFiles, known_files
from intents.models import Intent
from sessions.agent_titles import agent_title
from sessions.approvals.card.context import CardContext, context_of
from sessions.approvals.card.offers import MINUTES, Ground, Offer, offers_for, presets, reject_effect
from sessions.approvals.card.ownership import Ownership, ownership
from sessions.approvals.card.previews import Preview, preview_of
from sessions.approvals.card.receipts import Receipt, receipt_of
from sessions.approvals.card.subjects import Subject, paths_of, subject_of
from sessions.approvals.card.why import Why, why_of
from sessions.approvals.choices import Decider
from sessions.approvals.grants import refusal
from sessions.approvals.lifecycle import refuse_own
from sessions.approvals.queue import Agent
from sessions.errors import OwnRequestError
from sessions.models import Approval

NEAR_END = timedelta(seconds=90)
YOURS = Receipt("You asked for this; somebody else decides")
READER = Receipt("A reviewer decides this")


@dataclass(frozen=True, slots=True)
class Named:
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Reach:
    level: str
    why: str


@dataclass(frozen=True, slots=True)
class Effects:
    reject: str


@dataclass(frozen=True, slots=True)
class Fact:
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Card:
    """`near_end`: the time to offer five more minutes. The template says what the other fields mean."""

    id: str
    kind: str
    verb: str
    object: str
    object_is: str
    agent: Agent
    session_id: str
    decision_id: str
    intent: Named | None
    reach: Reach
    opened_at: datetime
    expires_at: datetime
    can_extend: bool
    near_end: bool
    preview: Preview
    why: Why
    grants: list[Offer]
    effects: Effects
    ids: list[Fact]
    state: str
    irreversible: bool
    receipt: Receipt | None
    presets: list[str]
    context: CardContext | None
    next_url: str | None = None
    comment: str = ""
    minutes: int = MINUTES


@dataclass(frozen=True, slots=True)
class Reader:
    """Who looks at the card."""

    user: Any
    role: Role

    def decider(self, name: str) -> Decider:
        return Decider(name=name, user_id=self.user.pk, actor=f"user:{self.user.pk}:{name}")


@dataclass(frozen=True, slots=True)
class Draft:
    """What the reader had filled in when a post was refused, so that nothing is lost."""

    grant: str = ""
    comment: str = ""


NO_DRAFT = Draft()


def card_of(
    approval: Approval,
    reader: Reader,
    *,
    next_url: str | None = None,
    draft: Draft = NO_DRAFT,
    with_context: bool = False,
) -> Card:
    """At most 6 queries, 14 with context; workspace, session and token must be fetched along."""
    workspace, intent = approval.workspace, _intent(approval)
    subject = subject_of(approval)
    held = ownership(workspace)
    owners = held.owners(paths_of(approval), but=approval.intent_id)
    preview = preview_of(approval, workspace, intent)
    state = state_of(approval, reader)
    known = _known(approval, workspace)
    return Card(
        id=approval.public_id,
        kind=subject.kind,
        verb=subject.verb,
        object="" if subject.kind == "completion" else subject.object,
        object_is=subject.object_is,
        agent=Agent(agent_title(approval.session.agent_name)),
        session_id=approval.session.session_id,
        decision_id=approval.decision_id,
        intent=Named(intent.intent_id, intent.title) if intent else None,
        reach=Reach(str(approval.get_reach_display()).lower(), approval.reach_why),
        opened_at=approval.requested_at,
        expires_at=approval.expires_at,
        can_extend=state == "pending" and not approval.extended,
        near_end=approval.expires_at - timezone.now() < NEAR_END,
        preview=preview,
        why=why_of(approval, owners),
        grants=offers_for(_ground(approval, subject, intent, known, held), draft.grant),
        effects=Effects(reject_effect(approval)),
        ids=_ids(approval),
        state=state,
        irreversible=not preview.complete or _cannot_be_undone(approval, preview),
        receipt=_receipt(approval, state, reader, draft),
        presets=presets(subject.kind, owners),
        context=context_of(approval, intent, owners) if with_context else None,
        next_url=next_url,
        comment=draft.comment,
    )


def state_of(approval: Approval, reader: Reader) -> str:
    """pending | approved | rejected | expired | cancelled | yours | reader."""
    if approval.status != Approval.Status.PENDING:
        return approval.status.lower()
    try:
        refuse_own(approval, reader.decider(""))
    except OwnRequestError:
        return "yours"
    return "pending" if has_role(reader.role, Role.REVIEWER) else "reader"


def _intent(approval: Approval) -> Intent | None:
    if not approval.intent_id:
        return None
    return Intent.objects.filter(workspace_id=approval.workspace_id, intent_id=approval.intent_id).first()


def _known(approval: Approval, workspace: Workspace) -> KnownFiles | None:
    """Only where a wider scope is on offer: a listing costs a walk through the folder."""
    pending = approval.status == Approval.Status.PENDING
    return known_files(workspace) if pending and not refusal(approval, "scope") else None


def _ground(
    approval: Approval, subject: Subject, intent: Intent | None, known: KnownFiles | None, held: Ownership
) -> Ground:
    scope = tuple(intent.owned_scope) if intent else ()
    return Ground(approval, subject.kind, scope, intent.version if intent else 0, known, held)


def _cannot_be_undone(approval: Approval, preview: Preview) -> bool:
    """A deletion, or an intent that is completed for good."""
    if approval.kind == Approval.Kind.COMPLETION or (preview.command is not None and preview.command.deletes):
        return True
    return any(target["op"] == "delete" for target in approval.call.get("targets", []))


def _receipt(approval: Approval, state: str, reader: Reader, draft: Draft) -> Receipt | None:
    if state == "pending":
        return None
    if state in {"yours", "reader"}:
        return YOURS if state == "yours" else READER
    receipt = receipt_of(approval, reader.user)
    return receipt.with_note(draft.comment) if draft.comment else receipt


def _ids(approval: Approval) -> list[Fact]:
    digest = approval.digest
    facts = [
        ("approval", approval.public_id),
        ("decision", approval.decision_id),
        ("", f"{approval.error_type} / {approval.reason}" if approval.error_type else ""),
        ("digest", f"{digest[:16]}…{digest[-4:]}" if len(digest) > 24 else digest),
    ]
    return [Fact(name, value) for name, value in facts if value]
