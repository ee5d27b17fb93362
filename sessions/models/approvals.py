"""Approvals: questions to a human, and their answers."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from controlplane.models import Token, Workspace
from sessions.models.sessions import AgentSession

UNIQUE_PENDING_APPROVAL = "approval_unique_pending_digest"


def new_id() -> str:
    return uuid.uuid4().hex


class ApprovalQuerySet(models.QuerySet["Approval"]):
    """Name the lookups that the queue, the cards, the API and the gate share."""

    def for_workspace(self, workspace_id: int) -> ApprovalQuerySet:
        return self.filter(workspace_id=workspace_id)

    def for_call(self, session: AgentSession, digest: str) -> ApprovalQuerySet:
        """Approvals of exactly this call of this session."""
        return self.filter(session=session, digest=digest)

    def pending(self) -> ApprovalQuerySet:
        """Approvals that nothing has ended, overdue ones included."""
        return self.filter(status=Approval.Status.PENDING)

    def decidable(self, now: datetime) -> ApprovalQuerySet:
        """Pending approvals whose deadline lies ahead."""
        return self.pending().filter(expires_at__gt=now)

    def overdue(self, now: datetime) -> ApprovalQuerySet:
        """Pending approvals whose deadline has passed and that still have to be expired."""
        return self.pending().filter(expires_at__lte=now)

    def ended(self) -> ApprovalQuerySet:
        return self.exclude(status=Approval.Status.PENDING)

    def untold(self, session_id: str) -> ApprovalQuerySet:
        """Decisions and expiries that the agent of a session has not been told of, oldest first."""
        over = (Approval.Status.APPROVED, Approval.Status.REJECTED, Approval.Status.EXPIRED)
        rows = self.filter(session__session_id=session_id, status__in=over, told_at=None)
        return rows.order_by("decided_at", "pk")

    def mark_told(self) -> int:
        """Note that the agent knows; return how many it did not know of. No decision depends on it."""
        return self.filter(told_at=None).update(told_at=timezone.now())

    def with_relations(self) -> ApprovalQuerySet:
        """Fetch what deciding an approval and rendering it read."""
        return self.select_related("workspace", "session__token")

    def with_card_relations(self) -> ApprovalQuerySet:
        """Fetch what its card reads as well."""
        return self.select_related("workspace", "session__token", "session__workspace")


class Approval(models.Model):
    """A question to a human, opened by an `ask`. One compare-and-set ends it; the first one wins.

    `digest` binds it to the exact call. `call` keeps what a reviewer must see: tool, masked input,
    targets, unknown parts, steps. Nothing of it is ever executed by this server.
    """

    class Kind(models.TextChoices):
        CALL = "call", _("Tool call")
        SCOPE = "scope", _("Scope request")
        COMPLETION = "completion", _("Completion")
        RUN = "run", _("Changes of a contained run")

    class Status(models.TextChoices):
        PENDING = "PENDING", _("Pending")
        APPROVED = "APPROVED", _("Approved")
        REJECTED = "REJECTED", _("Rejected")
        EXPIRED = "EXPIRED", _("Expired")
        CANCELLED = "CANCELLED", _("Cancelled")

    class Reach(models.IntegerChoices):
        NARROW = 1, "Narrow"
        MEDIUM = 2, "Medium"
        WIDE = 3, "Wide"

    public_id = models.CharField(max_length=32, unique=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="approvals")
    session = models.ForeignKey(AgentSession, on_delete=models.CASCADE, related_name="approvals")
    kind = models.CharField(max_length=10, choices=Kind.choices, default=Kind.CALL)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.PENDING)
    digest = models.CharField(max_length=80)
    decision_id = models.CharField(max_length=64, blank=True, default="")
    tool = models.CharField(max_length=200, blank=True, default="")
    call: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField(default=dict)
    error_type = models.CharField(max_length=40, blank=True, default="")
    reason = models.CharField(max_length=40, blank=True, default="")
    message = models.TextField(blank=True, default="")
    intent_id = models.CharField(max_length=200, blank=True, default="")
    intent_revision = models.PositiveIntegerField(default=0)
    workspace_revision = models.PositiveBigIntegerField(default=0)
    reach = models.PositiveSmallIntegerField(choices=Reach.choices, default=Reach.MEDIUM)
    reach_why = models.CharField(max_length=300, blank=True, default="")
    danger = models.PositiveSmallIntegerField(
        default=0, help_text="Severity of the gravest danger; sorts the queue within a reach."
    )
    shape = models.CharField(
        max_length=32, blank=True, default="", help_text="What alike calls of one session share."
    )
    search_text = models.TextField(
        blank=True, default="", help_text="Paths, command, agent and intent in lower case, for the queue."
    )
    requested_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    extended = models.BooleanField(default=False)
    asked_again_at: models.DateTimeField[datetime | None, datetime | None] = models.DateTimeField(
        null=True, blank=True
    )
    decided_at: models.DateTimeField[datetime | None, datetime | None] = models.DateTimeField(
        null=True, blank=True
    )
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    decided_by_token = models.ForeignKey(
        Token, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    decider = models.CharField(
        max_length=200, blank=True, default="", help_text="A name that outlives the person."
    )
    told_at: models.DateTimeField[datetime | None, datetime | None] = models.DateTimeField(
        null=True, blank=True, help_text="When its agent was told of the decision."
    )
    grant_kind = models.CharField(max_length=10, blank=True, default="")
    patterns: models.JSONField[list[str], list[str]] = models.JSONField(default=list)
    kinds: models.JSONField[list[str], list[str]] = models.JSONField(
        default=list, help_text="Kinds of commands that were granted."
    )
    refused: models.JSONField[list[dict[str, str]], list[dict[str, str]]] = models.JSONField(
        default=list, help_text="Kind and effect of each part that nobody had permitted."
    )
    minutes: models.PositiveIntegerField[int | None, int | None] = models.PositiveIntegerField(
        null=True, blank=True
    )
    comment = models.TextField(blank=True, default="")

    objects = ApprovalQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["session", "digest"], condition=Q(status="PENDING"), name=UNIQUE_PENDING_APPROVAL
            )
        ]
        indexes = [
            models.Index(fields=["workspace", "status", "-reach", "requested_at"], name="approval_queue"),
            models.Index(fields=["status", "expires_at"], name="approval_expiry"),
        ]

    def __str__(self) -> str:
        return f"{self.public_id} {self.status}"


class ApprovalOpening(models.Model):
    """A look at a card by somebody who may decide it; `opener` is `user:ID` or `token:ID`."""

    approval = models.ForeignKey(Approval, on_delete=models.CASCADE, related_name="openings")
    opener = models.CharField(max_length=40)
    opened_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["approval", "opener"], name="opening_once")]

    def __str__(self) -> str:
        return f"{self.approval_id} opened by {self.opener}"
