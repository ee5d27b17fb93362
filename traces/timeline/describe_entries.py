"""Describe ledger entries in plain words, one row each, for timelines and lists.

Bodies are untrusted text: pages escape it, and nothing here may fail on a malformed one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from controlplane.policy.calls.input_fields import COMMAND_KEYS, get_first, to_text_list
from controlplane.templatetags.meanings import find_meaning
from controlplane.templatetags.names import call_verb
from controlplane.templatetags.times import format_duration
from traces.entries.mutation_class_check import has_class_mismatch, read_computed_class
from traces.interchange.formats import foreign_chain
from traces.interchange.imports import rewrite_check
from traces.ledger.append import read_body
from traces.ledger.missing_bodies import MissingBodies
from traces.models import EntryKind, LedgerEntry, LedgerLeaf
from traces.timeline.describe_settings import describe_settings_change

MAX_OBJECT_LENGTH = 400
MAX_NOTE_LENGTH = 300
PATH_FIELDS = ("file_path", "path", "notebook_path", "filePath")
TEXT_FIELDS = ("pattern", "regex", "query", "intent_id", "url")
IMPORTED = {"entries": "new", "duplicates": "known before", "warnings": "remarks"}
TOOL_CLASSES = {"SAFE": "reads", "DESTRUCTIVE": "changes files"}
REFUSALS = {"ask": "held", "deny": "denied"}
SESSION_STATES = {
    "opened": "REQUEST",
    "reasoning": "REASONING",
    "selected": "ACTION",
    "ended": "ENDED",
    "resumed": "REQUEST",
}
CONFLICTS = {
    "changed_by_other_session": "{path} was changed by session {by} in the meantime.",
    "owned_by_other_intent": "{path} is owned by {by} as well.",
}
APPROVALS = {
    "PENDING": ("ask", "Approval requested"),
    "APPROVED": ("approved", "Approved"),
    "REJECTED": ("rejected", "Rejected"),
    "EXPIRED": ("expired", "Timed out, nobody decided"),
    "CANCELLED": ("cancelled", "Cancelled"),
    "REVOKED": ("revoked", "Grant revoked"),
}
REQUESTS = {"scope": "Scope requested", "completion": "Completion requested"}
GRANTS = {"once": "Approved once", "session": "Approved for the session", "scope": "Widened the scope"}
LESSON_VERBS = {
    "decided": "Decided",
    "constrained": "Constrained",
    "again": "Learned again",
    "retired": "Retired",
    "restored": "Restored",
}


@dataclass(frozen=True, slots=True)
class SealState:
    state: str  # sealed | sealing
    number: int


@dataclass(slots=True)
class TimelineRow:
    """A row of a timeline. `times` counts similar entries folded into it, which are its `members`.
    The steps of one held call are one row as well (`traces.timeline.held_calls`).

    `ran` is False for an attempt. `number` is the entry's row id. `computed` is the computed class of a
    change; `disagrees` when its agent claimed the other one.
    """

    id: str
    at: datetime
    kind: str  # call | trace | approval | phase
    outcome: str
    verb: str
    object: str = ""
    object_is: str = "text"  # path | command | text
    note: str = ""
    meta: str = ""
    took_ms: int | None = None
    times: int = 1
    seal: SealState | None = None
    approval_id: str = ""
    ran: bool | None = None
    lines: str = ""
    number: int = 0
    computed: str = ""
    disagrees: bool = False
    members: list[TimelineRow] = field(default_factory=list, repr=False)
    numbers: tuple[int, ...] = ()  # row ids of all entries that the row tells of
    session_id: str = field(default="", repr=False)
    tool: str = field(default="", repr=False)
    safe: bool = field(default=False, repr=False)
    # Of a held call: held | requested | extended | decided | returned | ran.
    step: str = field(default="", repr=False)


def describe(entry: LedgerEntry, missing_bodies: MissingBodies | None = None) -> TimelineRow:
    """Describe one entry. 0 queries when body, leaf and files were fetched with it.

    For many entries pass the `missing_bodies` of their workspace, so that they share its queries.
    """
    row = TimelineRow(
        f"entry-{entry.pk}",
        entry.received_at,
        "call",
        entry.outcome.lower(),
        entry.kind.title(),
        number=entry.pk,
        numbers=(entry.pk,),
        session_id=entry.session_id,
        tool=entry.tool,
    )
    row.seal = find_seal_state(entry)
    body = read_body(entry)
    missing = (
        None if body is not None else (missing_bodies or MissingBodies(entry.workspace_id)).explain(entry)
    )
    if missing is None or missing.archived:
        _DESCRIBERS.get(entry.kind, _describe_other)(row, entry, body or {})
    if missing is not None:
        row.note = missing.text
    row.object, row.note = _shorten(row.object, MAX_OBJECT_LENGTH), _shorten(row.note, MAX_NOTE_LENGTH)
    return row


def find_seal_state(entry: LedgerEntry) -> SealState:
    try:
        return SealState("sealed", entry.leaf.seq)
    except LedgerLeaf.DoesNotExist:
        return SealState("sealing", 0)


def _describe_decision(row: TimelineRow, entry: LedgerEntry, body: dict[str, Any]) -> None:
    refusal = REFUSALS.get(entry.outcome, "")
    action = call_verb(entry.tool, body.get("input"), entry.agent)
    row.object, row.object_is = _describe_subject(body)
    row.verb = f"{action} {refusal}".strip()
    row.safe = body.get("classification") == "SAFE"
    row.approval_id = _text(body.get("approval_id"))
    row.note = _text(body.get("error")) or _describe_conflicts(body.get("conflicts"))
    tool_class = TOOL_CLASSES.get(_text(body.get("classification")), "")
    row.meta = ", ".join(part for part in (tool_class, name_outcome(row.outcome)) if part)
    if refusal:
        row.ran = body.get("answered", entry.outcome) == "allow" or False
    if row.approval_id and entry.outcome in {"ask", "allow"}:
        row.step = "held"
    if body.get("override"):
        row.outcome = "override"
        row.meta = "allowed by an approval"
    for answered in (body.get("override"), body.get("rejection")):
        if isinstance(answered, dict) and _text(answered.get("approval_id")):
            row.approval_id, row.step = _text(answered["approval_id"]), "returned"
    if entry.error_type == "STALE_FILE" and row.outcome == "deny":
        row.outcome = "stale"
    if entry.tool == "select_active_intent" and row.outcome == "allow":
        row.kind, row.verb, row.object, row.note = "phase", "ACTION", "", f"selected {entry.intent_id}"


def name_outcome(outcome: str) -> str:
    """Return the word that badges use for an outcome, in the middle of a sentence."""
    return str(find_meaning(outcome).word).lower() or outcome


def _describe_conflicts(conflicts: Any) -> str:
    """Describe who else works on the files of a call that was allowed all the same."""
    sentences = [
        CONFLICTS[conflict["reason"]].format(path=conflict["path"], by=conflict["by"])
        for conflict in conflicts or ()
        if conflict.get("reason") in CONFLICTS
    ]
    return " ".join(sentences)


def _describe_trace(row: TimelineRow, entry: LedgerEntry, body: dict[str, Any]) -> None:
    paths = sorted({file.path for file in entry.files.all()})
    row.kind, row.verb, row.outcome = "trace", "Changed", "allow"
    row.object, row.object_is = (paths[0], "path") if paths else ("no file", "text")
    row.note = f"and {len(paths) - 1} more" if len(paths) > 1 else ""
    row.lines = format_lines(body)
    row.computed, row.disagrees = read_computed_class(entry), has_class_mismatch(entry)
    class_text = entry.outcome or (row.computed and f"computed {row.computed}")
    row.meta = ", ".join(part for part in (row.lines and f"lines {row.lines}", class_text) if part)


def _describe_approval(row: TimelineRow, entry: LedgerEntry, body: dict[str, Any]) -> None:
    row.kind = "approval"
    row.outcome, row.verb = APPROVALS.get(entry.outcome, (row.outcome, entry.outcome.title()))
    row.step = "requested" if entry.outcome == "PENDING" else "decided"
    grant, requested = _text(body.get("grant")), entry.outcome == "PENDING"
    if requested and _text(body.get("event")) == "extended":
        row.verb, row.step = "Deadline extended", "extended"
    elif requested:
        row.verb = REQUESTS.get(_text(body.get("kind")), row.verb)
    elif entry.outcome == "APPROVED" and grant:
        row.verb = GRANTS.get(grant, "Approved")
    row.object, row.object_is = _describe_approval_subject(entry, body)
    decider = _text(body.get("decider"))
    row.note = ": ".join(part for part in (decider, _text(body.get("comment"))) if part)
    row.note = row.note or (_text(body.get("message")) if requested else "")
    row.approval_id = _text(body.get("approval_id"))


def _describe_approval_subject(entry: LedgerEntry, body: dict[str, Any]) -> tuple[str, str]:
    """Return (what the approval is about, its kind): paths, patterns, the tool or an intent."""
    for name in ("targets", "requested", "patterns"):
        values = body.get(name)
        if isinstance(values, list) and values:
            return _list_first(values, "path" if name == "targets" else "text")
    return (entry.tool, "text") if entry.tool else (entry.intent_id, "text")


def _describe_session(row: TimelineRow, entry: LedgerEntry, body: dict[str, Any]) -> None:
    if body.get("event") == "run":
        _describe_run(row, body)
        return
    if body.get("event") == "not_landed":
        _describe_not_landed(row, body)
        return
    if body.get("event") == "alert":
        row.verb, row.outcome, row.note = "Alert", "warning", _text(body.get("text"))
        return
    if body.get("event") == "ran":
        _describe_report(row, body)
        return
    row.kind, row.outcome = "phase", ""
    row.verb = SESSION_STATES.get(entry.outcome, entry.outcome.title())
    row.note = _text(body.get("text")) or f"{entry.outcome} {_text(body.get('intent_id'))}".strip()


def _describe_run(row: TimelineRow, body: dict[str, Any]) -> None:
    """Describe a contained run: the command, its exit status and duration, and what became of its changes."""
    stored = body.get("counts")
    counts: dict[str, Any] = stored if isinstance(stored, dict) else {}
    row.verb, row.object, row.object_is = "Ran contained", _text(body.get("command")), "command"
    row.outcome, row.ran = ("ask" if counts.get("ask") else "allow"), True
    row.approval_id = _text(body.get("approval_id"))
    row.meta = f"exit status {body['exit_code']}" if isinstance(body.get("exit_code"), int) else ""
    if isinstance(body.get("duration_ms"), int):
        row.meta = f"{row.meta} after {format_duration(body['duration_ms'])}".strip()
    if row.approval_id:  # what is decided about its files is told with it
        row.step, row.meta = "held", f"{row.meta}, held"
    words = {"allow": "landed", "ask": "waited for approval", "deny": "thrown away"}
    row.note = ", ".join(f"{counts[key]} {word}" for key, word in words.items() if counts.get(key))


def _describe_not_landed(row: TimelineRow, body: dict[str, Any]) -> None:
    """Describe which files of a contained run its client could not land, and why."""
    files = [file for file in body.get("files") or () if isinstance(file, dict)]
    row.verb, row.outcome = "Could not land", "warning"
    row.object, row.object_is = _list_first([_text(file.get("path")) for file in files], "path")
    row.note = _text(files[0].get("reason")) if files else ""


def _describe_report(row: TimelineRow, body: dict[str, Any]) -> None:
    """Describe how an approved call ended, as its client reports: a step of that call."""
    failed, tool = body.get("failed") is True, _text(body.get("tool"))
    row.verb, row.outcome = ("Ran and failed", "error") if failed else ("Ran", "allow")
    row.object, row.approval_id, row.step, row.ran = tool, _text(body.get("approval_id")), "ran", True
    row.took_ms = body["duration_ms"] if isinstance(body.get("duration_ms"), int) else None
    row.meta = f"exit status {body['exit_code']}" if isinstance(body.get("exit_code"), int) else ""


def _describe_lesson(row: TimelineRow, entry: LedgerEntry, body: dict[str, Any]) -> None:
    row.verb, row.outcome = LESSON_VERBS.get(entry.outcome, "Learned"), "info"
    row.object, row.object_is = _text(body.get("file")), "path"
    more_files = len(body.get("more_files") or ())
    row.meta = f"and {more_files} more file{'s' if more_files > 1 else ''}" if more_files else ""
    row.note = _text(body.get("problems")) or _text(body.get("reason"))


def _describe_import(row: TimelineRow, _entry: LedgerEntry, body: dict[str, Any]) -> None:
    """Describe what an import added, and what it found wrong with the imported history."""
    row.verb, row.outcome, row.object = "Imported", "info", _text(body.get("source"))
    parts = [
        f"{body[count]} {label}" for count, label in IMPORTED.items() if isinstance(body.get(count), int)
    ]
    if isinstance(body.get("foreign_chain"), dict):
        parts.append(foreign_chain.describe_chain(body["foreign_chain"]))
    if isinstance(body.get("rewrite"), dict):
        parts.append(rewrite_check.describe_rewrite(body["rewrite"]))
    row.note = "; ".join(parts)


def _describe_policy(row: TimelineRow, entry: LedgerEntry, body: dict[str, Any]) -> None:
    change = describe_settings_change(entry.outcome, body)
    row.verb, row.outcome, row.object, row.note = change.verb, "info", change.name, change.note


def _describe_redaction(row: TimelineRow, _entry: LedgerEntry, body: dict[str, Any]) -> None:
    """Describe which entry was redacted, and why."""
    row.verb, row.outcome = f"Took out the content of the {_text(body.get('kind'))}".rstrip(), "info"
    row.object, row.note = _text(body.get("entry_id")), _text(body.get("reason"))


def _describe_other(row: TimelineRow, entry: LedgerEntry, body: dict[str, Any]) -> None:
    row.verb, row.outcome = f"{entry.kind.title()} {entry.outcome}".strip(), "info"
    row.object = entry.intent_id or _text(body.get("entry_id"))
    row.note = _text(body.get("reason"))


_DESCRIBERS: dict[str, Callable[[TimelineRow, LedgerEntry, dict[str, Any]], None]] = {
    EntryKind.DECISION: _describe_decision,
    EntryKind.TRACE: _describe_trace,
    EntryKind.APPROVAL: _describe_approval,
    EntryKind.SESSION: _describe_session,
    EntryKind.LESSON: _describe_lesson,
    EntryKind.IMPORT: _describe_import,
    EntryKind.POLICY: _describe_policy,
    EntryKind.REDACTION: _describe_redaction,
}


def format_lines(body: dict[str, Any]) -> str:
    """Format the lines of an entry's first file: "31-44", and how many more ranges it has."""
    ranges = [
        line_range
        for file in body.get("files", [])[:1]
        for conversation in file.get("conversations") or []
        for line_range in conversation.get("ranges") or []
    ]
    if not ranges:
        return ""
    first, last = ranges[0]["start_line"], ranges[0]["end_line"]
    suffix = f" and {len(ranges) - 1} more" if len(ranges) > 1 else ""
    return f"{first}\N{EN DASH}{last}{suffix}"


def _describe_subject(body: dict[str, Any]) -> tuple[str, str]:
    """Return (the subject of a call, its kind). Commands come first, since a target is only a part of one."""
    raw_input = body.get("input")
    tool_input = raw_input if isinstance(raw_input, dict) else {}
    command = get_first(tool_input, COMMAND_KEYS)
    if words := to_text_list(command):
        return " ".join(words), "command"
    for name in ("targets", "reads"):
        values = body.get(name)
        if isinstance(values, list) and values:
            return _list_first(values, "path")
    path = next((tool_input[name] for name in PATH_FIELDS if isinstance(tool_input.get(name), str)), "")
    if path:
        directory = _text(body.get("root")) or _text(body.get("cwd"))
        return (path.removeprefix(f"{directory}/") if directory else path), "path"
    return next(
        (tool_input[name] for name in TEXT_FIELDS if isinstance(tool_input.get(name), str)), ""
    ), "text"


def _list_first(values: list[Any], kind: str) -> tuple[str, str]:
    """Return the first value, and how many more there are; then it is no path any more."""
    more = f" and {len(values) - 1} more" if len(values) > 1 else ""
    return f"{_text(values[0])}{more}", "text" if more else kind


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _shorten(text: str, max_length: int) -> str:
    return text if len(text) <= max_length else f"{text[:max_length]}…"
