"""Grants, and the only places that give, spend and revoke them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from controlplane.policy.model import SessionState
from sessions.models.approvals import Approval, new_id
from sessions.models.sessions import AgentSession

RETRY_TIME = timedelta(minutes=10)  # in which the call that spent a `once` grant may be sent again


class ApprovalGrantQuerySet(models.QuerySet["ApprovalGrant"]):
    """Every write raises the revision of the grant's session, so that a cached snapshot stops holding.

    Call them inside a transaction.
    """

    def give(self, approval: Approval, **fields: Any) -> ApprovalGrant:
        """Create the grant of an approval (2 statements)."""
        grant = self.create(approval=approval, session_id=approval.session_id, **fields)
        _change_session(grant)
        return grant

    def spend(self, grant: ApprovalGrant, call_id: str) -> bool:
        """Use up a `once` grant; False when another call spent it first or a reviewer revoked it."""
        unused = self.filter(pk=grant.pk, used_at=None, revoked_at=None)
        return bool(unused.update(used_at=timezone.now(), used_by=call_id)) and _change_session(grant)

    def end_reported(self, session: AgentSession, call_id: str) -> bool:
        """End the `once` grant that a call spent, now that its report has come.

        The same id again is another call: an id is only as unique as the client makes it. 1 statement, 2
        where a grant ends.
        """
        spent = self.live(timezone.now()).filter(
            session=session, kind=ApprovalGrant.Kind.ONCE, used_by=call_id, used_at__isnull=False
        )
        ended = spent.update(expires_at=timezone.now())
        return bool(ended and AgentSession.objects.filter(pk=session.pk).apply_change())

    def revoke(self, grant: ApprovalGrant) -> bool:
        """Take a grant back; False when it was revoked before."""
        unrevoked = self.filter(pk=grant.pk, revoked_at=None)
        return bool(unrevoked.update(revoked_at=timezone.now())) and _change_session(grant)

    def live(self, now: datetime) -> ApprovalGrantQuerySet:
        """Return the grants that are neither revoked nor past their end.

        A `once` grant that was just spent is among them: the call that spent it is let through when it is
        sent again, until its report comes or `RETRY_TIME` is over.
        """
        is_retriable = Q(used_at=None) | Q(used_at__gt=now - RETRY_TIME)
        return self.filter(is_retriable, Q(expires_at=None) | Q(expires_at__gt=now), revoked_at=None)

    def usable(self, now: datetime) -> ApprovalGrantQuerySet:
        """Live grants that can let a further call through: not spent, and of a session that has not ended."""
        spent = Q(kind=ApprovalGrant.Kind.ONCE, used_at__isnull=False)
        return self.live(now).exclude(Q(session__state=SessionState.ENDED.value) | spent)


def _change_session(grant: ApprovalGrant) -> bool:
    return bool(AgentSession.objects.filter(pk=grant.session_id).apply_change())


class ApprovalGrant(models.Model):
    """What an approval lets through: one call once, or a rule until the session ends or `expires_at`.

    A widened scope is no grant: it is a new revision of the intent.
    """

    class Kind(models.TextChoices):
        ONCE = "once", _("This call once")
        SESSION = "session", _("For the session")

    public_id = models.CharField(max_length=32, unique=True, default=new_id, editable=False)
    approval = models.ForeignKey(Approval, on_delete=models.CASCADE, related_name="grants")
    session = models.ForeignKey(AgentSession, on_delete=models.CASCADE, related_name="grants")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    error_type = models.CharField(max_length=40)
    digest = models.CharField(max_length=80)
    patterns: models.JSONField[list[str], list[str]] = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at: models.DateTimeField[datetime | None, datetime | None] = models.DateTimeField(
        null=True, blank=True
    )
    used_at: models.DateTimeField[datetime | None, datetime | None] = models.DateTimeField(
        null=True, blank=True
    )
    used_by = models.CharField(
        max_length=200, blank=True, default="", help_text="The tool_use_id that used it."
    )
    revoked_at: models.DateTimeField[datetime | None, datetime | None] = models.DateTimeField(
        null=True, blank=True
    )

    objects = ApprovalGrantQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["session", "revoked_at"], name="grant_live")]

    def __str__(self) -> str:
        return f"{self.kind} grant {self.public_id}"

    @property
    def ends_at(self) -> datetime | None:
        """When it stops to count; a spent `once` grant soon after it was spent."""
        retry_end = self.used_at + RETRY_TIME if self.used_at else None
        return min(filter(None, (self.expires_at, retry_end)), default=None)
