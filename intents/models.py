"""The registry of a workspace: intents, their revisions, and what else the registry file says."""

from __future__ import annotations

from datetime import datetime

from django.db import models

from controlplane.models import Workspace
from controlplane.policy.model import IntentStatus, Registry
from intents.json_field import JsonTextField
from intents.statuses import FINAL_STATUSES, SELECTABLE_STATUSES

STATUS_CHOICES = [(status.value, status.value.replace("_", " ").capitalize()) for status in IntentStatus]


class IntentQuerySet(models.QuerySet["Intent"]):
    def for_workspace(self, workspace_id: int) -> IntentQuerySet:
        return self.filter(workspace_id=workspace_id)

    def in_file_order(self) -> IntentQuerySet:
        return self.order_by("position", "pk")

    def selectable(self) -> IntentQuerySet:
        """Intents that an agent may take at the handshake."""
        return self.filter(status__in=SELECTABLE_STATUSES)

    def open(self) -> IntentQuerySet:
        """Intents that are neither completed nor abandoned."""
        return self.exclude(status__in=FINAL_STATUSES)

    def blocked(self) -> IntentQuerySet:
        return self.filter(status=IntentStatus.BLOCKED)

    def completed(self) -> IntentQuerySet:
        return self.filter(status=IntentStatus.COMPLETED)


class Intent(models.Model):
    """One registered piece of business work, at its newest revision.

    `version` is the number of that revision. `raw_status` is the document's own word where it differs from
    `status`, else "". `created_at` and `updated_at` are the document's texts, "" where it has none.
    `extra` holds unknown fields in the order of the document.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="intents")
    intent_id = models.CharField(max_length=200)
    position = models.PositiveIntegerField(help_text="Position in the file, from 1.")
    name = models.TextField(blank=True, default="")
    description = models.TextField(blank=True, default="")
    status = models.CharField(max_length=20, choices=STATUS_CHOICES, default=IntentStatus.PENDING.value)
    raw_status = models.CharField(max_length=100, blank=True, default="")
    owner = models.TextField(blank=True, default="")
    created_at = models.CharField(max_length=64, blank=True, default="")
    updated_at = models.CharField(max_length=64, blank=True, default="")
    owned_scope = JsonTextField(default=list, help_text="Glob patterns, relative to the workspace.")
    constraints = JsonTextField(default=list, help_text="Texts, or mappings with a `type`.")
    acceptance_criteria = JsonTextField(default=list)
    dependencies = JsonTextField(default=list, help_text="Ids of intents that must be completed first.")
    references = JsonTextField(default=list)
    allowed_commands = JsonTextField(default=list, help_text="Kinds of commands, such as `go test`.")
    blocked_reason = models.TextField(blank=True, default="")
    extra = JsonTextField(default=dict)
    version = models.PositiveIntegerField(default=1)
    registered_at: models.DateTimeField[datetime, datetime] = models.DateTimeField(auto_now_add=True)
    changed_at: models.DateTimeField[datetime, datetime] = models.DateTimeField(auto_now=True)

    objects = IntentQuerySet.as_manager()

    class Meta:
        ordering = ["workspace", "position", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["workspace", "intent_id"], name="one_intent_an_id"),
        ]
        indexes = [models.Index(fields=["workspace", "position"], name="intents_in_order")]

    def __str__(self) -> str:
        return self.intent_id

    @property
    def title(self) -> str:
        """The name, or the id where there is none."""
        return self.name or self.intent_id


class IntentRevision(models.Model):
    """One version of an intent's document, with its author. Outlives the intent.

    `document` is null where the revision removed the intent.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="intent_revisions")
    intent_id = models.CharField(max_length=200)
    number = models.PositiveIntegerField()
    document = JsonTextField(null=True, blank=True)
    author = models.CharField(max_length=200)
    reason = models.TextField(blank=True, default="")
    created_at: models.DateTimeField[datetime, datetime] = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["workspace", "intent_id", "-number"]
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "intent_id", "number"], name="one_revision_a_number"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.intent_id} revision {self.number}"


class RegistryDocument(models.Model):
    """The metadata and unknown keys of `active_intents.yaml`, and the state of the file at the last sync.

    `state` is `ok`, `missing` or `corrupt` (`error` says why); it has a meaning only where `synced`.
    """

    workspace = models.OneToOneField(Workspace, on_delete=models.CASCADE, related_name="registry_document")
    metadata = JsonTextField(default=dict)
    extra = JsonTextField(default=dict, help_text="Top-level keys that the product does not know.")
    synced = models.BooleanField(
        default=False, help_text="Whether the registry follows the file under the local root."
    )
    state = models.CharField(
        max_length=10,
        choices=[(word.value, word.value) for word in Registry if word is not Registry.EMPTY],
        default=Registry.OK.value,
    )
    error = models.TextField(blank=True, default="")
    read_at: models.DateTimeField[datetime | None, datetime | None] = models.DateTimeField(
        null=True, blank=True
    )

    def __str__(self) -> str:
        return f"registry file of {self.workspace}"
