"""What has been seen of a workspace's agents so far: evidence of each step on the way to a governed agent."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from controlplane.models import Token, TokenRole
from traces.models import EntryKind, LedgerEntry


@dataclass(frozen=True, slots=True)
class ConnectStep:
    """One step; `at` is when it was first seen, None while it is still to do."""

    title: str | Promise
    todo: str | Promise
    at: datetime | None


def list_connect_steps(workspace_id: int) -> list[ConnectStep]:
    """Return the steps in order. 3 queries."""
    tokens = Token.objects.active().filter(workspace_id=workspace_id, role=TokenRole.AGENT)
    calls = LedgerEntry.objects.for_workspace(workspace_id).filter(kind=EntryKind.DECISION)
    denied = calls.filter(outcome="deny")
    return [
        ConnectStep(
            _("Token created"),
            _("Create a token."),
            tokens.order_by("pk").values_list("created_at", flat=True).first(),
        ),
        ConnectStep(
            _("First call arrived"),
            _("Start the agent in the repository and ask it to read a file."),
            calls.order_by("pk").values_list("received_at", flat=True).first(),
        ),
        ConnectStep(
            _("Canary denied"),
            _("Run the canary, or icp.py doctor: the answer must be a denial."),
            denied.order_by("pk").values_list("received_at", flat=True).first(),
        ),
    ]
