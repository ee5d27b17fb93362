"""Load the edits of a file from recorded calls, to rebuild texts that were never committed."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from django.db.models.functions import Length

from controlplane.policy.calls.resolve_tool import resolve_tool
from controlplane.policy.calls.targets import find_targets
from controlplane.policy.calls.toolsets.kinds import ToolKind as Kinds
from controlplane.policy.model import Policy, ToolCall
from traces.entries.recorded_calls import to_recorded_call
from traces.ledger.append import read_body
from traces.models import EntryKind, LedgerEntry
from traces.ranges.rebuild_texts import Edit

MAX_SESSIONS = 20
MAX_CALLS = 300
MAX_CALL_BYTES = 64 * 1024  # edits are short, and all bodies are read at once
MAX_EDITS = 100
ALLOWED = "allow"
EDITING = frozenset({Kinds.WRITE, Kinds.EDIT, Kinds.PATCH})


def load_recorded_edits(
    workspace_id: int, path: str, sessions: Collection[str], rows: tuple[int, int]
) -> list[Edit]:
    """Return the newest edits of a file that the gate allowed these sessions, within a range of row ids.

    Calls with masked, cut, redacted or archived input are skipped, as are very long ones. 1 query.
    """
    calls = (
        LedgerEntry.objects.for_workspace(workspace_id)
        .of_kind(EntryKind.DECISION)
        .filter(
            outcome=ALLOWED, pk__range=rows, session_id__in=list(sessions)[:MAX_SESSIONS], body__isnull=False
        )
    )
    small = calls.annotate(size=Length("body__body")).filter(size__lte=MAX_CALL_BYTES)
    edits: list[Edit] = []
    for entry in small.with_body().newest_first()[:MAX_CALLS]:
        body = read_body(entry)
        if len(edits) >= MAX_EDITS:
            break
        if body is None or path not in (body.get("targets") or ()):
            continue
        call = to_recorded_call(entry).call
        if call is not None:
            edits.extend(_extract_edits(call, entry.received_at.timestamp()))
    return edits


def _extract_edits(call: ToolCall, seconds: float) -> Iterator[Edit]:
    tool = resolve_tool(call).tool
    if (
        tool is None or tool.kind not in EDITING
    ):  # a shell's command would take long to read, and tells little
        return
    for edit in find_targets(call, Policy()).writes:
        if edit.op == "write" and edit.after is not None:
            yield Edit(_encode(edit.before), _encode(edit.after), seconds, is_full_text=edit.is_full_text)


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
