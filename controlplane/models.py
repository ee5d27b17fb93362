"""Workspaces, their members, and the tokens that agents and scripts send."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

SLUG = RegexValidator(
    r"\A[a-z0-9](?:[a-z0-9-]{0,48}[a-z0-9])?\Z",
    _("Use 1 to 50 lower-case letters, digits and hyphens, with a letter or digit at both ends."),
)


class WorkspaceQuerySet(models.QuerySet["Workspace"]):
    def apply_change(self, **fields: Any) -> int:
        """Set fields and raise `revision` in one statement; return the number of rows.

        Nothing else may raise it. Call it, without fields if need be, in the transaction of whatever a
        decision depends on.
        """
        return self.update(revision=models.F("revision") + 1, **fields)


class Workspace(models.Model):
    """One governed repository. Nothing crosses workspaces: every query starts from one.

    `revision` counts every change that could alter a decision: policy, `.intentignore`, intents, registry.
    It is raised in the transaction of the change; the gate records a decision only while it still holds.
    """

    slug = models.CharField(max_length=50, unique=True, validators=[SLUG])
    name = models.CharField(max_length=200)
    local_root = models.CharField(max_length=1000, blank=True, default="")
    revision = models.PositiveBigIntegerField(default=1)
    policy: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField(default=dict, blank=True)
    intentignore = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = WorkspaceQuerySet.as_manager()

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.slug


def new_stop_id() -> str:
    return uuid.uuid4().hex


class EmergencyStopQuerySet(models.QuerySet["EmergencyStop"]):
    def holding(self) -> EmergencyStopQuerySet:
        """The stops that nobody has lifted."""
        return self.filter(lifted_at=None)


class EmergencyStop(models.Model):
    """Everything of a workspace, of one agent in it or of one session stands still until an admin lifts it.

    `subject` is the agent's name or the session's id, "" for the workspace. Names outlive the people.
    """

    class Kind(models.TextChoices):
        WORKSPACE = "workspace", _("Workspace")
        AGENT = "agent", _("Agent")
        SESSION = "session", _("Session")

    public_id = models.CharField(max_length=32, unique=True, default=new_stop_id, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="stops")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    subject = models.CharField(max_length=200, blank=True, default="")
    reason = models.CharField(max_length=200, blank=True, default="")
    stopped_by = models.CharField(max_length=200)
    stopped_at = models.DateTimeField(auto_now_add=True)
    lifted_by = models.CharField(max_length=200, blank=True, default="")
    lifted_at: models.DateTimeField[datetime | None, datetime | None] = models.DateTimeField(
        null=True, blank=True
    )

    objects = EmergencyStopQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "kind", "subject"],
                condition=models.Q(lifted_at=None),
                name="one_stop_a_subject",
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject} stopped by {self.stopped_by}"


class Role(models.TextChoices):
    """What a person may do in a workspace; an auditor reads everything and changes nothing."""

    AUDITOR = "auditor", _("Auditor")
    REVIEWER = "reviewer", _("Reviewer")
    ADMIN = "admin", _("Admin")


class MembershipQuerySet(models.QuerySet["Membership"]):
    def admins(self) -> MembershipQuerySet:
        """Only people who can still sign in count as admins."""
        return self.filter(role=Role.ADMIN, user__is_active=True)

    def with_workspace(self) -> MembershipQuerySet:
        """With the workspace of each in the same query, by its slug."""
        return self.select_related("workspace").order_by("workspace__slug")


class Membership(models.Model):
    """The role of one person in one workspace."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role.choices)

    objects = MembershipQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "user"], name="one_membership_a_person")]

    def __str__(self) -> str:
        return f"{self.user} in {self.workspace} as {self.role}"


class TokenRole(models.TextChoices):
    """Each role includes the one before."""

    AGENT = "agent", _("Agent")
    REVIEWER = "reviewer", _("Reviewer")
    ADMIN = "admin", _("Admin")


class TokenQuerySet(models.QuerySet["Token"]):
    def active(self) -> TokenQuerySet:
        return self.filter(revoked_at=None)

    def acting_for(self, user_id: int) -> TokenQuerySet:
        return self.filter(acts_for_id=user_id)

    def by_digest(self, digest: str) -> TokenQuerySet:
        """The token whose text has this SHA-256, with its workspace in the same query."""
        return self.filter(digest=digest).select_related("workspace")


class Token(models.Model):
    """A bearer token. Only the SHA-256 of its 256 random bits is stored; the text is shown once.

    `acts_for` is the person in whose name it works: that person never decides on requests of its sessions.
    A service identity has none.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=100)
    role = models.CharField(max_length=10, choices=TokenRole.choices)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    hint = models.CharField(
        max_length=12, editable=False, help_text=_("The first characters, to tell tokens apart.")
    )
    acts_for = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at: models.DateTimeField[datetime | None, datetime | None] = models.DateTimeField(
        null=True, blank=True
    )
    revoked_at: models.DateTimeField[datetime | None, datetime | None] = models.DateTimeField(
        null=True, blank=True
    )

    objects = TokenQuerySet.as_manager()

    class Meta:
        ordering = ["workspace", "-created_at"]

    def __str__(self) -> str:
        return f"{self.name} ({self.hint}…)"
