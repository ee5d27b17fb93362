"""Admin pages of the ledger, read-only: database triggers refuse any change to it."""

from __future__ import annotations

from typing import Any

from django.contrib import admin

from controlplane.shared.admin import ReadOnlyAdmin
from traces.ledger.append import read_body
from traces.ledger.missing_bodies import MissingBodies
from traces.models import Checkpoint, LedgerEntry


@admin.register(LedgerEntry)
class LedgerEntryAdmin(ReadOnlyAdmin):
    list_display = ("id", "workspace_id", "kind", "outcome", "session_id", "intent_id", "tool", "received_at")
    list_filter = ("kind",)
    search_fields = ("=entry_id", "=session_id", "=intent_id")
    ordering = ("-id",)
    fields = (
        "workspace_id", "kind", "entry_id", "idempotency_key", "received_at", "session_id", "intent_id",
        "outcome", "agent", "tool", "error_type", "reason", "signed", "content", "hash",
    )  # fmt: skip
    readonly_fields = fields

    @admin.display(description="envelope")
    def signed(self, entry: LedgerEntry) -> str:
        return bytes(entry.envelope).decode()

    @admin.display(description="body")
    def content(self, entry: LedgerEntry) -> Any:
        return read_body(entry) or MissingBodies(entry.workspace_id).explain(entry).text

    @admin.display(description="leaf hash")
    def hash(self, entry: LedgerEntry) -> str:
        return bytes(entry.leaf_hash).hex()


@admin.register(Checkpoint)
class CheckpointAdmin(ReadOnlyAdmin):
    list_display = ("workspace_id", "size", "created_at")
    ordering = ("-id",)
    fields = ("workspace_id", "size", "created_at", "sealed_through", "note")
    readonly_fields = fields
