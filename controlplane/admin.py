"""Admin pages of accounts, workspaces, members and tokens, to look at and search.

Only accounts can be changed here. Whatever a ledger records is changed on the product's pages and by its
commands, which write the entry in the same transaction.
"""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group, User
from django.http import HttpRequest

from controlplane.models import Membership, Token, Workspace
from controlplane.shared.admin import ReadOnlyAdmin

admin.site.unregister((User, Group))


@admin.register(User)
class AccountAdmin(UserAdmin):
    """Accounts: passwords, names, who may enter here. Permissions play no part in the product."""

    list_display = ("username", "first_name", "email", "is_active", "is_superuser", "last_login")
    list_filter = ("is_active", "is_superuser", "memberships__workspace")
    fieldsets = (
        (None, {"fields": ("username", "password", "first_name", "last_name", "email")}),
        (None, {"fields": ("is_active", "is_staff", "is_superuser", "last_login", "date_joined")}),
    )
    readonly_fields = ("last_login", "date_joined")

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Never: it would end memberships without a ledger entry. Accounts are made inactive instead."""
        return False


@admin.register(Workspace)
class WorkspaceAdmin(ReadOnlyAdmin):
    """The local root is set on the server (`create_workspace`), never over the web."""

    list_display = ("slug", "name", "local_root", "revision", "created_at")
    search_fields = ("slug", "name", "local_root")
    fields = ("slug", "name", "local_root", "revision", "policy", "intentignore", "created_at")


@admin.register(Membership)
class MembershipAdmin(ReadOnlyAdmin):
    list_display = ("user", "workspace", "role")
    list_select_related = ("user", "workspace")
    list_filter = ("role", "workspace")
    search_fields = ("user__username", "user__first_name", "user__last_name", "workspace__slug")


@admin.register(Token)
class TokenAdmin(ReadOnlyAdmin):
    """Tokens are created and revoked on the settings page, which shows their text once."""

    list_display = ("name", "hint", "workspace", "role", "acts_for", "last_used_at", "revoked_at")
    list_select_related = ("workspace", "acts_for")
    list_filter = ("workspace", "role")
    search_fields = ("name", "hint", "workspace__slug", "acts_for__username")
    fields = (
        "name", "hint", "workspace", "role", "acts_for", "created_at", "last_used_at", "revoked_at",
    )  # fmt: skip
