"""What the gate knows of a session, kept in the process and checked by revision, never by time.

A held snapshot may be stale. That is safe: a decision made on it is appended only while
`holds` is true in the very statement of the append, so a stale one costs a second look and nothing else.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from django.db.models import Q
from django.utils import timezone

from controlplane.models import Workspace
from controlplane.policy.globs.owner_index import OwnerIndex
from controlplane.policy.globs.scope import Scope
from controlplane.policy.model import ErrorType, Grant, IntentStatus, Policy, SessionState, Snapshot
from controlplane.shared.tokens import Bearer
from intents.models import Intent as IntentRow
from sessions.approvals.rejections import refused_paths
from sessions.core_values import forget_policies, load_policy
from sessions.gate.concurrent_changes import Elsewhere, elsewhere_of
from sessions.lifecycle.intent_lock import reclaim
from sessions.lifecycle.open import Opening, open_session
from sessions.lifecycle.session_context import load_context
from sessions.models import AgentSession, ApprovalGrant
from traces.ledger.append import Condition

MAX_HELD = 5_000

HOLDS = (
    "EXISTS (SELECT 1 FROM controlplane_workspace w"
    " JOIN agent_sessions_agentsession s ON s.workspace_id = w.id"
    " JOIN controlplane_token t ON t.workspace_id = w.id"
    " WHERE w.id = %s AND w.revision = %s AND s.id = %s AND s.revision = %s"
    " AND t.id = %s AND t.revoked_at IS NULL)"
)


@dataclass(frozen=True, slots=True)
class Held:
    """A session as the gate needs it, with the revisions that it was read at."""

    session: AgentSession
    workspace_revision: int
    session_revision: int
    local_root: str
    snapshot: Snapshot
    overrides: dict[str, dict[str, Any]]  # grant id -> what the answer says of it
    seen_at: datetime
    elsewhere: Elsewhere | None = None

    def holds(self, paths: Sequence[str] = ()) -> Condition:
        """True in the database while nothing has changed that could change an answer about these paths."""
        session = self.session
        params: tuple[Any, ...] = (
            session.workspace_id,
            self.workspace_revision,
            session.pk,
            self.session_revision,
            session.token_id,
        )
        others = self.elsewhere.holds(paths) if self.elsewhere is not None else None
        if others is None:
            return Condition(HOLDS, params)
        return Condition(f"{HOLDS} AND {others.sql}", params + others.params)


_held: OrderedDict[tuple[int, str], Held] = OrderedDict()


def held_snapshot(bearer: Bearer, opening: Opening) -> Held:
    """From memory (0 queries) or read anew (6); an unknown session is opened."""
    key = (bearer.workspace_id, opening.session_id)
    held = _held.get(key)
    if held is None or (not held.session.root and (opening.root or opening.cwd)):
        session, _ = open_session(bearer, opening)
        if session.intent is None and session.selected_intent_id and not session.ended:
            reclaim(session, load_policy(session.workspace))
        held = remember(read_snapshot(session))
    return held


def read_snapshot(session: AgentSession) -> Held:
    """Read a session as the gate needs it; write nothing."""
    context = load_context(session)
    session, workspace, policy = context.session, context.workspace, context.policy
    grants = live_grants(session) if session.pk is not None else []
    snapshot = Snapshot(
        policy=policy,
        registry=context.registry,
        state=SessionState(session.state),
        frozen=session.frozen,
        selected_intent_id=session.selected_intent_id or None,
        intent=context.intent,
        intent_held_by_other=context.intent_held_by_other,
        intentignore=workspace.intentignore,
        grants=tuple(_core_grant(grant) for grant in grants),
        rejected_paths=refused_paths(session, policy) if session.pk is not None else (),
        owners=owners_of(workspace, policy),
    )
    return Held(
        session=session,
        workspace_revision=workspace.revision,
        session_revision=session.revision,
        local_root=workspace.local_root,
        snapshot=snapshot,
        overrides={grant.public_id: _override(grant) for grant in grants},
        seen_at=session.last_seen_at,
        elsewhere=elsewhere_of(session),
    )


def remember(held: Held) -> Held:
    if held.snapshot.intent_held_by_other:
        return held  # no revision of this session's tells when the other one lets go: look each time
    key = (held.session.workspace_id, held.session.session_id)
    _held[key] = held
    _held.move_to_end(key)
    while len(_held) > MAX_HELD:
        _held.popitem(last=False)
    return held


def forget(workspace_id: int, session_id: str) -> None:
    _held.pop((workspace_id, session_id), None)


def forget_all() -> None:
    _held.clear()
    forget_policies()
    _owners.cache_clear()


def live_grants(session: AgentSession) -> list[ApprovalGrant]:
    """Grants that may still count. A used `once` stays, so that the same call sent again is the same call."""
    return list(
        ApprovalGrant.objects.select_related("approval")
        .filter(Q(expires_at=None) | Q(expires_at__gt=timezone.now()), session=session, revoked_at=None)
        .order_by("pk")
    )


def owners_of(workspace: Workspace, policy: Policy) -> OwnerIndex:
    """Who owns what among the intents in progress. 1 query for each revision of the workspace."""
    return _owners(workspace.pk, workspace.revision, policy.case_insensitive_paths)


@lru_cache(maxsize=64)
def _owners(workspace_id: int, revision: int, ignore_case: bool) -> OwnerIndex:  # noqa: ARG001  part of the key
    in_progress = IntentRow.objects.filter(workspace_id=workspace_id, status=IntentStatus.IN_PROGRESS.value)
    rows = in_progress.order_by("position", "pk").values_list("intent_id", "owned_scope")
    return OwnerIndex(
        (intent_id, Scope.from_patterns(scope, case_insensitive=ignore_case)) for intent_id, scope in rows
    )


def _core_grant(grant: ApprovalGrant) -> Grant:
    return Grant(
        grant_id=grant.public_id,
        kind=grant.kind,
        error_type=ErrorType(grant.error_type),
        digest=grant.digest,
        patterns=tuple(grant.patterns),
        expires_at=grant.expires_at,
        used_by=grant.used_by or None,
        used=grant.used_at is not None,
    )


def _override(grant: ApprovalGrant) -> dict[str, Any]:
    return {
        "approval_id": grant.approval.public_id,
        "grant_id": grant.public_id,
        "grant": grant.kind,
        "decided_by": grant.approval.decider,
    }
