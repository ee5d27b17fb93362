"""The base of every REST view: it knows the caller's workspace, and nothing outside of it."""

from __future__ import annotations

from django.utils.functional import cached_property
from rest_framework.views import APIView

from controlplane.models import Workspace
from controlplane.shared.tokens import Bearer


class WorkspaceView(APIView):
    """Set `required_role` to `agent`, `reviewer` or `admin`, or to a mapping from method to role.

    `bearer` is who asks; `workspace` is read when first used (1 query).
    """

    required_role: str | dict[str, str] = "admin"

    @property
    def bearer(self) -> Bearer:
        bearer = self.request.auth
        assert isinstance(bearer, Bearer)  # HasRole let nobody else in
        return bearer

    @cached_property
    def workspace(self) -> Workspace:
        return Workspace.objects.get(pk=self.bearer.workspace_id)

    @property
    def actor(self) -> str:
        """How the ledger names the caller."""
        return self.bearer.actor
