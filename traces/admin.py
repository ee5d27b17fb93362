"""Looking at the ledger. Nothing can be added, changed or deleted here: the database would refuse it."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from traces.entries.missing_bodies import Absences
from traces.ledger.append import body_of
from traces.models import Checkpoint, LedgerEntry


class ReadOnly(admin.ModelAdmin):
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(LedgerEntry)
class LedgerEntryAdmin(ReadOnly):
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
        return body_of(entry) or Absences(entry.workspace_id).of(entry).text

    @admin.display(description="leaf hash")
    def hash(self, entry: LedgerEntry) -> str:
        return bytes(entry.leaf_hash).hex()


@admin.register(Checkpoint)
class CheckpointAdmin(ReadOnly):
    list_display = ("workspace_id", "size", "created_at")
    ordering = ("-id",)
    fields = ("workspace_id", "size", "created_at", "sealed_through", "note")
    readonly_fields = fields
