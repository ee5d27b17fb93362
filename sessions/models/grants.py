"""Grants, and the only places that give, spend and revoke them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from controlplane.models import Workspace
from controlplane.policy.model import SessionState
from intents.models import Intent
from sessions.models.approvals import Approval, new_id
from sessions.models.sessions import AgentSession

RETRY_TIME = timedelta(minutes=10)  # in which the call that spent a `once` grant may be sent again


class ApprovalGrantQuerySet(models.QuerySet["ApprovalGrant"]):
    """Every write raises the revision of the grant's session, or of the workspace where other sessions have
    it as well, so that a cached snapshot stops holding.

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
        """Live grants that can let a further call through.

        Not those that are spent, of a session that has ended, or of an intent that has closed.
        """
        spent = Q(kind=ApprovalGrant.Kind.ONCE, used_at__isnull=False)
        of_intent = Q(kind=ApprovalGrant.Kind.INTENT)
        is_open = Q(
            Exists(
                Intent.objects.open().filter(
                    workspace=OuterRef("session__workspace"), intent_id=OuterRef("intent_id")
                )
            )
        )
        ended = Q(session__state=SessionState.ENDED.value)
        return self.live(now).exclude(spent).filter((of_intent & is_open) | (~of_intent & ~ended))

    def for_session(self, session: AgentSession) -> ApprovalGrantQuerySet:
        """Grants of the session, and those of its intent that any session was given."""
        of_intent = Q(
            kind=ApprovalGrant.Kind.INTENT,
            intent_id=session.selected_intent_id,
            session__workspace_id=session.workspace_id,
        )
        own = Q(session=session) & ~Q(kind=ApprovalGrant.Kind.INTENT)
        return self.filter(own | of_intent if session.selected_intent_id else own)


def _change_session(grant: ApprovalGrant) -> bool:
    if grant.kind == ApprovalGrant.Kind.INTENT:  # it counts in sessions that nobody can name yet
        Workspace.objects.filter(agent_sessions=grant.session_id).apply_change()
    return bool(AgentSession.objects.filter(pk=grant.session_id).apply_change())


class ApprovalGrant(models.Model):
    """What an approval lets through: one call once, or a rule until the session ends or `expires_at`.

    A grant of kind `intent` holds for every session of `intent_id` until that intent closes. `kinds` are
    kinds of commands that run without asking, `places` patterns of folders outside the workspace that may be
    read.
    A widened scope is no grant: it is a new revision of the intent. Nor is a rule of the workspace.
    """

    class Kind(models.TextChoices):
        ONCE = "once", _("This call once")
        SESSION = "session", _("For the session")
        INTENT = "intent", _("For the intent")

    public_id = models.CharField(max_length=32, unique=True, default=new_id, editable=False)
    approval = models.ForeignKey(Approval, on_delete=models.CASCADE, related_name="grants")
    session = models.ForeignKey(AgentSession, on_delete=models.CASCADE, related_name="grants")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    error_type = models.CharField(max_length=40)
    digest = models.CharField(max_length=80)
    patterns: models.JSONField[list[str], list[str]] = models.JSONField(default=list)
    kinds: models.JSONField[list[str], list[str]] = models.JSONField(default=list)
    places: models.JSONField[list[str], list[str]] = models.JSONField(default=list)
    intent_id = models.CharField(max_length=200, blank=True, default="")
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
        indexes = [
            models.Index(fields=["session", "revoked_at"], name="grant_live"),
            models.Index(fields=["intent_id", "revoked_at"], name="grant_of_intent"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} grant {self.public_id}"

    @property
    def ends_at(self) -> datetime | None:
        """When it stops to count; a spent `once` grant soon after it was spent."""
        retry_end = self.used_at + RETRY_TIME if self.used_at else None
        return min(filter(None, (self.expires_at, retry_end)), default=None)
