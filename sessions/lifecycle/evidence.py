"""Find the evidence that an agent names for a criterion, among what was recorded under its intent.

A change or a command counts where it was recorded for the intent, in a session that had selected it: what
others did, or what the registry's own history holds from elsewhere, proves nothing of this work.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from controlplane.policy.calls.resolve_tool import resolve_tool
from controlplane.policy.calls.toolsets.kinds import ToolKind
from controlplane.policy.model import ToolCall, Verdict
from controlplane.shared.errors import InvalidInputError
from controlplane.shared.masking import cut_text, to_storable
from intents.evidence.schema import EvidenceType
from intents.summaries import one_line
from sessions.approvals.card.command import list_commands
from sessions.lifecycle.session_context import to_workspace_path
from sessions.models import AgentSession, ContainedRun
from traces.ledger.append import read_body
from traces.models import EntryKind, LedgerEntry, TraceFile

Piece = Mapping[str, Any]
MAX_SCANNED = 500  # newest entries of the intent, where a command is named by its text
MAX_CHANGES = 20  # newest changes of a file: somebody may have posted others for the intent
MAX_COMMAND = 2_000  # characters that a document keeps
_BATCH = 50
_NAMES: Mapping[str, tuple[str, ...]] = {
    EvidenceType.TRACE: ("id", "path"),
    EvidenceType.COMMAND: ("id", "command", "run_id"),
    EvidenceType.NOTE: ("text",),
}
_COMMAND_KINDS = frozenset({ToolKind.SHELL, ToolKind.MONITOR})


@dataclass(frozen=True)
class EvidenceFinder:
    """Find evidence in the workspace of `session` for the intent with this id."""

    session: AgentSession
    intent_id: str
    _known: dict[str, bool] = field(default_factory=dict)  # whether a session had selected the intent

    def find(self, piece: Piece) -> dict[str, Any]:
        """Return a piece of evidence as documents keep it. At most 4 queries.

        The first one that is named by a command's text costs up to 12 more.
        Raise InvalidInputError for one that is not there, or belongs to something else.
        """
        name = _choose_name(piece)
        if piece["type"] == EvidenceType.TRACE:
            return self._find_trace(name, piece[name])
        if piece["type"] == EvidenceType.COMMAND:
            return self._find_command(name, piece)
        text = to_storable(piece["text"])
        if not text.strip():
            raise InvalidInputError("a note must say something.")
        return {"type": EvidenceType.NOTE.value, "text": text}

    def _find_trace(self, name: str, value: str) -> dict[str, Any]:
        found = self._find_newest_change(value) if name == "path" else self._find_entry("trace", value)
        if found is None:
            raise InvalidInputError(f"no change of {_quote(value)} is recorded for {self.intent_id}.")
        self._require_intent(found, f"the trace {_quote(value)}")
        path = found.files.values_list("path", flat=True).order_by("pk").first()
        trace = {"type": EvidenceType.TRACE.value, "id": found.entry_id}
        return trace | ({"path": path} if path else {})

    def _find_newest_change(self, path: str) -> LedgerEntry | None:
        files = TraceFile.objects.filter(
            workspace_id=self.session.workspace_id,
            path=to_workspace_path(self.session, path),
            intent_id=self.intent_id,
            imported=False,
        )
        newest = files.select_related("entry").order_by("-pk")[:MAX_CHANGES]
        return next((file.entry for file in newest if self._had_selected(file.session_id)), None)

    def _find_command(self, name: str, piece: Piece) -> dict[str, Any]:
        decision = self._find_call(name, piece[name])
        what = f"the command {_quote(piece[name])}"
        self._require_intent(decision, what)
        body = read_body(decision) or {}
        commands = _read_commands(decision, body)
        if not commands:
            raise InvalidInputError(f"{what} is no command of a shell, or its content was removed.")
        if not _was_allowed(decision, body):
            raise InvalidInputError(f"{what} was not allowed, so it did not run.")
        run = ContainedRun.objects.filter(decision_id=decision.entry_id).first()
        return {
            "type": EvidenceType.COMMAND.value,
            "id": decision.entry_id,
            **({"run_id": run.public_id} if run is not None else {}),
            "command": cut_text(_choose_command(commands, piece.get("command")), MAX_COMMAND),
            "exit_status": _choose_exit_status(piece.get("exit_status"), run, what),
        }

    def _find_call(self, name: str, value: str) -> LedgerEntry:
        if name == "command":
            return self._find_newest_run(value)
        if name == "run_id":
            runs = ContainedRun.objects.for_workspace(self.session.workspace_id)
            decision_id = runs.filter(public_id=value).values_list("decision_id", flat=True).first()
            if decision_id is None:
                raise InvalidInputError(f"there is no contained run {_quote(value)} in this workspace.")
            return self._find_entry("decision", decision_id)
        return self._find_entry("decision", value)

    def _find_newest_run(self, command: str) -> LedgerEntry:
        row_id = self._newest_runs.get(_to_stored(command))
        if row_id is None:
            raise InvalidInputError(
                f"no run of {_quote(command)} is recorded for {self.intent_id}: send the command as the gate "
                "was asked for it, or its decision_id."
            )
        return LedgerEntry.objects.with_body().get(pk=row_id)

    @cached_property
    def _newest_runs(self) -> dict[str, int]:
        """Map commands that ran under the intent to the rows of their newest decisions. Read once a call."""
        runs: dict[str, int] = {}
        for decision in self._scan_commands():
            body = read_body(decision) or {}
            if _was_allowed(decision, body):
                commands = _read_commands(decision, body)
                for text in (*commands, "\n".join(commands)):
                    runs.setdefault(text.strip(), decision.pk)
        return runs

    def _scan_commands(self) -> Iterator[LedgerEntry]:
        """Yield the calls of shells under the intent, newest first, with their bodies."""
        entries = LedgerEntry.objects.for_workspace(self.session.workspace_id)
        rows = entries.filter(intent_id=self.intent_id).newest_first()
        newest = rows.only("kind", "tool", "agent")[:MAX_SCANNED]
        ids = [row.pk for row in newest if row.kind == EntryKind.DECISION and _is_shell(row.tool, row.agent)]
        for start in range(0, len(ids), _BATCH):
            yield from entries.filter(pk__in=ids[start : start + _BATCH]).with_body().newest_first()

    def _find_entry(self, kind: str, entry_id: str) -> LedgerEntry:
        entries = LedgerEntry.objects.for_workspace(self.session.workspace_id).of_kind(kind).with_body()
        found = entries.filter(entry_id=entry_id).first()
        if found is None:
            raise InvalidInputError(f"there is no {kind} {_quote(entry_id)} in this workspace.")
        return found

    def _require_intent(self, entry: LedgerEntry, what: str) -> None:
        if entry.intent_id != self.intent_id or not self._had_selected(entry.session_id):
            raise InvalidInputError(f"{what} belongs to no session on {self.intent_id}.")

    def _had_selected(self, session_id: str) -> bool:
        """The ledger says it: a session may have ended since, or been taken up again without the intent."""
        if session_id not in self._known:
            events = LedgerEntry.objects.for_workspace(self.session.workspace_id).of_kind(EntryKind.SESSION)
            selected = events.of_session(session_id).filter(outcome="selected", intent_id=self.intent_id)
            self._known[session_id] = selected.exists()
        return self._known[session_id]


def _choose_name(piece: Piece) -> str:
    """Return the field that names the evidence. Raise InvalidInputError for none, several, or others."""
    names = _NAMES[piece["type"]]
    named = [name for name in names if name in piece]
    if len(named) != 1:
        raise InvalidInputError(f"a {piece['type']} is named by one of: {', '.join(names)}.")
    allowed = {"type", *named, *(["exit_status"] if piece["type"] == EvidenceType.COMMAND else [])}
    others = sorted(set(piece) - allowed)
    if others:
        raise InvalidInputError(f"a {piece['type']} has no {others[0]}.")
    return named[0]


def _is_shell(tool: str, agent: str) -> bool:
    resolved = resolve_tool(ToolCall(tool, {}, agent=agent)).tool
    return resolved is not None and resolved.kind in _COMMAND_KINDS


def _read_commands(decision: LedgerEntry, body: Mapping[str, Any]) -> list[str]:
    """Return the commands of a recorded call, masked as they were stored; none for a call of another tool."""
    resolved = resolve_tool(ToolCall(decision.tool, body.get("input"), agent=decision.agent))
    is_shell = resolved.tool is not None and resolved.tool.kind in _COMMAND_KINDS
    return list_commands(resolved) if is_shell else []


def _choose_command(commands: list[str], named: str | None) -> str:
    """Return the command of a call that was named by its text; else all of them."""
    expected = _to_stored(named or "")
    return next((command for command in commands if command.strip() == expected), "\n".join(commands))


def _to_stored(command: str) -> str:
    return str(to_storable(command)).strip()


def _was_allowed(decision: LedgerEntry, body: Mapping[str, Any]) -> bool:
    return bool(body.get("answered", decision.outcome) == Verdict.ALLOW)


def _choose_exit_status(claimed: int | None, run: ContainedRun | None, what: str) -> int:
    """Return the exit status: as a contained run has reported it, else by the agent's word."""
    if run is not None and run.exit_code is None:
        raise InvalidInputError(f"{what} has not reported how it ended.")
    if run is not None and run.exit_code is not None:
        if claimed is not None and claimed != run.exit_code:
            raise InvalidInputError(f"{what} ended with exit status {run.exit_code}, not {claimed}.")
        return run.exit_code
    if claimed is None:
        raise InvalidInputError(f"{what}: say its exit_status.")
    return int(claimed)  # JSON may write it as 0.0


def _quote(text: str) -> str:
    return f"'{one_line(to_storable(text), 100)}'"
