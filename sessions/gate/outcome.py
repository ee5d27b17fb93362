"""A gate request with its decision, on the way from the core to the record and the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from django.utils import timezone

from controlplane.policy.model import Decision, ErrorType, SessionState, ToolClass, Verdict
from controlplane.shared.masking import to_storable
from intents.rules.command_rules import find_used_kinds
from sessions.gate.request import GateRequest
from sessions.gate.snapshot import SessionSnapshot
from sessions.lifecycle.open import SEEN_EVERY
from sessions.models import Approval, ContainedRun

# Denials of what an agent may not do at all. The others say how to do it right, so a new attempt is welcome.
COUNTED_ERROR_TYPES = frozenset(
    {
        ErrorType.SCOPE_VIOLATION,
        ErrorType.INTENT_IGNORED,
        ErrorType.INTENTIGNORE_PATH_BLOCKED,
    }
)


@dataclass(frozen=True, slots=True)
class StoredCall:
    """The texts of a call as they may be stored: masked and cut."""

    input: Any
    unknown: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GateOutcome:
    """A request, the snapshot it was decided on, the decision, and how it is answered."""

    request: GateRequest
    snapshot: SessionSnapshot
    decision: Decision
    answered: Verdict  # differs from the decision's verdict where policy does not enforce
    would_be: Verdict | None = None  # the decision, where policy only monitors
    approval: Approval | None = None
    rejection: Approval | None = None  # by which a person refused this very call before
    content_hashes: Mapping[str, str] = field(default_factory=dict)  # of the files that an allowed call reads
    run: ContainedRun | None = None  # where the call is allowed contained
    decision_id: str | None = None  # of the ledger entry; None until it is recorded
    stored: StoredCall | None = None  # what the record and the approval keep of the call

    def with_stored_call(self) -> GateOutcome:
        """Mask the call for the record. It may take a while, so it is done before the database is locked."""
        if self.stored is not None:
            return self
        unknown = tuple(to_storable(part.text) for part in self.decision.unknown)
        return replace(self, stored=StoredCall(to_storable(self.request.call.input), unknown))

    @property
    def stored_call(self) -> StoredCall:
        assert self.stored is not None  # `record_outcome` begins with it
        return self.stored

    @property
    def is_selection(self) -> bool:
        """Whether it is a handshake that the core lets through to its own rules."""
        decision = self.decision
        return decision.tool_class is ToolClass.HANDSHAKE and decision.verdict is Verdict.ALLOW

    @property
    def state(self) -> SessionState:
        """The session's state after the call: its first allowed read begins the reasoning."""
        state = self.snapshot.core.state
        begins = state is SessionState.REQUEST and self.decision.tool_class is ToolClass.SAFE
        return SessionState.REASONING if begins and self.decision.verdict is Verdict.ALLOW else state

    @property
    def is_touch_due(self) -> bool:
        """Whether the session's `last_seen_at` is old enough to be written."""
        return timezone.now() - self.snapshot.seen_at > SEEN_EVERY

    @property
    def is_counted_denial(self) -> bool:
        """Whether it is a refusal that counts towards an alert."""
        return self.answered is not Verdict.ALLOW and self.decision.error_type in COUNTED_ERROR_TYPES

    @property
    def used_rules(self) -> frozenset[str]:
        """The kinds that ran because of a rule of the workspace."""
        return find_used_kinds(self.decision, self.snapshot.core)

    @property
    def has_follow_up(self) -> bool:
        """Whether anything but the decision itself must be written."""
        return bool(
            self.is_counted_denial
            or self.answered is Verdict.ASK
            or self.decision.grant_id
            or self.run is not None
            or self.is_touch_due
            or self.used_rules
            or self.state is not self.snapshot.core.state
        )
