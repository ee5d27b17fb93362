"""What traces and decisions say about some paths, read in pieces for a reconciliation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from django.db.models import QuerySet

from controlplane.policy.model import ToolClass, Verdict
from traces.ledger.append import body_of
from traces.models import Kind, LedgerEntry, TraceFile

PIECE = 500  # values a query: SQLite allows a limited number of parameters
MAX_KEPT = 50  # traces of one path, the newest
MAX_DECISIONS = 20_000  # of the workspace, the newest, for paths that no trace speaks of


@dataclass(frozen=True, slots=True)
class Traced:
    path: str
    content_hash: str
    deleted: bool
    session_id: str
    intent_id: str
    entry_id: str
    imported: bool


@dataclass(slots=True)
class Evidence:
    """`calls` and `overrides` map (session, path) to the decision that let a call change the path.

    A path stands for all below it, because a call may name a folder. `denied` is what the gate refused.
    """

    traces: dict[str, list[Traced]] = field(default_factory=dict)
    calls: dict[tuple[str, str], str] = field(default_factory=dict)
    overrides: dict[tuple[str, str], str] = field(default_factory=dict)
    denied: dict[str, dict[str, str]] = field(default_factory=dict)
    allowed: dict[str, dict[str, str]] = field(default_factory=dict)

    def of(self, path: str) -> list[Traced]:
        """The newest first."""
        return self.traces.get(path, [])

    def let(self, session_id: str, path: str) -> str:
        """The decision by which a session may have changed a path; "" without one."""
        return next((found for name in _upwards(path) if (found := self.calls.get((session_id, name)))), "")

    def overridden(self, path: str) -> bool:
        return any((one.session_id, path) in self.overrides for one in self.of(path))

    def allowed_anywhere(self, path: str) -> dict[str, str] | None:
        return next((found for name in _upwards(path) if (found := self.allowed.get(name))), None)


def gather(workspace_id: int, paths: Iterable[str], *, session_id: str = "", intent_id: str = "") -> Evidence:
    """What is known about canonical paths; of one session or intent only, where it is named."""
    evidence = Evidence()
    for piece in _pieces(sorted(set(paths))):
        for one in _traced(workspace_id, piece, session_id, intent_id):
            kept = evidence.traces.setdefault(one.path, [])
            if len(kept) < MAX_KEPT:
                kept.append(one)
    decisions = LedgerEntry.objects.filter(workspace_id=workspace_id, kind=Kind.DECISION)
    newest = decisions.filter(session_id=session_id) if session_id else decisions
    _take(evidence, newest.order_by("-pk")[:MAX_DECISIONS])
    sessions = {one.session_id for found in evidence.traces.values() for one in found}
    for piece in _pieces(sorted(sessions)):
        _take(evidence, decisions.filter(session_id__in=piece).order_by("-pk"))
    return evidence


def _traced(workspace_id: int, paths: Sequence[str], session_id: str, intent_id: str) -> Iterator[Traced]:
    rows = TraceFile.objects.filter(workspace_id=workspace_id, path__in=paths)
    if session_id:
        rows = rows.filter(session_id=session_id)
    if intent_id:
        rows = rows.filter(intent_id=intent_id)
    names = ("path", "content_hash", "deleted", "session_id", "intent_id", "entry__entry_id", "imported")
    for row in rows.order_by("-pk").values_list(*names).iterator():
        yield Traced(*row)


def _take(evidence: Evidence, decisions: QuerySet[LedgerEntry]) -> None:
    """The decisions come newest first, and the newest about a path is kept."""
    for entry in decisions.select_related("body").iterator(chunk_size=PIECE):
        body = body_of(entry)
        if body is None or body.get("classification") != ToolClass.DESTRUCTIVE.value:
            continue
        about = {"decision_id": entry.entry_id, "session_id": entry.session_id, "intent_id": entry.intent_id}
        if body.get("answered") != Verdict.ALLOW.value:
            for path in body.get("offending") or body.get("targets") or ():
                evidence.denied.setdefault(path, about)
            continue
        for path in body.get("targets") or ():
            evidence.allowed.setdefault(path, about)
            evidence.calls.setdefault((entry.session_id, path), entry.entry_id)
            if body.get("override"):
                evidence.overrides.setdefault((entry.session_id, path), entry.entry_id)


def _upwards(path: str) -> Iterator[str]:
    """The path, and the folders that hold it."""
    while path:
        yield path
        path = path.rpartition("/")[0]


def _pieces(values: Sequence[str]) -> Iterator[Sequence[str]]:
    for at in range(0, len(values), PIECE):
        yield values[at : at + PIECE]
