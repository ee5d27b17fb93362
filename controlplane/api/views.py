"""The base class of REST views, bound to the token's workspace."""

from __future__ import annotations

from django.utils.functional import cached_property
from rest_framework.views import APIView

from controlplane.models import Workspace
from controlplane.shared.tokens import Bearer


class WorkspaceView(APIView):
    """Set `required_role` to `agent`, `reviewer` or `admin`, or to a mapping from method to role.

    `bearer` is the caller; `workspace` is read on first use (1 query).
    """

    required_role: str | dict[str, str] = "admin"

    @property
    def bearer(self) -> Bearer:
        bearer = self.request.auth
        assert isinstance(bearer, Bearer)  # HasRole rejected everybody else
        return bearer

    @cached_property
    def workspace(self) -> Workspace:
        return Workspace.objects.get(pk=self.bearer.workspace_id)

    @property
    def actor(self) -> str:
        """The caller's name in ledger entries."""
        return self.bearer.actor
