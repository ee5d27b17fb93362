"""Read a session as a decision needs it, with the revisions that the decision will be bound to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from django.utils import timezone

from controlplane.models import Token, Workspace
from controlplane.policy.globs.owner_index import OwnerIndex
from controlplane.policy.globs.scope import Scope
from controlplane.policy.model import ErrorType, Grant, IntentStatus, Place, Policy, SessionState, Snapshot
from controlplane.shared.sql_names import column, table_name
from intents.models import Intent
from intents.rules.command_rules import load_core_rules
from intents.rules.ignore_files import require_ignore_texts
from sessions.approvals.rejections import list_rejected_paths
from sessions.gate.concurrent_changes import ConcurrentChanges, find_concurrent_changes
from sessions.lifecycle.session_context import load_context
from sessions.mcp_tools.store import load_read_only_hints
from sessions.models import AgentSession, Approval, ApprovalGrant
from traces.ledger.append import Condition

# Everything that a decision depends on raises one of two revisions, and a token is revoked for good. So three
# rows, each found by its primary key, say whether a snapshot still holds, and the append asks for them in its
# own statement: nothing can change between this check and the record. Names come from the models, so that a
# rename cannot break the gate at run time.
UNCHANGED = (
    f"EXISTS (SELECT 1 FROM {table_name(Workspace)} w"  # noqa: S608  names from the models, values as parameters
    f" JOIN {table_name(AgentSession)} s ON s.{column(AgentSession, 'workspace')} = w.id"
    f" JOIN {table_name(Token)} t ON t.{column(Token, 'workspace')} = w.id"
    f" WHERE w.id = %s AND w.{column(Workspace, 'revision')} = %s"
    f" AND s.id = %s AND s.{column(AgentSession, 'revision')} = %s"
    f" AND t.id = %s AND t.{column(Token, 'revoked_at')} IS NULL)"
)


@dataclass(frozen=True, slots=True)
class SessionSnapshot:
    """A session as the gate needs it: `core` for the decision, the rest for the record and the answer."""

    session: AgentSession
    workspace_revision: int
    session_revision: int
    local_root: str
    core: Snapshot
    overrides: dict[str, dict[str, Any]]  # grant id -> what the answer says of it
    seen_at: datetime
    other_changes: ConcurrentChanges | None = None
    has_news: bool = False  # a decision that the agent has not been told of

    def unchanged(self, paths: Sequence[str] = ()) -> Condition:
        """Return the SQL condition that nothing changed that could alter a decision on these paths."""
        session = self.session
        params: tuple[Any, ...] = (
            session.workspace_id,
            self.workspace_revision,
            session.pk,
            self.session_revision,
            session.token_id,
        )
        others = self.other_changes.unchanged(paths) if self.other_changes is not None else None
        if others is None:
            return Condition(UNCHANGED, params)
        return Condition(f"{UNCHANGED} AND {others.sql}", params + others.params)

    def is_current(self) -> bool:
        """Return whether both revisions are still those of the database (1 query)."""
        rows = AgentSession.objects.filter(pk=self.session.pk, revision=self.session_revision)
        return rows.filter(workspace__revision=self.workspace_revision).exists()


def read_snapshot(session: AgentSession) -> SessionSnapshot:
    """Read a session from the database (about 8 queries); write nothing."""
    context = load_context(session)
    session, workspace, policy = context.session, context.workspace, context.policy
    grants = find_live_grants(session) if session.pk is not None else []
    places = tuple(Place(pattern, "read") for grant in grants for pattern in grant.places)
    core = Snapshot(
        policy=replace(policy, places=policy.places + places) if places else policy,
        registry=context.registry,
        state=SessionState(session.state),
        stopped=context.stopped,
        frozen=session.frozen,
        selected_intent_id=session.selected_intent_id or None,
        intent=context.intent,
        intent_held_by_other=context.intent_held_by_other,
        intentignore=workspace.intentignore,
        ignore_files=require_ignore_texts(workspace.local_root),
        grants=tuple(_to_core_grant(grant) for grant in grants),
        command_rules=load_core_rules(workspace.pk),
        read_only_hints=load_read_only_hints(workspace.pk),
        rejected_paths=list_rejected_paths(session, policy) if session.pk is not None else (),
        owners=_load_owners(workspace, policy),
    )
    return SessionSnapshot(
        session=session,
        workspace_revision=workspace.revision,
        session_revision=session.revision,
        local_root=workspace.local_root,
        core=core,
        overrides={grant.public_id: _render_override(grant) for grant in grants},
        seen_at=session.last_seen_at,
        other_changes=find_concurrent_changes(session),
        has_news=_has_news(session),
    )


def find_live_grants(session: AgentSession) -> list[ApprovalGrant]:
    """Return the grants that may still count, oldest first. 1 query.

    A used `once` grant stays, so that the call that spent it is let through again when it is sent again.
    """
    grants = ApprovalGrant.objects.live(timezone.now()).for_session(session)
    return list(grants.select_related("approval").order_by("pk"))


def forget_owners() -> None:
    """Empty the cache, for tests that roll revisions back."""
    _read_owners.cache_clear()


def _load_owners(workspace: Workspace, policy: Policy) -> OwnerIndex:
    """Index the scopes of the intents in progress. 1 query for each revision of the workspace."""
    return _read_owners(workspace.pk, workspace.revision, policy.case_insensitive_paths)


@lru_cache(maxsize=64)
def _read_owners(workspace_id: int, revision: int, ignore_case: bool) -> OwnerIndex:  # noqa: ARG001  part of the key
    in_progress = Intent.objects.filter(workspace_id=workspace_id, status=IntentStatus.IN_PROGRESS.value)
    rows = in_progress.order_by("position", "pk").values_list("intent_id", "owned_scope")
    return OwnerIndex(
        (intent_id, Scope.from_patterns(scope, case_insensitive=ignore_case)) for intent_id, scope in rows
    )


def _to_core_grant(grant: ApprovalGrant) -> Grant:
    return Grant(
        grant_id=grant.public_id,
        # Whatever a grant of the intent lets through, it lets through in each of its sessions.
        kind="once" if grant.kind == ApprovalGrant.Kind.ONCE else "session",
        error_type=ErrorType(grant.error_type),
        digest=grant.digest,
        patterns=tuple(grant.patterns),
        kinds=tuple(grant.kinds),
        expires_at=grant.ends_at,
        used_by=grant.used_by or None,
        used=grant.used_at is not None,
    )


def _has_news(session: AgentSession) -> bool:
    own = Approval.objects.for_workspace(session.workspace_id)
    return session.pk is not None and own.untold(session.session_id).exists()


def _render_override(grant: ApprovalGrant) -> dict[str, Any]:
    return {
        "approval_id": grant.approval.public_id,
        "grant_id": grant.public_id,
        "grant": grant.kind,
        "decided_by": grant.approval.decider,
    }
