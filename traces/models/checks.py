"""Progress of the verification that the server runs by itself."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import models


class LedgerCheck(models.Model):
    """Where the running verification of a workspace is, and the result of the last complete one.

    `frontier` holds the roots of the complete subtrees of the first `next_seq` entries. `problems` are those
    of the running verification, `found` those of the last complete one, as {kind, text, entry_id, seq}.
    """

    workspace_id = models.BigIntegerField(primary_key=True)
    next_seq = models.BigIntegerField(default=0)
    frontier = models.BinaryField(default=b"")
    started_at: models.DateTimeField[datetime | None, datetime | None] = models.DateTimeField(null=True)
    problems: models.JSONField[list[dict[str, Any]], list[dict[str, Any]]] = models.JSONField(default=list)
    completed_at: models.DateTimeField[datetime | None, datetime | None] = models.DateTimeField(null=True)
    completed_size = models.BigIntegerField(default=0)
    found: models.JSONField[list[dict[str, Any]], list[dict[str, Any]]] = models.JSONField(default=list)

    def __str__(self) -> str:
        return f"check of {self.workspace_id}"
