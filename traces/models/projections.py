"""What queries need of entry bodies, in columns.

Projections are a function of the entries. Triggers refuse UPDATE and, but for a redaction, DELETE;
verification compares every row with the body or with the digest in the envelope, and names the entry where
they differ.
"""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from traces.models.ledger import LedgerEntry


class TraceEntry(models.Model):
    """Fields of a trace entry. `changed_at` is its own timestamp, which the sender claims."""

    entry = models.OneToOneField(
        LedgerEntry, primary_key=True, on_delete=models.PROTECT, related_name="trace"
    )
    workspace_id = models.BigIntegerField()
    changed_at = models.DateTimeField()
    revision_id = models.CharField(max_length=200)
    imported = models.BooleanField()

    class Meta:
        verbose_name_plural = "trace entries"
        indexes = [models.Index(fields=["workspace_id", "changed_at"], name="trace_entry_changed")]

    def __str__(self) -> str:
        return f"trace {self.entry_id}"


class TraceFile(models.Model):
    """One file of one trace entry, under one intent (or none).

    `mutation_class` is the one that counts: as computed, else as claimed; a new file is an evolution.
    `content_hash` is that of the complete file after the change, "" where the entry has none.
    `imported` rows come from history that others recorded: they never override what was seen live.
    `lead_folder` is the top folder of an entry's first row and "" on its others, so that the list shows each
    entry in one folder only.
    `symbols` are those of the complete file after the change, as JSON, "" where they are not known.
    `salt`, on an entry's first row only, is that of the digest of its rows which the envelope seals.
    """

    entry = models.ForeignKey(LedgerEntry, on_delete=models.PROTECT, related_name="files")
    workspace_id = models.BigIntegerField()
    path = models.CharField(max_length=1000)
    session_id = models.CharField(max_length=200)
    intent_id = models.CharField(max_length=200)
    changed_at = models.DateTimeField()
    mutation_class = models.CharField(max_length=40)
    content_hash = models.CharField(max_length=200)
    deleted = models.BooleanField()
    imported = models.BooleanField()
    lead_folder = models.CharField(max_length=200, default="")
    symbols = models.TextField(default="")
    salt = models.BinaryField(default=b"")

    class Meta:
        indexes = [
            models.Index(fields=["workspace_id", "lead_folder", "entry"], name="trace_file_folder"),
            models.Index(fields=["workspace_id", "path", "imported", "-id"], name="trace_file_newest"),
            models.Index(fields=["workspace_id", "intent_id", "-id"], name="trace_file_intent"),
        ]

    def __str__(self) -> str:
        return self.path


class TraceRange(models.Model):
    """Lines of a file that an entry claims, 1-based and inclusive."""

    file = models.ForeignKey(TraceFile, on_delete=models.CASCADE, related_name="ranges")
    start_line = models.BigIntegerField()
    end_line = models.BigIntegerField()
    content_hash = models.CharField(max_length=200)
    contributor = models.CharField(max_length=20)
    model = models.CharField(max_length=250)

    def __str__(self) -> str:
        return f"{self.start_line}-{self.end_line}"


class ReconciledSubject(models.Model):
    """A session or an intent that a reconciliation is about, so that its page finds the last one."""

    class SubjectKind(models.TextChoices):
        SESSION = "session", _("Session")
        INTENT = "intent", _("Intent")

    entry = models.ForeignKey(LedgerEntry, on_delete=models.PROTECT, related_name="reconciled")
    workspace_id = models.BigIntegerField()
    subject = models.CharField(max_length=10, choices=SubjectKind.choices)
    subject_id = models.CharField(max_length=200)

    class Meta:
        indexes = [
            models.Index(fields=["workspace_id", "subject", "subject_id", "-id"], name="reconciled_newest")
        ]

    def __str__(self) -> str:
        return f"{self.subject} {self.subject_id}"
