"""Find the changes of other sessions, now and again as a condition of the append.

A path that nobody else has changed is remembered, and the append of each decision checks that this is
still so; a path that somebody has changed is queried each time. So a known path costs no query, and no
decision is recorded that missed another agent's change.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from django.db.models import Count, Max

from controlplane.policy.model import ToolClass
from controlplane.shared.sql_names import column, table_name
from sessions.models import AgentSession
from traces.ledger.append import Condition, read_body
from traces.models import EntryKind, LedgerBody, LedgerEntry, TraceFile

MAX_REMEMBERED = 10_000  # paths of one session
MAX_CALLS_READ = 500  # the newest of the session, searched for its last access to a path

# A count says enough: every change adds a row. Imported rows are left out, they tell of the past.
UNCHANGED = (
    f"(SELECT COUNT(*) FROM {table_name(TraceFile)} f"  # noqa: S608  names from the models
    f" WHERE f.{column(TraceFile, 'workspace_id')} = %s AND f.{column(TraceFile, 'path')} IN ({{paths}})"
    f" AND NOT f.{column(TraceFile, 'imported')} AND f.{column(TraceFile, 'session_id')} NOT IN (%s, '')"
    f" AND f.{column(TraceFile, 'entry')} > %s) = %s"
)


class ConcurrentChanges:
    """Changes by a session and by others since the ledger entry `since`, the session's own first one."""

    def __init__(self, workspace_id: int, session_id: str, since: int) -> None:
        self.workspace_id, self.session_id, self.since = workspace_id, session_id, since
        self._counts: dict[str, int] = {}  # of others' changes of a path, as last seen

    def find_changes_by_others(self, paths: Sequence[str]) -> dict[str, str]:
        """Map paths to the live session that changed them since this one last read or changed them.

        0 queries for paths known as untouched, 1 for others, 3 where somebody did change one.
        """
        unknown = [path for path in paths if self._counts.get(path) != 0]
        if not unknown:
            return {}
        if len(self._counts) + len(unknown) > MAX_REMEMBERED:
            self._counts.clear()
        newest = self._find_newest(unknown)
        if not newest:
            return {}
        accessed = self._find_accesses({path for path, _ in newest})
        return {
            path: by for (path, by), entry_id in newest.items() if entry_id > accessed.get(path, self.since)
        }

    def list_session_changes(self) -> set[str]:
        """Return the targets of the session's own allowed changes. 1 query, one row a call."""
        rows = LedgerBody.objects.filter(
            entry__workspace_id=self.workspace_id,
            entry__session_id=self.session_id,
            entry__kind=EntryKind.DECISION,
            entry__outcome="allow",
            entry_id__gt=self.since,
        )
        bodies = (json.loads(bytes(body)) for body in rows.values_list("body", flat=True).iterator())
        changed = (body for body in bodies if body.get("classification") == ToolClass.DESTRUCTIVE)
        return {path for body in changed for path in body.get("targets", ())}

    def unchanged(self, paths: Sequence[str]) -> Condition | None:
        """Return the SQL condition that nobody else has changed these paths since they were queried."""
        known = [path for path in dict.fromkeys(paths) if path in self._counts]
        if not known:
            return None
        count = sum(self._counts[path] for path in known)
        sql = UNCHANGED.format(paths=", ".join(["%s"] * len(known)))
        return Condition(sql, (self.workspace_id, *known, self.session_id, self.since, count))

    def _find_newest(self, paths: list[str]) -> dict[tuple[str, str], int]:
        """Map (path, session) to the newest change by a live session. Counts are kept of all sessions."""
        self._counts |= dict.fromkeys(paths, 0)
        rows = (
            TraceFile.objects.filter(workspace_id=self.workspace_id, path__in=paths, imported=False)
            .filter(entry_id__gt=self.since)
            .exclude(session_id__in=[self.session_id, ""])
            .values_list("path", "session_id")
            .annotate(count=Count("pk"), newest=Max("entry_id"))
            .order_by("newest")
        )
        changes = list(rows)
        for path, _, count, _ in changes:
            self._counts[path] += count
        live = self._filter_live({session_id for _, session_id, _, _ in changes})
        return {(path, by): newest for path, by, _, newest in changes if by in live}

    def _filter_live(self, session_ids: set[str]) -> set[str]:
        if not session_ids:
            return set()
        rows = AgentSession.objects.filter(workspace_id=self.workspace_id, session_id__in=session_ids)
        return set(rows.not_ended().values_list("session_id", flat=True))

    def _find_accesses(self, paths: set[str]) -> dict[str, int]:
        """Map each path to the newest of the session's own allowed calls that read or changed it."""
        rows = LedgerEntry.objects.filter(
            workspace_id=self.workspace_id,
            session_id=self.session_id,
            kind=EntryKind.DECISION,
            outcome="allow",
            pk__gt=self.since,
        )
        accessed: dict[str, int] = {}
        for entry in rows.select_related("body").order_by("-pk")[:MAX_CALLS_READ]:
            body = read_body(entry) or {}
            for path in paths & {*body.get("reads", ()), *body.get("targets", ())}:
                accessed.setdefault(path, entry.pk)
        return accessed


def find_concurrent_changes(session: AgentSession) -> ConcurrentChanges | None:
    """Return None for a session that nobody has opened. 1 query."""
    entries = LedgerEntry.objects.filter(workspace_id=session.workspace_id, session_id=session.session_id)
    first = entries.order_by("pk").values_list("pk", flat=True).first()
    return None if first is None else ConcurrentChanges(session.workspace_id, session.session_id, first)
