"""A call that the gate has judged, before its decision is recorded."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils import timezone

from controlplane.policy.model import Decision, ErrorType, SessionState, ToolClass, Verdict
from sessions.gate.request import GateRequest
from sessions.gate.snapshot import Held
from sessions.lifecycle.open import SEEN_EVERY
from sessions.models import Approval

# What an agent may not do. Other refusals say how to do it right, and to try again is what they ask for.
COUNTED = frozenset(
    {
        ErrorType.SCOPE_VIOLATION,
        ErrorType.INTENT_IGNORED,
        ErrorType.INTENTIGNORE_PATH_BLOCKED,
    }
)


@dataclass(frozen=True, slots=True)
class Checked:
    """A decision on a call, with what it was decided upon and how it is answered."""

    request: GateRequest
    held: Held
    decision: Decision
    answered: Verdict
    would_be: Verdict | None = None  # the decision, where policy only monitors
    approval: Approval | None = None

    @property
    def state(self) -> SessionState:
        state = self.held.snapshot.state
        begins = state is SessionState.REQUEST and self.decision.tool_class is ToolClass.SAFE
        return SessionState.REASONING if begins and self.decision.verdict is Verdict.ALLOW else state

    @property
    def shows_life(self) -> bool:
        """Whether the session's `last_seen_at` is due."""
        return timezone.now() - self.held.seen_at > SEEN_EVERY

    @property
    def is_watched(self) -> bool:
        """Whether it is a refusal that counts towards an alert."""
        return self.answered is not Verdict.ALLOW and self.decision.error_type in COUNTED

    @property
    def stands_alone(self) -> bool:
        """Whether nothing but the decision itself is to be written."""
        follows = self.is_watched or self.answered is Verdict.ASK or self.decision.grant_id or self.shows_life
        return not follows and self.state is self.held.snapshot.state
