"""What this session changed, and what others changed since it looked: asked for, and held to in the append.

A path that nobody else has changed is remembered, and the append of each decision makes sure that this is
still so; one that somebody has changed is looked at each time. So a known path costs no query, and no
decision is recorded that missed another agent's change.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from django.db.models import Count, Max

from controlplane.policy.model import SessionState, ToolClass
from sessions.models import AgentSession
from traces.ledger.append import Condition, body_of
from traces.models import Kind, LedgerBody, LedgerEntry, TraceFile

MAX_REMEMBERED = 10_000  # paths of one session
MAX_LOOKS = 500  # own calls in which a look at a path is searched for, the newest

UNCHANGED = (
    "(SELECT COUNT(*) FROM traces_tracefile f WHERE f.workspace_id = %s AND f.path IN ({paths})"
    " AND NOT f.imported AND f.session_id NOT IN (%s, '') AND f.entry_id > %s) = %s"
)


class Elsewhere:
    """The work of others, seen from one session since the ledger's entry `since`, its own first one."""

    def __init__(self, workspace_id: int, session_id: str, since: int) -> None:
        self.workspace_id, self.session_id, self.since = workspace_id, session_id, since
        self._counts: dict[str, int] = {}  # of others' changes of a path, as last seen

    def changed_by_others(self, paths: Sequence[str]) -> dict[str, str]:
        """Path to session, where a live one changed it since this one looked at it or changed it last.

        0 queries for paths that are known as untouched, 1 for others, 3 where somebody did change one.
        """
        asked = [path for path in paths if self._counts.get(path) != 0]
        if not asked:
            return {}
        if len(self._counts) + len(asked) > MAX_REMEMBERED:
            self._counts.clear()
        newest = self._newest(asked)
        if not newest:
            return {}
        looked = self._looked({path for path, _ in newest})
        return {
            path: by for (path, by), entry_id in newest.items() if entry_id > looked.get(path, self.since)
        }

    def changed_here(self) -> set[str]:
        """The targets of its own allowed changes. 1 query, and as many rows as it has calls."""
        rows = LedgerBody.objects.filter(
            entry__workspace_id=self.workspace_id,
            entry__session_id=self.session_id,
            entry__kind=Kind.DECISION,
            entry__outcome="allow",
            entry_id__gt=self.since,
        )
        bodies = (json.loads(bytes(body)) for body in rows.values_list("body", flat=True).iterator())
        changed = (body for body in bodies if body.get("classification") == ToolClass.DESTRUCTIVE)
        return {path for body in changed for path in body.get("targets", ())}

    def holds(self, paths: Sequence[str]) -> Condition | None:
        """True in the database while nobody else has changed these paths since they were asked about."""
        known = [path for path in dict.fromkeys(paths) if path in self._counts]
        if not known:
            return None
        count = sum(self._counts[path] for path in known)
        sql = UNCHANGED.format(paths=", ".join(["%s"] * len(known)))
        return Condition(sql, (self.workspace_id, *known, self.session_id, self.since, count))

    def _newest(self, paths: list[str]) -> dict[tuple[str, str], int]:
        """(path, session) to the newest entry of a live session's change; the counts are of all sessions'."""
        self._counts |= dict.fromkeys(paths, 0)
        rows = (
            TraceFile.objects.filter(workspace_id=self.workspace_id, path__in=paths, imported=False)
            .filter(entry_id__gt=self.since)
            .exclude(session_id__in=[self.session_id, ""])
            .values_list("path", "session_id")
            .annotate(count=Count("pk"), newest=Max("entry_id"))
            .order_by("newest")
        )
        found = list(rows)
        for path, _, count, _ in found:
            self._counts[path] += count
        live = self._live({session_id for _, session_id, _, _ in found})
        return {(path, by): newest for path, by, _, newest in found if by in live}

    def _live(self, session_ids: set[str]) -> set[str]:
        if not session_ids:
            return set()
        rows = AgentSession.objects.filter(workspace_id=self.workspace_id, session_id__in=session_ids)
        return set(rows.exclude(state=SessionState.ENDED.value).values_list("session_id", flat=True))

    def _looked(self, paths: set[str]) -> dict[str, int]:
        """The newest of its own allowed calls that read or changed each path."""
        rows = LedgerEntry.objects.filter(
            workspace_id=self.workspace_id,
            session_id=self.session_id,
            kind=Kind.DECISION,
            outcome="allow",
            pk__gt=self.since,
        )
        looked: dict[str, int] = {}
        for entry in rows.select_related("body").order_by("-pk")[:MAX_LOOKS]:
            body = body_of(entry) or {}
            for path in paths & {*body.get("reads", ()), *body.get("targets", ())}:
                looked.setdefault(path, entry.pk)
        return looked


def elsewhere_of(session: AgentSession) -> Elsewhere | None:
    """None for a session that nobody has opened. 1 query."""
    own = LedgerEntry.objects.filter(workspace_id=session.workspace_id, session_id=session.session_id)
    first = own.order_by("pk").values_list("pk", flat=True).first()
    return None if first is None else Elsewhere(session.workspace_id, session.session_id, first)
