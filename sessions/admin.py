"""Admin pages of sessions and approvals, read-only: the product's pages and REST end and decide them."""

from __future__ import annotations

from django.contrib import admin

from controlplane.shared.admin import ReadOnlyAdmin
from sessions.models import AgentSession, Approval, ApprovalGrant


@admin.register(AgentSession)
class AgentSessionAdmin(ReadOnlyAdmin):
    list_display = ("session_id", "workspace", "agent_name", "state", "selected_intent_id", "last_seen_at")
    list_select_related = ("workspace",)
    list_filter = ("workspace", "state", "frozen", "agent_name")
    search_fields = ("session_id", "agent_name", "agent_model", "selected_intent_id", "root", "token__name")
    date_hierarchy = "last_seen_at"


@admin.register(Approval)
class ApprovalAdmin(ReadOnlyAdmin):
    list_display = ("public_id", "workspace", "kind", "tool", "status", "decider", "requested_at")
    list_select_related = ("workspace",)
    list_filter = ("workspace", "status", "kind", "error_type")
    search_fields = ("public_id", "digest", "tool", "intent_id", "session__session_id", "decider", "message")
    date_hierarchy = "requested_at"


@admin.register(ApprovalGrant)
class ApprovalGrantAdmin(ReadOnlyAdmin):
    list_display = ("public_id", "kind", "session", "error_type", "expires_at", "used_at", "revoked_at")
    list_select_related = ("session",)
    list_filter = ("kind",)
    search_fields = ("public_id", "session__session_id", "approval__public_id")
