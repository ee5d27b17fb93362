"""Contained runs: commands that a client runs over a copy-on-write view, and what they changed."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _

from controlplane.models import Workspace
from sessions.models.approvals import Approval, new_id
from sessions.models.sessions import AgentSession


class ContainedRunQuerySet(models.QuerySet["ContainedRun"]):
    def for_workspace(self, workspace_id: int) -> ContainedRunQuerySet:
        return self.filter(workspace_id=workspace_id)


class ContainedRun(models.Model):
    """One command that the gate allowed contained.

    `terms` is what the answer said, `claim` what the client said of itself, `effects` what the command
    changed by the client's word, each file with the verdict of the gate. The texts of files are not kept.
    """

    class Status(models.TextChoices):
        ALLOWED = "ALLOWED", _("Allowed")  # nothing is known of it yet
        OVERDUE = "OVERDUE", _("Not reported in time")  # a late report is still taken
        REPORTED = "REPORTED", _("Reported")

    public_id = models.CharField(max_length=32, unique=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="runs")
    session = models.ForeignKey(AgentSession, on_delete=models.CASCADE, related_name="runs")
    decision_id = models.CharField(max_length=64, unique=True)
    tool = models.CharField(max_length=200)
    command = models.TextField(blank=True, default="")
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.ALLOWED)
    claim: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField(default=dict)
    terms: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField(default=dict)
    effects: models.JSONField[list[dict[str, Any]], list[dict[str, Any]]] = models.JSONField(default=list)
    report_digest = models.CharField(max_length=64, blank=True, default="")
    exit_code: models.IntegerField[int | None, int | None] = models.IntegerField(null=True, blank=True)
    duration_ms: models.PositiveIntegerField[int | None, int | None] = models.PositiveIntegerField(
        null=True, blank=True
    )
    approval = models.OneToOneField(
        Approval, null=True, blank=True, on_delete=models.SET_NULL, related_name="run"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    reported_at: models.DateTimeField[datetime | None, datetime | None] = models.DateTimeField(
        null=True, blank=True
    )

    objects = ContainedRunQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["status", "created_at"], name="run_status")]

    def __str__(self) -> str:
        return f"{self.public_id} {self.status}"
