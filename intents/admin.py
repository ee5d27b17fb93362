"""The registry in Django's admin: for looking. Changes go through the pages, which keep revisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.http import HttpRequest

from intents.models import Intent, IntentRevision, RegistryDocument

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
else:
    ModelAdmin = admin.ModelAdmin


class ReadOnlyAdmin(ModelAdmin):
    """Shows rows and changes none: an edit here would leave no revision and no ledger entry."""

    list_filter = ["workspace"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Intent)
class IntentAdmin(ReadOnlyAdmin):
    list_display = ["intent_id", "workspace", "name", "status", "owner", "version", "changed_at"]
    list_filter = ["workspace", "status"]
    search_fields = ["intent_id", "name", "owner"]


@admin.register(IntentRevision)
class IntentRevisionAdmin(ReadOnlyAdmin):
    list_display = ["intent_id", "number", "workspace", "author", "reason", "created_at"]
    search_fields = ["intent_id", "author"]


@admin.register(RegistryDocument)
class RegistryDocumentAdmin(ReadOnlyAdmin):
    list_display = ["workspace", "synced", "state", "read_at"]
