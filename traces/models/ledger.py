"""The tables of evidence: entries, their bodies, the Merkle tree, its signed heads and its archives.

All are insert-only: triggers refuse UPDATE and DELETE on both databases, so no row is ever corrected, only
answered by another. A body alone may be deleted: when a `redaction` entry names it, or when an archive holds
it.

The ledger has no foreign keys out: workspaces, sessions and intents are plain ids, so that a record outlives
the rows that it is about.
"""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class EntryKind(models.TextChoices):
    DECISION = "decision", _("Decision")
    APPROVAL = "approval", _("Approval")
    TRACE = "trace", _("Trace")
    SESSION = "session", _("Session")
    INTENT = "intent", _("Intent")
    POLICY = "policy", _("Policy")
    LESSON = "lesson", _("Lesson")
    REDACTION = "redaction", _("Redaction")
    IMPORT = "import", _("Import")
    RECONCILIATION = "reconciliation", _("Reconciliation")


# Kinds whose bodies may be moved to an archive. The others are queried as long as the workspace exists: names
# and scopes of intents, lessons for prompts, policies, and redactions.
ARCHIVABLE_KINDS = (
    EntryKind.DECISION,
    EntryKind.APPROVAL,
    EntryKind.TRACE,
    EntryKind.SESSION,
    EntryKind.IMPORT,
)


class LedgerEntryQuerySet(models.QuerySet["LedgerEntry"]):
    """Common queries. Row ids grow in the order of appending."""

    def for_workspace(self, workspace_id: int) -> LedgerEntryQuerySet:
        return self.filter(workspace_id=workspace_id)

    def of_kind(self, kind: str) -> LedgerEntryQuerySet:
        return self.filter(kind=kind)

    def of_kinds(self, *kinds: str) -> LedgerEntryQuerySet:
        return self.filter(kind__in=kinds)

    def of_session(self, session_id: str) -> LedgerEntryQuerySet:
        return self.filter(session_id=session_id)

    def unsealed(self) -> LedgerEntryQuerySet:
        """Entries that wait for their place in the tree."""
        return self.filter(leaf=None)

    def sealed(self) -> LedgerEntryQuerySet:
        return self.filter(leaf__isnull=False)

    def above(self, row_id: int) -> LedgerEntryQuerySet:
        """Entries appended after the one with this row id."""
        return self.filter(pk__gt=row_id)

    def with_body(self) -> LedgerEntryQuerySet:
        """Fetch each body in the same query; entries whose body is missing stay in."""
        return self.select_related("body")

    def with_body_and_leaf(self) -> LedgerEntryQuerySet:
        """Fetch body and place in the tree in the same query, where there are any."""
        return self.select_related("body", "leaf")

    def oldest_first(self) -> LedgerEntryQuerySet:
        return self.order_by("pk")

    def newest_first(self) -> LedgerEntryQuerySet:
        return self.order_by("-pk")

    def highest_row_id(self) -> int:
        """Return 0 for no entries. 1 query."""
        return self.newest_first().values_list("pk", flat=True).first() or 0


class LedgerEntry(models.Model):
    """One record. `envelope` is the evidence (RFC 8785 bytes); the other columns copy it for queries.

    `leaf_hash` = SHA-256(0x00 ‖ envelope), the leaf of RFC 6962. The envelope commits to the body by
    `body_digest` = SHA-256(salt ‖ body), so the body can be deleted and the tree still verifies.
    """

    workspace_id = models.BigIntegerField()
    kind = models.CharField(max_length=20, choices=EntryKind.choices)
    entry_id = models.CharField(max_length=200)
    idempotency_key = models.CharField(max_length=300, null=True)
    received_at = models.DateTimeField()
    session_id = models.CharField(max_length=200)
    intent_id = models.CharField(max_length=200)
    outcome = models.CharField(max_length=40)
    agent = models.CharField(max_length=100)
    tool = models.CharField(max_length=200)
    error_type = models.CharField(max_length=40)
    reason = models.CharField(max_length=200)
    envelope = models.BinaryField()
    leaf_hash = models.BinaryField()
    body_digest = models.BinaryField()

    objects = LedgerEntryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "ledger entries"
        constraints = [
            models.UniqueConstraint(
                fields=["workspace_id", "idempotency_key"],
                condition=Q(idempotency_key__isnull=False),
                name="ledger_entry_once",
            ),
            models.UniqueConstraint(
                fields=["workspace_id", "kind", "entry_id"], name="ledger_entry_public_id"
            ),
            models.CheckConstraint(condition=Q(kind__in=EntryKind.values), name="ledger_entry_kind_is_known"),
        ]
        indexes = [
            models.Index(fields=["workspace_id", "kind", "id"], name="ledger_entry_kind"),
            # Full indexes: SQLite uses a partial one only where the query repeats its condition.
            models.Index(fields=["workspace_id", "session_id", "id"], name="ledger_entry_session"),
            models.Index(fields=["workspace_id", "intent_id", "id"], name="ledger_entry_intent"),
            models.Index(fields=["workspace_id", "agent", "id"], name="ledger_entry_agent"),
            models.Index(fields=["workspace_id", "outcome", "id"], name="ledger_entry_outcome"),
            # Partial, for a few among a million: queries repeat the condition word for word.
            models.Index(
                fields=["workspace_id", "kind", "id"],
                condition=Q(reason="class_disagrees"),
                name="ledger_entry_disagrees",
            ),
            models.Index(fields=["workspace_id", "id"], name="ledger_entry_newest"),
            models.Index(fields=["workspace_id", "received_at"], name="ledger_entry_received"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.entry_id}"


class LedgerBody(models.Model):
    """The content of an entry, in a table of its own so that it can be redacted."""

    entry = models.OneToOneField(LedgerEntry, primary_key=True, on_delete=models.PROTECT, related_name="body")
    salt = models.BinaryField()
    body = models.BinaryField()

    class Meta:
        verbose_name_plural = "ledger bodies"

    def __str__(self) -> str:
        return f"body of {self.entry_id}"


class BodyExcerpt(models.Model):
    """What answers about git need of a body that was released to an archive, as canonical JSON.

    `note` is signed by the installation and binds it to the entry. Both are empty where there was nothing to
    tell. Entries that were released by an earlier version have no row.
    """

    entry = models.OneToOneField(
        LedgerEntry, primary_key=True, on_delete=models.PROTECT, related_name="excerpt"
    )
    excerpt = models.BinaryField(default=b"")
    note = models.TextField(default="")

    def __str__(self) -> str:
        return f"excerpt of {self.entry_id}"


class LedgerLeaf(models.Model):
    """An entry's position in the tree of its workspace, from 0, assigned once by the sealer."""

    workspace_id = models.BigIntegerField()
    seq = models.BigIntegerField()
    entry = models.OneToOneField(LedgerEntry, on_delete=models.PROTECT, related_name="leaf")

    class Meta:
        verbose_name_plural = "ledger leaves"
        constraints = [models.UniqueConstraint(fields=["workspace_id", "seq"], name="ledger_leaf_seq")]

    def __str__(self) -> str:
        return f"#{self.seq}"


class LedgerTile(models.Model):
    """256 adjacent hashes of one level, as in C2SP tlog-tiles. Only full tiles are stored.

    Level 0 holds leaf hashes, level t the roots of the tiles of level t - 1. `root` is the tile's own.
    """

    workspace_id = models.BigIntegerField()
    level = models.PositiveSmallIntegerField()
    index = models.BigIntegerField()
    root = models.BinaryField()
    hashes = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace_id", "level", "index"], name="ledger_tile_place")
        ]

    def __str__(self) -> str:
        return f"{self.level}/{self.index}"


class Checkpoint(models.Model):
    """A signed head of the tree. `frontier` holds the roots of its complete subtrees, left to right.

    `sealed_through` is the highest row id in the tree then: the next search for unsealed ones starts there.
    """

    workspace_id = models.BigIntegerField()
    size = models.BigIntegerField()
    root = models.BinaryField()
    frontier = models.BinaryField()
    note = models.TextField()
    sealed_through = models.BigIntegerField()
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace_id", "size"], name="checkpoint_size")]

    def __str__(self) -> str:
        return f"size {self.size}"


class LedgerArchive(models.Model):
    """A file outside the database with the entries [first_seq, end_seq), with bodies.

    `note` is the signed seal of its content, `digest` the SHA-256 of the file. Bodies of `ARCHIVABLE_KINDS`
    may be deleted where such a row covers their position; verification checks the signature.
    """

    workspace_id = models.BigIntegerField()
    first_seq = models.BigIntegerField()
    end_seq = models.BigIntegerField()
    name = models.CharField(max_length=200)
    size_bytes = models.BigIntegerField()
    digest = models.BinaryField()
    note = models.TextField()
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace_id", "digest"], name="ledger_archive_once")]

    def __str__(self) -> str:
        return self.name

    @property
    def last_seq(self) -> int:
        return self.end_seq - 1

    @property
    def digest_hex(self) -> str:
        return bytes(self.digest).hex()
