"""Admin pages of the registry, read-only: changes go through the pages and REST, which keep revisions."""

from __future__ import annotations

from django.contrib import admin

from controlplane.shared.admin import ReadOnlyAdmin
from intents.models import Intent, IntentRevision, RegistryDocument


@admin.register(Intent)
class IntentAdmin(ReadOnlyAdmin):
    list_display = ["intent_id", "workspace", "name", "status", "owner", "version", "changed_at"]
    list_select_related = ["workspace"]
    list_filter = ["workspace", "status"]
    search_fields = ["intent_id", "name", "owner", "description"]


@admin.register(IntentRevision)
class IntentRevisionAdmin(ReadOnlyAdmin):
    list_filter = ["workspace"]
    list_display = ["intent_id", "number", "workspace", "author", "reason", "created_at"]
    search_fields = ["intent_id", "author"]


@admin.register(RegistryDocument)
class RegistryDocumentAdmin(ReadOnlyAdmin):
    list_filter = ["workspace"]
    list_display = ["workspace", "synced", "state", "read_at"]
