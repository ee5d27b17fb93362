"""The registry of a workspace: intents, their revisions, what else the registry file says, command rules."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from controlplane.models import Workspace
from controlplane.policy.model import IntentStatus, Registry
from intents.json_field import JsonTextField
from intents.statuses import FINAL_STATUSES, SELECTABLE_STATUSES

STATUS_CHOICES = [(status.value, status.value.replace("_", " ").capitalize()) for status in IntentStatus]


def new_public_id() -> str:
    return uuid.uuid4().hex


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
    acceptance_evidence = JsonTextField(
        default=list, help_text="What proves each criterion: claims of agents, and who confirmed them."
    )
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


class WorkspaceRuleQuerySet(models.QuerySet["WorkspaceRule"]):
    def for_workspace(self, workspace_id: int) -> WorkspaceRuleQuerySet:
        return self.filter(workspace_id=workspace_id)

    def live(self) -> WorkspaceRuleQuerySet:
        """Rules that nobody has taken back."""
        return self.filter(removed_at=None)

    def add(self, workspace: Workspace, **fields: Any) -> WorkspaceRule:
        """Create a rule, and raise the revision of its workspace, which the caller has locked."""
        rule = self.create(workspace=workspace, workspace_revision=workspace.revision + 1, **fields)
        Workspace.objects.filter(pk=workspace.pk).apply_change()
        return rule

    def remove(self, rule: WorkspaceRule, by: str) -> bool:
        """Take a rule back inside the caller's transaction; False when somebody was first."""
        removed = self.live().filter(pk=rule.pk).update(removed_at=timezone.now(), removed_by=by[:200])
        return bool(removed and Workspace.objects.filter(pk=rule.workspace_id).apply_change())


class WorkspaceRule(models.Model):
    """What a workspace says to a kind of command, whoever runs it: allow, ask or deny.

    `number` counts the rules of the workspace and is never given twice; `workspace_revision` is the revision
    that the rule made. `learned_from` says which past decisions suggested it, `{}` where a person wrote it.
    `uses` counts the calls that ran because of it; nothing is decided by it.
    """

    class Permission(models.TextChoices):
        ALLOW = "allow", _("Allow")
        ASK = "ask", _("Ask")
        DENY = "deny", _("Deny")

    public_id = models.CharField(max_length=32, unique=True, default=new_public_id, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="command_rules")
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=200, help_text="Program and subcommand, such as `go test`.")
    permission = models.CharField(max_length=10, choices=Permission.choices, default=Permission.ALLOW)
    owner = models.CharField(max_length=200, help_text="A name that outlives the person.")
    reason = models.TextField(blank=True, default="")
    approval_id = models.CharField(max_length=32, blank=True, default="", help_text="That it was given with.")
    learned_from = JsonTextField(default=dict)
    workspace_revision = models.PositiveBigIntegerField(default=0)
    created_at: models.DateTimeField[datetime, datetime] = models.DateTimeField()
    removed_at: models.DateTimeField[datetime | None, datetime | None] = models.DateTimeField(
        null=True, blank=True
    )
    removed_by = models.CharField(max_length=200, blank=True, default="")
    uses = models.PositiveBigIntegerField(default=0)
    last_used_at: models.DateTimeField[datetime | None, datetime | None] = models.DateTimeField(
        null=True, blank=True
    )

    objects = WorkspaceRuleQuerySet.as_manager()

    class Meta:
        ordering = ["workspace", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["workspace", "number"], name="one_rule_a_number"),
            models.UniqueConstraint(
                fields=["workspace", "kind"], condition=Q(removed_at=None), name="one_live_rule_a_kind"
            ),
        ]

    def __str__(self) -> str:
        return f"rule {self.number}: {self.permission} {self.kind}"
