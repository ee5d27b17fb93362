"""Agent sessions, and the only place that raises their revision."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import models

from controlplane.models import Token, Workspace
from controlplane.policy.model import Policy, SessionState
from intents.models import Intent

# What the client tells about itself and no decision depends on.
METADATA_FIELDS = frozenset({"agent_version", "agent_model", "hook_version", "revision_id"})


class AgentSessionQuerySet(models.QuerySet["AgentSession"]):
    """`apply_change` and `touch` are the only writes; a test finds any other one."""

    def apply_change(self, **fields: Any) -> int:
        """Set fields and raise `revision` in one statement; return the number of rows.

        Call it, without fields if need be, in the transaction of whatever a decision depends on. Filters
        before it make it a compare-and-set: 0 says that another process was first.
        """
        return self.update(revision=models.F("revision") + 1, **fields)

    def touch(self, now: datetime, **metadata: Any) -> int:
        """Set `last_seen_at` and metadata. The revision stays: no decision depends on them."""
        if not metadata.keys() <= METADATA_FIELDS:
            raise ValueError(f"not metadata: {sorted(metadata.keys() - METADATA_FIELDS)}")
        return self.update(last_seen_at=now, **metadata)

    def not_ended(self) -> AgentSessionQuerySet:
        """Return the sessions that have not ended, however long they have been silent."""
        return self.exclude(state=SessionState.ENDED.value)

    def live(self, policy: Policy, now: datetime) -> AgentSessionQuerySet:
        """Return the sessions that have not ended and were heard of within `session_idle_minutes`."""
        since = now - timedelta(minutes=policy.session_idle_minutes)
        return self.not_ended().filter(last_seen_at__gt=since)

    def holding(self, intent: Intent) -> AgentSessionQuerySet:
        """Return the sessions that hold the intent, silent ones included."""
        return self.filter(intent=intent)


class AgentSession(models.Model):
    """One conversation of one coding agent, locked to at most one intent at a time.

    `revision` counts every change that could alter a decision: state, intent, freeze, grants, rejections.
    Only `apply_change` raises it. `last_seen_at` is written at most twice a minute.
    """

    class EndedBy(models.TextChoices):
        CLIENT = "client", "Client"
        PERSON = "person", "Person"

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="agent_sessions")
    session_id = models.CharField(max_length=200)
    token = models.ForeignKey(Token, on_delete=models.PROTECT, related_name="+")
    agent_name = models.CharField(max_length=100, blank=True, default="")
    agent_version = models.CharField(max_length=100, blank=True, default="")
    agent_model = models.CharField(max_length=200, blank=True, default="")
    hook_version = models.CharField(max_length=100, blank=True, default="")
    root = models.CharField(max_length=4096, blank=True, default="")
    cwd = models.CharField(max_length=4096, blank=True, default="")
    repository = models.CharField(
        max_length=4096,
        blank=True,
        default="",
        help_text="By which the agent's machine knows it in all work trees.",
    )
    revision_id = models.CharField(max_length=200, blank=True, default="")
    state = models.CharField(
        max_length=10, choices=[(s.value, s.value) for s in SessionState], default=SessionState.REQUEST.value
    )
    frozen = models.BooleanField(default=False)
    intent = models.ForeignKey(
        Intent, null=True, blank=True, on_delete=models.SET_NULL, related_name="agent_sessions"
    )
    selected_intent_id = models.CharField(max_length=200, blank=True, default="")
    revision = models.PositiveBigIntegerField(default=1)
    opened_at = models.DateTimeField(auto_now_add=True)
    last_seen_at = models.DateTimeField()
    ended_at: models.DateTimeField[datetime | None, datetime | None] = models.DateTimeField(
        null=True, blank=True
    )
    ended_by = models.CharField(max_length=10, choices=EndedBy.choices, blank=True, default="")
    resumed_from = models.CharField(
        max_length=200, blank=True, default="", help_text="The intent of the conversation before it went on."
    )

    objects = AgentSessionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "session_id"], name="agent_session_unique_id")
        ]
        indexes = [models.Index(fields=["workspace", "-last_seen_at"], name="session_seen")]

    def __str__(self) -> str:
        return self.session_id

    @property
    def ended(self) -> bool:
        return self.state == SessionState.ENDED

    @property
    def can_resume(self) -> bool:
        """Whether the conversation may go on: its client ended it, and nobody froze it."""
        return self.ended and self.ended_by == self.EndedBy.CLIENT and not self.frozen
