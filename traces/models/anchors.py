"""Where a workspace's signed heads are kept outside the database."""

from __future__ import annotations

from datetime import datetime

from django.db import models
from django.utils.translation import gettext_lazy as _


class AnchorKind(models.TextChoices):
    FILE = "file", _("File")
    WEBHOOK = "webhook", _("Webhook")
    GIT = "git", _("Git note")
    WITNESS = "witness", _("Witness")
    TIMESTAMP = "timestamp", _("Time stamp")


class LedgerAnchor(models.Model):
    """A place outside the database that receives signed heads, and its delivery state, which changes.

    `target` is a path on the server, a URL, a URL and a key, or "" for the workspace's own repository.
    `anchored_size` is the size of the last head that arrived, `answer` the result of the last attempt,
    `failures` those since a success. `contradicted` once the ledger does not continue a head that it holds:
    then nothing is sent.
    """

    workspace_id = models.BigIntegerField()
    kind = models.CharField(max_length=10, choices=AnchorKind.choices)
    target = models.CharField(max_length=1000, blank=True)
    every_minutes = models.PositiveIntegerField(default=10)
    enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)
    due_at = models.DateTimeField()
    anchored_size = models.BigIntegerField(default=0)
    anchored_at: models.DateTimeField[datetime | None, datetime | None] = models.DateTimeField(null=True)
    failures = models.PositiveIntegerField(default=0)
    answer = models.CharField(max_length=400, blank=True)
    contradicted = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace_id", "kind", "target"], name="ledger_anchor_place")
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.target}".strip()


class Cosignature(models.Model):
    """The line of a witness under a signed head. It proves itself by the witness's key."""

    workspace_id = models.BigIntegerField()
    size = models.BigIntegerField()
    witness = models.CharField(max_length=200)
    line = models.TextField()
    signed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace_id", "size", "witness"], name="cosignature_once")
        ]

    def __str__(self) -> str:
        return f"{self.witness} on {self.size}"


class HeadTimestamp(models.Model):
    """The answer of a time-stamping authority (RFC 3161) for the text of a signed head. It proves itself."""

    workspace_id = models.BigIntegerField()
    size = models.BigIntegerField()
    authority = models.CharField(max_length=1000)
    token = models.BinaryField()
    stamped_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["workspace_id", "size"], name="head_timestamp_size")]

    def __str__(self) -> str:
        return f"{self.stamped_at} on {self.size}"
