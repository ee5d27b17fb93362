"""Register the intents that agents propose, BLOCKED until an admin accepts them.

An agent that could register its own scope would be bound by none. A blocked intent cannot be selected and no
agent can unblock it; registry, revisions and ledger treat it like any other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from controlplane.models import Workspace
from controlplane.policy.model import IntentStatus, Registry
from controlplane.shared.masking import to_storable
from intents import registry
from intents.errors import InvalidIntentError, ProposalRefusedError
from intents.models import Intent
from intents.selectors import list_intent_ids
from intents.summaries import one_line

PROPOSED_BY = "proposed_by"  # a field of the document that stays after the intent is accepted
MAX_OPEN_PROPOSALS = 20
MAX_NAME_LENGTH = 100
_NUMBERED_ID = re.compile(r"INT-([0-9]{1,18})")


@dataclass(frozen=True, slots=True)
class Proposer:
    """`name` is shown to people; `actor` is the token's name in the ledger."""

    name: str
    actor: str
    session_id: str = ""


def propose(workspace_id: int, fields: Mapping[str, Any], proposer: Proposer) -> Intent:
    """Register the fields of a document as a BLOCKED intent with the next free number.

    Raises ProposalRefusedError, also for a pattern or text that the registry would refuse.
    """
    name = one_line(to_storable(proposer.name), MAX_NAME_LENGTH) or "an agent"
    with transaction.atomic():
        # The lock makes counting, numbering and inserting one step for parallel proposals.
        workspace = Workspace.objects.select_for_update().get(pk=workspace_id)
        _require_room(workspace)
        document = {
            **to_storable(dict(fields)),
            "id": _next_id(workspace_id),
            "status": IntentStatus.BLOCKED.value,
            "blocked_reason": f"Proposed by {name}: an admin has not accepted it yet.",
            PROPOSED_BY: name,
        }
        reason = f"proposed in session {proposer.session_id}" if proposer.session_id else "proposed"
        try:
            return registry.create(workspace, document, actor=proposer.actor, reason=reason)
        except InvalidIntentError as error:
            raise ProposalRefusedError(str(error)) from error


def find_proposer(intent: Intent) -> str:
    """Return who proposed the intent; "" for one that people registered."""
    name = intent.extra.get(PROPOSED_BY)
    return name if isinstance(name, str) else ""


def _require_room(workspace: Workspace) -> None:
    """Raise ProposalRefusedError while the registry is unavailable or too many proposals are open.

    A proposal in an empty registry would end the state in which every call is denied.
    """
    state = registry.find_registry_state(workspace.pk)
    if state is not Registry.OK:
        raise ProposalRefusedError(registry.describe_unavailable(state))
    blocked = Intent.objects.for_workspace(workspace.pk).blocked().only("extra")
    if sum(bool(find_proposer(intent)) for intent in blocked) >= MAX_OPEN_PROPOSALS:
        raise ProposalRefusedError(
            f"{MAX_OPEN_PROPOSALS} proposals wait for an admin already. "
            "Ask the user to have them decided first."
        )


def _next_id(workspace_id: int) -> str:
    matches = map(_NUMBERED_ID.fullmatch, list_intent_ids(workspace_id))
    numbers = [int(match[1]) for match in matches if match]
    return f"INT-{max(numbers, default=0) + 1:03d}"
