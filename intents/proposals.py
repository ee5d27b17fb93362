"""An intent that an agent proposes: registered, but blocked until an admin lets it go on.

Who could register its own scope would have none. A blocked intent cannot be selected, no agent can unblock
it, and the registry, its revisions and the ledger hold it like any other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from controlplane.models import Workspace
from controlplane.policy.model import IntentStatus, Registry
from controlplane.shared.masking import storable
from intents import registry
from intents.models import Intent
from intents.selectors import list_intent_ids
from intents.summaries import one_line

PROPOSED_BY = "proposed_by"  # a field of the document, kept for good: where the intent came from
MAX_OPEN_PROPOSALS = 20
MAX_NAME_LENGTH = 100
NUMBERED = re.compile(r"INT-([0-9]{1,18})")


class ProposalRefusedError(Exception):
    """Nothing was registered; the text says why and what to do."""


@dataclass(frozen=True, slots=True)
class Proposer:
    """`name` is shown to people; `actor` is how the ledger names the token."""

    name: str
    actor: str
    session_id: str = ""


def propose(workspace_id: int, fields: Mapping[str, Any], proposer: Proposer) -> Intent:
    """Register the fields of a document as a BLOCKED intent with the next free number.

    Raises ProposalRefusedError, and registry.InvalidIntentError for a pattern or text that cannot be.
    """
    name = one_line(storable(proposer.name), MAX_NAME_LENGTH) or "an agent"
    with transaction.atomic():
        workspace = Workspace.objects.select_for_update().get(pk=workspace_id)
        _require_room(workspace)
        document = {
            **storable(dict(fields)),
            "id": _next_id(workspace_id),
            "status": IntentStatus.BLOCKED.value,
            "blocked_reason": f"Proposed by {name}: an admin has not accepted it yet.",
            PROPOSED_BY: name,
        }
        reason = f"proposed in session {proposer.session_id}" if proposer.session_id else "proposed"
        return registry.create(workspace, document, actor=proposer.actor, reason=reason)


def find_proposer(intent: Intent) -> str:
    """Who proposed it; "" for one that people registered."""
    name = intent.extra.get(PROPOSED_BY)
    return name if isinstance(name, str) else ""


def _require_room(workspace: Workspace) -> None:
    """No proposal may turn an unavailable registry into an available one, nor flood it."""
    state = registry.registry_state(workspace)
    if state is not Registry.OK:
        raise ProposalRefusedError(registry.describe_unavailable(state))
    blocked = Intent.objects.filter(workspace=workspace, status=IntentStatus.BLOCKED)
    if sum(bool(find_proposer(intent)) for intent in blocked.only("extra")) >= MAX_OPEN_PROPOSALS:
        raise ProposalRefusedError(
            f"{MAX_OPEN_PROPOSALS} proposals wait for an admin already. "
            "Ask the user to have them decided first."
        )


def _next_id(workspace_id: int) -> str:
    numbers = [int(found[1]) for one in list_intent_ids(workspace_id) if (found := NUMBERED.fullmatch(one))]
    return f"INT-{max(numbers, default=0) + 1:03d}"
