"""Read the traces and decisions about some paths, in chunks, for a reconciliation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from django.db.models import QuerySet

from controlplane.policy.model import ToolClass, Verdict
from sessions.reconciliation.runs import RunEffect, list_run_effects
from sessions.reconciliation.sealed_changes import (
    EMPTY_FILE,
    UNKNOWN_CHANGE,
    SealedChange,
    load_sealed_changes,
)
from traces.entries.excerpts import read_body_or_excerpt
from traces.models import EntryKind, LedgerEntry, TraceFile

Value = TypeVar("Value")
CHUNK_SIZE = 500  # values a query: SQLite allows a limited number of parameters
MAX_TRACES_PER_PATH = 50  # traces of one path, the newest
MAX_CHANGES = 20_000  # entries whose change is read, the newest
MAX_DECISIONS = 20_000  # of the workspace, the newest, for paths that no trace speaks of


@dataclass(frozen=True, slots=True)
class TraceRecord:
    path: str
    content_hash: str
    deleted: bool
    session_id: str
    intent_id: str
    entry_id: str
    imported: bool
    row_id: int
    received_at: datetime


@dataclass(slots=True)
class Evidence:
    """`calls` and `overrides` map (session, path) to the decision that allowed a call to change the path.

    A path stands for all paths below it, because a call may name a directory. `denied` maps refused paths.
    `changes` are what traces seal of the change itself, by row id and path.
    `unreadable_sessions` have decisions of which neither the body nor an excerpt is left in the database.
    What contained runs changed is in `runs`, newest first; what landed of it counts as a call on that path.
    """

    traces: dict[str, list[TraceRecord]] = field(default_factory=dict)
    calls: dict[tuple[str, str], str] = field(default_factory=dict)
    overrides: dict[tuple[str, str], str] = field(default_factory=dict)
    denied: dict[str, dict[str, str]] = field(default_factory=dict)
    allowed: dict[str, dict[str, str]] = field(default_factory=dict)
    runs: dict[str, list[RunEffect]] = field(default_factory=dict)
    unreadable_sessions: set[str] = field(default_factory=set)
    changes: dict[tuple[int, str], SealedChange] = field(default_factory=dict)

    def traces_for(self, path: str) -> list[TraceRecord]:
        """Return the traces of a path, newest first."""
        return self.traces.get(path, [])

    def list_current(self, path: str, committed_at: datetime | None = None) -> list[TraceRecord]:
        """Return the traces of a path that no later one of the same session has replaced, newest first.

        What was recorded after `committed_at` has not replaced anything in that commit: the session may work
        on while an older commit is checked. Sessions may work on branches of their own, so one does not
        replace what another has left. A call that changed nothing tells what was there, not who wrote it.
        """
        latest: dict[str, TraceRecord] = {}
        current = []
        for trace in self.traces_for(path):
            if not (trace.content_hash or trace.deleted):
                continue  # what it left is not known, so it replaces nothing
            is_later = committed_at is not None and trace.received_at > committed_at
            last = trace if is_later else latest.setdefault(trace.session_id, trace)
            is_newest = (trace.content_hash, trace.deleted) == (last.content_hash, last.deleted)
            if (trace.imported or is_newest) and not self.is_empty(trace):
                current.append(trace)
        return current

    def is_empty(self, trace: TraceRecord) -> bool:
        """Return whether the call behind a trace wrote what was there already."""
        change = self.changes.get((trace.row_id, trace.path), UNKNOWN_CHANGE)
        return change.has_no_line and not trace.deleted and trace.content_hash != EMPTY_FILE

    def starts_elsewhere(self, trace: TraceRecord, base_hash: str) -> bool:
        """Return whether a trace leads back to a content that is not the base, and that no trace has left.

        False wherever that is not known: no chain of traces may end in doubt.
        """
        traces = self.traces_for(trace.path)
        to_visit, visited = [self._find_previous_hash(trace)], set[str]()
        if len(traces) >= MAX_TRACES_PER_PATH:
            return False
        while to_visit:
            content_hash = to_visit.pop()
            if content_hash in {"", base_hash}:
                return False
            if content_hash not in visited:
                visited.add(content_hash)
                before = [one for one in traces if one.content_hash == content_hash]
                to_visit += [self._find_previous_hash(one) for one in before if not self.is_empty(one)]
        return True

    def _find_previous_hash(self, trace: TraceRecord) -> str:
        return self.changes.get((trace.row_id, trace.path), UNKNOWN_CHANGE).previous_hash

    def find_decision(self, session_id: str, path: str) -> str:
        """Return the id of the decision that allowed a session to change a path; "" without one."""
        return next(
            (found for name in _path_and_parents(path) if (found := self.calls.get((session_id, name)))), ""
        )

    def has_call_on_both(self, old_path: str, path: str) -> bool:
        """Return whether one allowed call named both paths, as a move does."""
        sessions = {session for session, name in self.calls if name == path}
        decisions = ((self.calls.get((one, old_path)), self.calls.get((one, path))) for one in sessions)
        return any(old is not None and old == new for old, new in decisions)

    def find_run_effect(self, path: str, content_hash: str | None, *, landed: bool) -> RunEffect | None:
        """Return the newest effect of a contained run that left this content, and was or was not to land."""
        effects = self.runs.get(path, ())
        fitting = (one for one in effects if (one.after or None) == content_hash and one.landed is landed)
        return next(fitting, None)

    def is_overridden(self, path: str) -> bool:
        return any((one.session_id, path) in self.overrides for one in self.traces_for(path))

    def find_allowed(self, path: str) -> dict[str, str] | None:
        return next((found for name in _path_and_parents(path) if (found := self.allowed.get(name))), None)


def gather_evidence(
    workspace_id: int, paths: Iterable[str], *, session_id: str = "", intent_id: str = ""
) -> Evidence:
    """Read the evidence on canonical paths, of one session or intent only where it is named."""
    evidence, paths = Evidence(), set(paths)
    for chunk in _chunks(sorted(paths)):
        for trace in _read_traces(workspace_id, chunk, session_id, intent_id):
            path_traces = evidence.traces.setdefault(trace.path, [])
            if len(path_traces) < MAX_TRACES_PER_PATH:
                path_traces.append(trace)
    _add_changes(evidence)
    decisions = LedgerEntry.objects.filter(workspace_id=workspace_id, kind=EntryKind.DECISION)
    newest = decisions.filter(session_id=session_id) if session_id else decisions
    _add_decisions(evidence, newest.order_by("-pk")[:MAX_DECISIONS])
    sessions = {one.session_id for found in evidence.traces.values() for one in found}
    for chunk in _chunks(sorted(sessions)):
        _add_decisions(evidence, decisions.filter(session_id__in=chunk).order_by("-pk"))
    _add_runs(evidence, list_run_effects(workspace_id, paths, session_id=session_id))
    return evidence


def _add_runs(evidence: Evidence, effects: Iterable[RunEffect]) -> None:
    """Add what contained runs reported; a run has its decision, which names no paths."""
    for effect in effects:
        evidence.runs.setdefault(effect.path, []).append(effect)
        if effect.landed:
            evidence.calls.setdefault((effect.session_id, effect.path), effect.decision_id)
        if effect.approved:
            evidence.overrides.setdefault((effect.session_id, effect.path), effect.decision_id)


def _add_changes(evidence: Evidence) -> None:
    """Add what live traces seal of their changes. 1 query for 500 entries."""
    live = {one.row_id for found in evidence.traces.values() for one in found if not one.imported}
    for chunk in _chunks(sorted(live, reverse=True)[:MAX_CHANGES]):
        evidence.changes.update(load_sealed_changes(chunk))


def _read_traces(
    workspace_id: int, paths: Sequence[str], session_id: str, intent_id: str
) -> Iterator[TraceRecord]:
    rows = TraceFile.objects.filter(workspace_id=workspace_id, path__in=paths)
    if session_id:
        rows = rows.filter(session_id=session_id)
    if intent_id:
        rows = rows.filter(intent_id=intent_id)
    identity = ("session_id", "intent_id", "entry__entry_id", "imported", "entry_id", "entry__received_at")
    for row in rows.order_by("-pk").values_list("path", "content_hash", "deleted", *identity).iterator():
        yield TraceRecord(*row)


def _add_decisions(evidence: Evidence, decisions: QuerySet[LedgerEntry]) -> None:
    """Add decisions, which come newest first; the newest about a path wins."""
    for entry in decisions.select_related("body", "excerpt").iterator(chunk_size=CHUNK_SIZE):
        body = read_body_or_excerpt(entry)
        if body is None:
            evidence.unreadable_sessions.add(entry.session_id)
            continue
        if body.get("classification") != ToolClass.DESTRUCTIVE.value:
            continue
        reference = {
            "decision_id": entry.entry_id,
            "session_id": entry.session_id,
            "intent_id": entry.intent_id,
        }
        if body.get("answered") != Verdict.ALLOW.value:
            for path in body.get("offending") or body.get("targets") or ():
                evidence.denied.setdefault(path, reference)
            continue
        for path in body.get("targets") or ():
            evidence.allowed.setdefault(path, reference)
            evidence.calls.setdefault((entry.session_id, path), entry.entry_id)
            if body.get("override"):
                evidence.overrides.setdefault((entry.session_id, path), entry.entry_id)


def _path_and_parents(path: str) -> Iterator[str]:
    """Yield the path and its parent directories."""
    while path:
        yield path
        path = path.rpartition("/")[0]


def _chunks(values: Sequence[Value]) -> Iterator[Sequence[Value]]:
    for at in range(0, len(values), CHUNK_SIZE):
        yield values[at : at + CHUNK_SIZE]
