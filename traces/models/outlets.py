"""Receivers outside the product: webhooks and collectors of OpenTelemetry logs."""

from __future__ import annotations

from datetime import datetime

from django.db import models
from django.utils.translation import gettext_lazy as _


class Outlet(models.Model):
    """A receiver of ledger entries: a webhook, or a collector of OTLP logs.

    The ledger is the outbox: `next_seq` is the first sealed entry that was not delivered yet. `secret` is
    what signs a webhook, or the collector's `Authorization` header. No kinds means all of them.
    """

    class Form(models.TextChoices):
        WEBHOOK = "webhook", _("Webhook")
        OTLP = "otlp", _("OpenTelemetry collector")

    workspace_id = models.BigIntegerField(db_index=True)
    form = models.CharField(max_length=10, choices=Form.choices)
    url = models.CharField(max_length=500)
    secret = models.CharField(max_length=500)
    kinds: models.JSONField[list[str], list[str]] = models.JSONField(default=list)
    whole = models.BooleanField(default=False, help_text="Send what calls and changes held as well.")
    created_at = models.DateTimeField(auto_now_add=True)
    next_seq = models.BigIntegerField(default=0)
    next_try_at = models.DateTimeField(db_index=True)
    failures = models.PositiveIntegerField(default=0)
    delivered_at: models.DateTimeField[datetime | None, datetime | None] = models.DateTimeField(null=True)
    last_error = models.CharField(max_length=500, blank=True, default="")

    def __str__(self) -> str:
        return f"{self.form} {self.url}"
