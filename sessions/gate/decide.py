"""Decide a call on a session's snapshot, for the gate, for dry runs and for explanations alike."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from django.utils import timezone

from controlplane.policy.calls.resolve_tool import resolve_tool
from controlplane.policy.calls.toolsets.kinds import ToolKind
from controlplane.policy.decision import decide, enforce
from controlplane.policy.explain import append_available_intents
from controlplane.policy.messages import append_scope
from controlplane.policy.model import Decision, ErrorType, Reason, ToolCall, Verdict
from controlplane.policy.paths.canonical import to_printable
from controlplane.policy.rules.path_rules import compile_rules
from intents.selectors import find_owners
from sessions.call_root import ClaimedRoot, resolve_call_root
from sessions.gate.outcome import GateOutcome
from sessions.gate.request import GateRequest
from sessions.gate.snapshot import SessionSnapshot
from sessions.lifecycle.available_intents import list_available_intents
from sessions.lifecycle.contained_run import build_run
from sessions.models import ContainedRun
from sessions.worktree import Worktree

# Denials that list the intents an agent could select instead.
MAX_READ_HASHES = 3
LISTING_ERROR_TYPES = frozenset({ErrorType.MISSING_OR_INVALID_INTENT, ErrorType.INTENT_IGNORED})


@dataclass(frozen=True, slots=True)
class DecidedCall:
    """A decision with its inputs, the snapshot apart."""

    call: ToolCall
    filesystem: Worktree
    now: datetime
    decision: Decision


def decide_request(request: GateRequest, snapshot: SessionSnapshot) -> GateOutcome:
    """Decide a request and apply the workspace's enforcement."""
    decided_call = decide_call(request.call, snapshot, request.opening.repository)
    answered, would_be = enforce(decided_call.decision, snapshot.core.policy)
    decision = decided_call.decision
    contained = decision.contained and not request.dry_run
    return GateOutcome(
        replace(request, call=decided_call.call),
        snapshot,
        decided_call.decision,
        answered,
        would_be,
        content_hashes=_find_read_hashes(decided_call),
        run=_build_run(request, snapshot, decision) if contained else None,
    )


def _build_run(request: GateRequest, snapshot: SessionSnapshot, decision: Decision) -> ContainedRun:
    return build_run(snapshot.session, snapshot.core, request.call, decision, request.containment)


def _find_read_hashes(decided: DecidedCall) -> dict[str, str]:
    """Map the files that an allowed reading tool names to their current hashes, where known.

    Up to `MAX_READ_HASHES` queries where the workspace has no local root and the caller sends no hashes.
    """
    decision = decided.decision
    if decision.verdict is not Verdict.ALLOW or not 0 < len(decision.reads) <= MAX_READ_HASHES:
        return {}
    tool = resolve_tool(decided.call).tool
    if tool is None or tool.kind is not ToolKind.READ:
        return {}
    hashes = {read.path: decided.filesystem.content_hash(read.physical_path) for read in decision.reads}
    return {path: content_hash for path, content_hash in hashes.items() if content_hash}


def decide_call(call: ToolCall, snapshot: SessionSnapshot, repository: str = "") -> DecidedCall:
    """Decide a call: 0 queries when allowed on known paths, up to 3 more where the answer lists
    intents or owners. `repository` is what the hook client says of the call's root. Raise DatabaseError where
    the database failed the decision."""
    decided = decide_without_lists(call, snapshot, repository)
    decision, core = decided.decision, snapshot.core
    if decision.error_type in LISTING_ERROR_TYPES:
        session, excluded = snapshot.session, compile_rules(core).ignore.intents
        intents = list_available_intents(session.workspace_id, core.policy, excluded, session=session)
        decision = replace(decision, error=append_available_intents(decision.error or "", intents))
    elif decision.reason == Reason.NOT_IN_SCOPE:
        decision = replace(decision, error=_name_scope(decision, snapshot))
    return replace(decided, decision=decision)


def decide_without_lists(call: ToolCall, snapshot: SessionSnapshot, repository: str = "") -> DecidedCall:
    """Decide a call; the error names no intents and owners, so that thousands of calls need no query each."""
    session, workspace_id = snapshot.session, snapshot.session.workspace_id
    place = resolve_call_root(
        ClaimedRoot(session.root, session.repository),
        ClaimedRoot(call.root or "", repository),
        snapshot.local_root,
    )
    cwd = call.cwd or session.cwd or None
    located = replace(call, root=place.root, cwd=cwd, agent=session.agent_name)
    core = replace(snapshot.core, wrong_root=True) if place.is_wrong else snapshot.core
    filesystem = Worktree(workspace_id, place.disk, call.current_content_hashes, snapshot.other_changes)
    now = timezone.now()
    decision = decide(located, core, now, filesystem)
    if filesystem.failure is not None:  # nothing was judged, so nothing may be recorded
        raise filesystem.failure
    return DecidedCall(located, filesystem, now, decision)


def _name_scope(decision: Decision, snapshot: SessionSnapshot) -> str:
    """Return the error with the allowed patterns and the other open intents that own the paths. 1 query."""
    intent, ignore_case = snapshot.core.intent, snapshot.core.policy.case_insensitive_paths
    owners = find_owners(snapshot.session.workspace_id, decision.offending, ignore_case=ignore_case)
    others = [to_printable(owner) for owner in owners if owner != decision.intent_id]
    patterns = [to_printable(pattern) for pattern in intent.owned_scope] if intent is not None else []
    return append_scope(decision.error or "", decision.intent_id or "", patterns, others)
