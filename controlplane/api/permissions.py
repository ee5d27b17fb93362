"""Roles of tokens. A view names the role it requires; the default is admin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rest_framework.exceptions import NotAuthenticated
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from controlplane.shared.tokens import Bearer

if TYPE_CHECKING:
    from rest_framework.views import APIView


class HasRole(BasePermission):
    """Check the view's `required_role`: a role, or a mapping from HTTP method to role."""

    message = "This token's role does not permit that."

    def has_permission(self, request: Request, view: APIView) -> bool:
        if not isinstance(request.auth, Bearer):
            raise NotAuthenticated
        required = getattr(view, "required_role", "admin")
        if isinstance(required, dict):
            required = required.get(request.method, "admin")
        return request.auth.has_role(required)
