"""For looking only: sessions end, and approvals are decided, on the pages or over REST."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from sessions.models import AgentSession, Approval, ApprovalGrant


class LookingOnly(admin.ModelAdmin):
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(AgentSession)
class AgentSessionAdmin(LookingOnly):
    list_display = ("session_id", "workspace", "agent_name", "state", "selected_intent_id", "last_seen_at")
    list_filter = ("workspace", "state", "agent_name")
    search_fields = ("session_id",)


@admin.register(Approval)
class ApprovalAdmin(LookingOnly):
    list_display = ("public_id", "workspace", "kind", "tool", "status", "decider", "requested_at")
    list_filter = ("workspace", "status", "kind")
    search_fields = ("public_id", "digest")


@admin.register(ApprovalGrant)
class ApprovalGrantAdmin(LookingOnly):
    list_display = ("public_id", "kind", "session", "error_type", "expires_at", "used_at", "revoked_at")
    list_filter = ("kind",)
