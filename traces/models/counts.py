"""Counts for pages, derived from the leaves of the ledger. They can be recomputed."""

from __future__ import annotations

from django.db import models


class Counted(models.Model):
    """Progress of counting: `EntryCount` and `FileCount` include the leaves below position `leaves`."""

    workspace_id = models.BigIntegerField(primary_key=True)
    leaves = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.leaves} leaves"


class EntryCount(models.Model):
    """How many entries of an interval share these values.

    `bucket` is the first second of the interval since 1970 in UTC, `span` its length: an hour, a day or
    28 days. Every entry is counted in each. `digest` identifies the values, which together may be too long
    for an index.
    """

    workspace_id = models.BigIntegerField()
    span = models.PositiveIntegerField()
    bucket = models.BigIntegerField()
    digest = models.BinaryField()
    kind = models.CharField(max_length=20)
    outcome = models.CharField(max_length=40)
    agent = models.CharField(max_length=100)
    intent_id = models.CharField(max_length=200)
    tool = models.CharField(max_length=200)
    reason = models.CharField(max_length=200)
    folder = models.CharField(max_length=200)
    entries = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace_id", "span", "bucket", "digest"], name="entry_count_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.entries} of {self.kind}"


class FileCount(models.Model):
    """How often a file was changed under an intent ("" for none).

    `evolved` counts changes of class INTENT_EVOLUTION. `path_hash` replaces the path in the index.
    `last_changed` is in microseconds since 1970: a map reads tens of thousands, and dates are slow to parse.
    """

    workspace_id = models.BigIntegerField()
    path_hash = models.BinaryField()
    path = models.CharField(max_length=1000)
    intent_id = models.CharField(max_length=200)
    entries = models.BigIntegerField()
    evolved = models.BigIntegerField()
    last_changed = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace_id", "path_hash", "intent_id"], name="file_count_once")
        ]

    def __str__(self) -> str:
        return self.path
