"""Answer a dry run: decide like the gate, but record, open and spend nothing."""

from __future__ import annotations

from typing import Any

from controlplane.shared.tokens import Bearer
from sessions.errors import ForeignSessionError
from sessions.gate import handshake_call
from sessions.gate.answers import render_outcome
from sessions.gate.decide import decide_request
from sessions.gate.request import GateRequest
from sessions.gate.snapshot import read_snapshot
from sessions.lifecycle.open import build_session, find_session


def dry_run(bearer: Bearer, request: GateRequest) -> dict[str, Any]:
    """Return what the gate would answer. Raise ForeignSessionError."""
    session = find_session(bearer.workspace_id, request.session_id)
    if session is not None and session.can_resume and session.token_id == bearer.token_id:
        session = None  # the call would take it up again, with a fresh mandate
    if session is None:
        session = build_session(bearer.workspace_id, request.opening)
    elif session.token_id != bearer.token_id and not bearer.has_role("reviewer"):
        raise ForeignSessionError("This session belongs to another token.", reason="not_yours")
    snapshot = read_snapshot(session)
    outcome = decide_request(request, snapshot)
    if outcome.is_selection:
        return handshake_call.preview_handshake(snapshot, request)
    return render_outcome(outcome)
