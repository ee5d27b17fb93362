"""An inverted index over what entries are about. Like all projections it can be rebuilt from the bodies."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from traces.models.ledger import LedgerEntry

MAX_TERM_LENGTH = 2_000


class TermKind(models.TextChoices):
    """`COMMAND` is what a call runs or opens: a command line or an address."""

    PATH = "path", _("Path")
    PATTERN = "pattern", _("Pattern")
    COMMAND = "command", _("Command")
    ID = "id", _("Id")


class SearchTerm(models.Model):
    """One text that entries of a workspace are found by. `digest` replaces the text in the index."""

    workspace_id = models.BigIntegerField()
    kind = models.CharField(max_length=10, choices=TermKind.choices)
    digest = models.BinaryField()
    text = models.CharField(max_length=MAX_TERM_LENGTH)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace_id", "kind", "digest"], name="search_term_once")
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.text}"


class SearchPosting(models.Model):
    """An entry that a term occurs in.

    `attempt`: the entry records a call that was held or denied, or its approval.
    """

    term = models.ForeignKey(SearchTerm, on_delete=models.PROTECT, related_name="postings")
    entry = models.ForeignKey(LedgerEntry, on_delete=models.PROTECT, related_name="postings")
    attempt = models.BooleanField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["term", "entry"], name="search_posting_once")]
        indexes = [models.Index(fields=["term", "attempt", "-entry"], name="search_posting_attempt")]

    def __str__(self) -> str:
        return f"{self.term_id} in {self.entry_id}"


class SearchProgress(models.Model):
    """Progress of indexing: the index includes the leaves below position `leaves`."""

    workspace_id = models.BigIntegerField(primary_key=True)
    leaves = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.leaves} leaves"
