"""Summarize the ledger entries, files and lessons of an intent for its prompts."""

from __future__ import annotations

from django.db.models import Max, Q

from intents.models import Intent
from intents.prompts.context_xml import FileState, HistoryItem, PromptContext
from intents.prompts.lesson_selection import select_lessons
from intents.summaries import one_line
from traces.models import LedgerEntry, TraceFile

MAX_HISTORY = 20
MAX_FILES = 50
_MAX_PATHS = 5
_HISTORY_KINDS = ("trace", "decision", "approval", "intent")


def load_prompt_context(intent: Intent) -> PromptContext:
    """7 queries where the intent was fetched with its workspace, whatever the size of the ledger."""
    selection = select_lessons(intent)
    return PromptContext(
        list_recent_history(intent), list_touched_files(intent), selection.notes(), selection.left_out
    )


def list_recent_history(intent: Intent) -> list[HistoryItem]:
    """Return the last events under the intent, oldest first: changes, denials, approvals, own revisions."""
    entries = LedgerEntry.objects.filter(
        workspace_id=intent.workspace_id, intent_id=intent.intent_id, kind__in=_HISTORY_KINDS
    )
    entries = entries.exclude(kind="decision", outcome="allow").order_by("-pk").prefetch_related("files")
    newest = list(entries.defer("envelope", "leaf_hash", "body_digest")[:MAX_HISTORY])
    return [
        HistoryItem(entry.received_at.isoformat(timespec="seconds"), _summarize(entry), entry.session_id)
        for entry in reversed(newest)
    ]


def list_touched_files(intent: Intent) -> list[FileState]:
    """Return files changed under the intent, latest first, in the newest state that the ledger has."""
    touched = TraceFile.objects.filter(workspace_id=intent.workspace_id, intent_id=intent.intent_id)
    latest = touched.values("path").annotate(last=Max("pk")).order_by("-last")[:MAX_FILES]
    paths = [row["path"] for row in latest]
    changes = TraceFile.objects.filter(workspace_id=intent.workspace_id, path__in=paths).order_by()
    newest = changes.values("path").annotate(live=Max("pk", filter=Q(imported=False)), last=Max("pk"))
    # Imported entries may be old although their keys are new: one that the server saw itself comes first.
    keys = [row["live"] or row["last"] for row in newest]
    rows = {row.path: row for row in TraceFile.objects.filter(pk__in=keys)}
    return [
        FileState(
            path=row.path,
            content_hash=row.content_hash,
            last_changed=row.changed_at.isoformat(timespec="seconds"),
            intent_id=row.intent_id,
        )
        for row in (rows[path] for path in paths)
    ]


def _summarize(entry: LedgerEntry) -> str:
    if entry.kind == "trace":
        paths = sorted({file.path for file in entry.files.all()})
        more = f" and {len(paths) - _MAX_PATHS} more" if len(paths) > _MAX_PATHS else ""
        return one_line(f"changed {', '.join(paths[:_MAX_PATHS]) or 'no file'}{more}")
    if entry.kind == "decision":
        return one_line(f"{entry.tool}: {entry.outcome} ({entry.error_type}, {entry.reason})")
    if entry.kind == "approval":
        return one_line(f"approval {entry.outcome}: {entry.tool or entry.reason}")
    return one_line(f"intent {entry.outcome}")
