"""A call judged from where its session stands. The gate and whoever explains a decision look the same way."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from django.utils import timezone

from controlplane.policy.decision import decide
from controlplane.policy.explain import append_available_intents
from controlplane.policy.model import Decision, ErrorType, ToolCall
from intents.selectors import list_selectable_intents
from sessions.gate.snapshot import Held
from sessions.worktree import Worktree

# Denials that list the intents one could take instead.
LISTING = frozenset({ErrorType.MISSING_OR_INVALID_INTENT, ErrorType.INTENT_IGNORED})


@dataclass(frozen=True, slots=True)
class Judged:
    """A decision with all that it was made upon, beside the snapshot."""

    call: ToolCall
    world: Worktree
    now: datetime
    decision: Decision


def judge(call: ToolCall, held: Held) -> Judged:
    """0 queries for an allowed call of known paths; 1 more where the answer lists intents."""
    placed, workspace_id = _placed(call, held), held.session.workspace_id
    world = Worktree(workspace_id, held.local_root, call.current_content_hashes, held.elsewhere)
    now = timezone.now()
    decision = decide(placed, held.snapshot, now, world)
    if decision.error_type in LISTING:
        text = append_available_intents(decision.error or "", list_selectable_intents(workspace_id))
        decision = replace(decision, error=text)
    return Judged(placed, world, now, decision)


def _placed(call: ToolCall, held: Held) -> ToolCall:
    """The session's root counts, not the call's: a call must not move the workspace."""
    session = held.session
    root = session.root or held.local_root or None
    return replace(call, root=root, cwd=call.cwd or session.cwd or None, agent=session.agent_name)
