"""Admin pages of workspaces and tokens, for repairs; the daily work is done on the product's pages."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.admin.forms import AdminAuthenticationForm
from django.http import HttpRequest

from controlplane.models import Membership, Token, Workspace
from controlplane.pages.sign_in import ThrottledAuthenticationForm
from controlplane.shared.admin import ReadOnlyAdmin


class ThrottledAdminForm(ThrottledAuthenticationForm, AdminAuthenticationForm):
    """Throttle sign-in to the admin pages too."""


admin.site.login_form = ThrottledAdminForm


class MembershipInline(admin.TabularInline):
    model = Membership
    extra = 0


@admin.register(Workspace)
class WorkspaceAdmin(admin.ModelAdmin):
    """The local root is set on the server (`create_workspace`), never over the web."""

    list_display = ("slug", "name", "revision", "created_at")
    search_fields = ("slug", "name")
    readonly_fields = ("local_root", "revision", "policy", "intentignore", "created_at")
    inlines = (MembershipInline,)

    def has_delete_permission(self, request: HttpRequest, obj: Workspace | None = None) -> bool:
        return False


@admin.register(Token)
class TokenAdmin(ReadOnlyAdmin):
    """Tokens are created and revoked on the settings page, which shows their text once."""

    list_display = ("name", "hint", "workspace", "role", "acts_for", "last_used_at", "revoked_at")
    list_filter = ("workspace", "role")
    search_fields = ("name", "hint")
