"""Admin pages of sessions and approvals, read-only: the product's pages and REST end and decide them."""

from __future__ import annotations

from django.contrib import admin

from controlplane.shared.admin import ReadOnlyAdmin
from sessions.models import AgentSession, Approval, ApprovalGrant


@admin.register(AgentSession)
class AgentSessionAdmin(ReadOnlyAdmin):
    list_display = ("session_id", "workspace", "agent_name", "state", "selected_intent_id", "last_seen_at")
    list_filter = ("workspace", "state", "agent_name")
    search_fields = ("session_id",)


@admin.register(Approval)
class ApprovalAdmin(ReadOnlyAdmin):
    list_display = ("public_id", "workspace", "kind", "tool", "status", "decider", "requested_at")
    list_filter = ("workspace", "status", "kind")
    search_fields = ("public_id", "digest")


@admin.register(ApprovalGrant)
class ApprovalGrantAdmin(ReadOnlyAdmin):
    list_display = ("public_id", "kind", "session", "error_type", "expires_at", "used_at", "revoked_at")
    list_filter = ("kind",)
