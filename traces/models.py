"""The ledger's tables.

Evidence (`Ledger…`, `Checkpoint`) is insert-only: triggers refuse UPDATE and DELETE on both
databases, so no row is ever corrected, only answered by another. A body may be deleted when a
`redaction` entry names it, or when an archive holds it. The `Trace…` tables are projections that can be
rebuilt.

The ledger knows nobody: workspaces, sessions and intents are plain ids, so that a record outlives
what it speaks of.
"""

from __future__ import annotations

from datetime import datetime

from django.db import models
from django.db.models import Q

from traces.counts import models as count_models  # noqa: F401 - Django looks for models here


class Kind(models.TextChoices):
    DECISION = "decision", "Decision"
    APPROVAL = "approval", "Approval"
    TRACE = "trace", "Trace"
    SESSION = "session", "Session"
    INTENT = "intent", "Intent"
    POLICY = "policy", "Policy"
    LESSON = "lesson", "Lesson"
    REDACTION = "redaction", "Redaction"
    IMPORT = "import", "Import"
    RECONCILIATION = "reconciliation", "Reconciliation"


# What may live in an archive alone. The rest is asked for as long as the workspace lives: names and scopes
# of intents, lessons for prompts, rules, and who took what out.
LET_GO = (Kind.DECISION, Kind.APPROVAL, Kind.TRACE, Kind.SESSION, Kind.IMPORT)


class LedgerEntry(models.Model):
    """One record. `envelope` is the evidence (RFC 8785 bytes); the other columns copy it for queries.

    `leaf_hash` = SHA-256(0x00 ‖ envelope), the leaf of RFC 6962. The envelope commits to the body by
    `body_digest` = SHA-256(salt ‖ body), so the body can be taken out while the tree still verifies.
    """

    workspace_id = models.BigIntegerField()
    kind = models.CharField(max_length=20, choices=Kind.choices)
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
            models.CheckConstraint(condition=Q(kind__in=Kind.values), name="ledger_entry_kind_is_known"),
        ]
        indexes = [
            models.Index(fields=["workspace_id", "kind", "id"], name="ledger_entry_kind"),
            # Whole indexes: SQLite uses a partial one only where the query repeats its condition.
            models.Index(fields=["workspace_id", "session_id", "id"], name="ledger_entry_session"),
            models.Index(fields=["workspace_id", "intent_id", "id"], name="ledger_entry_intent"),
            models.Index(fields=["workspace_id", "agent", "id"], name="ledger_entry_agent"),
            models.Index(fields=["workspace_id", "outcome", "id"], name="ledger_entry_outcome"),
            # A few among a million: whoever looks for them repeats the condition word for word.
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
    """What the entry says, apart from it so that it can be redacted."""

    entry = models.OneToOneField(LedgerEntry, primary_key=True, on_delete=models.PROTECT, related_name="body")
    salt = models.BinaryField()
    body = models.BinaryField()

    class Meta:
        verbose_name_plural = "ledger bodies"

    def __str__(self) -> str:
        return f"body of {self.entry_id}"


class LedgerLeaf(models.Model):
    """An entry's place in the tree of its workspace, from 0, given once by the sealer."""

    workspace_id = models.BigIntegerField()
    seq = models.BigIntegerField()
    entry = models.OneToOneField(LedgerEntry, on_delete=models.PROTECT, related_name="leaf")

    class Meta:
        verbose_name_plural = "ledger leaves"
        constraints = [models.UniqueConstraint(fields=["workspace_id", "seq"], name="ledger_leaf_seq")]

    def __str__(self) -> str:
        return f"#{self.seq}"


class LedgerTile(models.Model):
    """256 neighbouring hashes of one level, as in C2SP tlog-tiles; only full tiles are stored.

    Tile level 0 holds leaf hashes, level t the roots of tiles of level t - 1. `root` is its own.
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

    `sealed_through` is the highest entry id in the tree then: where the next search may begin.
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
    """A file outside the database that holds the entries [first_seq, end_seq): whole tiles, with bodies.

    `note` is the signed seal of its content, `digest` the SHA-256 of the file. Bodies of `LET_GO` kinds may
    be deleted where such a row covers their place; verification asks for the signature.
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


class AnchorKind(models.TextChoices):
    FILE = "file", "File"
    WEBHOOK = "webhook", "Webhook"
    GIT = "git", "Git note"


class LedgerAnchor(models.Model):
    """A place outside the database that gets the signed heads, and how that goes. No evidence: it changes.

    `target` is a path of the server's, a URL, or "" for the workspace's own repository. `anchored_size` is
    the head that arrived last, `answer` what the last attempt led to, `failures` those since one succeeded.
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

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace_id", "kind", "target"], name="ledger_anchor_place")
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.target}".strip()


class TraceEntry(models.Model):
    """What a trace entry says of itself; `changed_at` is its own timestamp, the sender's claim."""

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
    """One file of one trace entry, under one intent (or none). Rebuilt from bodies when needed.

    `content_hash` is the file's whole content after the change, "" where the entry does not tell.
    `imported` rows speak of a past that others recorded: they never override what was seen live.
    `lead_folder` is the top folder of an entry's first row and "" on its others, so that a row of the list
    stands in one folder only.
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


class Outlet(models.Model):
    """Somebody outside who is told what the ledger records: a webhook, or a collector of OTLP logs.

    The ledger is the outbox: `next_seq` is the first sealed entry that was not delivered yet. `secret` is
    what signs a webhook, or the collector's `Authorization` header. No kinds means all of them.
    """

    class Form(models.TextChoices):
        WEBHOOK = "webhook", "Webhook"
        OTLP = "otlp", "OpenTelemetry collector"

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


class ReconciledSubject(models.Model):
    """A session or an intent that a reconciliation speaks of, so that its page finds the last one."""

    class Subject(models.TextChoices):
        SESSION = "session", "Session"
        INTENT = "intent", "Intent"

    entry = models.ForeignKey(LedgerEntry, on_delete=models.PROTECT, related_name="reconciled")
    workspace_id = models.BigIntegerField()
    subject = models.CharField(max_length=10, choices=Subject.choices)
    subject_id = models.CharField(max_length=200)

    class Meta:
        indexes = [
            models.Index(fields=["workspace_id", "subject", "subject_id", "-id"], name="reconciled_newest")
        ]

    def __str__(self) -> str:
        return f"{self.subject} {self.subject_id}"
