"""Check a tool call: the gate's service, called by REST, hooks and MCP.

Decide on a cached snapshot and append the decision only while that snapshot holds; else read a new
snapshot and decide again. So no decision is recorded against a policy, intent, grant or token that has
changed, and the record is committed before the answer leaves.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

from controlplane.policy.checks import MUTATION_CLASSES
from controlplane.shared.steps import run_steps
from controlplane.shared.tokens import Bearer, forget_token
from sessions.errors import ForeignSessionError, GateBusyError, GateInputError, TokenRevokedError
from sessions.gate import handshake_call, snapshot_cache
from sessions.gate.answers import render_outcome
from sessions.gate.decide import decide_request
from sessions.gate.dry_run import dry_run
from sessions.gate.outcome import GateOutcome
from sessions.gate.record import Decided, record_alone
from sessions.gate.request import GateRequest

T = TypeVar("T")
# A piece of work that stops at each decision to have it recorded: it yields the decision and is sent what was
# recorded, or None where the snapshot no longer held. So many calls can share one transaction.
Steps = Generator[Decided, GateOutcome | None, T]

MAX_ATTEMPTS = 50  # each fails only because somebody changed the session or the workspace in between


def check(bearer: Bearer, request: GateRequest) -> dict[str, Any]:
    """Return the gate's answer (contract 3).

    Raise GateInputError, TokenRevokedError, ForeignSessionError or GateBusyError. At most 3 statements for
    an allowed call of a known session.
    """
    return run_steps(check_steps(bearer, request), record_alone)


def check_steps(bearer: Bearer, request: GateRequest) -> Steps[dict[str, Any]]:
    """Do what `check` does, and leave the recording to whoever runs the steps."""
    _check_mutation_class(request.call.input)
    if request.dry_run:
        return dry_run(bearer, request)
    for _ in range(MAX_ATTEMPTS):
        snapshot = snapshot_cache.get_snapshot(bearer, request.opening)
        # The cache is shared by all tokens of the workspace, so ownership is checked on every call.
        if snapshot.session.token_id != bearer.token_id:
            raise ForeignSessionError("This session belongs to another token.", reason="not_yours")
        outcome = decide_request(request, snapshot)
        if outcome.is_selection:
            return handshake_call.answer_handshake(bearer, snapshot, request)
        recorded = yield Decided(bearer, outcome)
        if recorded is not None:
            return render_outcome(recorded)
        _discard_snapshot(bearer, request)
    raise GateBusyError


def _check_mutation_class(tool_input: Any) -> None:
    """Raise GateInputError for an input that claims a class which does not exist."""
    claimed = tool_input.get("mutation_class") if isinstance(tool_input, dict) else None
    if claimed is not None and claimed not in MUTATION_CLASSES:
        classes = " or ".join(MUTATION_CLASSES)
        raise GateInputError(f"mutation_class must be {classes}, or absent for no claim.")


def _discard_snapshot(bearer: Bearer, request: GateRequest) -> None:
    """Drop a snapshot that no longer holds. Raise TokenRevokedError when it was the token that changed."""
    snapshot_cache.forget(bearer.workspace_id, request.session_id)
    if not bearer.is_active():
        forget_token(bearer.token_id)
        raise TokenRevokedError
