"""Find the text of a file before and after a reported change, where both are known; never guess.

The previous text is the first known of these: what the hook reports; the new text with the agent's edit
reverted; what the session wrote to the file last; the commit that the change names, or HEAD. The last two
count only where the ledger's newest hash of the file agrees, or the ledger has none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from controlplane.policy.calls import input_fields
from sessions.approvals.card.file_contents import WorkspaceFiles
from sessions.approvals.card.previews.edits import Replacement, apply_replacements, parse_replacements
from sessions.models import AgentSession
from traces.blame.git_blob import is_committed, read_committed_text
from traces.change_fields import parse_line_changes
from traces.entries.record import find_newest_hashes
from traces.entry_schema import DELETED, to_canonical_path
from traces.ledger.append import read_body
from traces.models import EntryKind, LedgerEntry, TraceFile
from traces.mutation_class.symbols import Symbol
from traces.mutation_class.worker_client import classify_in_worker, find_symbols_in_worker
from traces.ranges.line_changes import compute_line_changes, confirm_line_changes

MAX_DECISIONS_READ = 20  # the newest of the session


@dataclass(frozen=True, slots=True)
class ReportedTexts:
    """What a hook reports of its call: the input, and the previous texts of files by canonical path."""

    input: Mapping[str, Any] = field(default_factory=dict)
    before: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChangeFacts:
    """What the texts before and after a reported change say; each is empty or None where it is not known."""

    computed_class: str | None = None
    symbols: Sequence[Symbol] = ()
    is_new_file: bool = False
    line_changes: Sequence[dict[str, Any]] | None = None
    previous_hash: str = ""


def examine_change(
    session: AgentSession,
    data: Mapping[str, Any],
    reported: ReportedTexts | None,
    *,
    with_class: bool = True,
) -> ChangeFacts:
    """Compare the texts before and after a reported change. At most 4 queries, two git calls.

    `data` are the fields of the simple form; `reported` is None for a caller that is no hook. Without
    `with_class` the class and the symbols are left unknown.
    """
    try:
        change = _Change(session, to_canonical_path(data["path"]), data, reported)
        return change.examine(with_class=with_class)
    except ValueError:
        return ChangeFacts()  # a malformed path or text: recording the change raises the error


class _Change:
    def __init__(
        self, session: AgentSession, path: str, data: Mapping[str, Any], reported: ReportedTexts | None
    ) -> None:
        self.session, self.path, self.data, self.reported = session, path, data, reported
        self._decisions: list[dict[str, Any]] | None = None

    def examine(self, *, with_class: bool) -> ChangeFacts:
        is_new = not self.is_deletion and not self.has_previous_text() and not self.is_recorded()
        after = self.find_new_text()
        if after is None:
            return ChangeFacts(is_new_file=is_new, line_changes=self._find_sent_changes(None))
        before = self.find_previous_text(after)
        # A new file has no class: nothing of it can be kept.
        computed = classify_in_worker(self.path, before, after) if with_class and before is not None else None
        symbols = (find_symbols_in_worker(self.path, after) if with_class else None) or []
        if before is None and is_new:
            before = ""
        changes = compute_line_changes(before, after) if before is not None else None
        if changes is not None and not self._covers(changes):
            before = changes = None
        return ChangeFacts(
            computed_class=computed,
            symbols=symbols,
            is_new_file=is_new,
            line_changes=self._find_sent_changes(after) if changes is None else changes,
            previous_hash="" if before is None or is_new else _hash_text(before),
        )

    def _covers(self, changes: Sequence[dict[str, Any]]) -> bool:
        """Whether the reported lines hold all that changed; if not, the text before is another."""
        first, last = self.data.get("start_line"), self.data.get("end_line")
        brought = [change for change in changes if change["line_count"]]
        return all(
            (first is None or change["start_line"] >= first)
            and (last is None or change["start_line"] + change["line_count"] - 1 <= last)
            for change in brought
        )

    def _find_sent_changes(self, after: str | None) -> Sequence[dict[str, Any]] | None:
        """Return the line changes that the hook found, unless the text after contradicts them."""
        sent = parse_line_changes(self.data.get("line_changes"))
        is_wrong = sent is not None and after is not None and not confirm_line_changes(sent, after)
        return None if is_wrong else sent

    def find_new_text(self) -> str | None:
        content, expected = self.data.get("content"), self.data.get("content_hash")
        if content is not None:
            return content if self.reported is not None or self._is_complete(content) else None
        if not expected or not self.session.workspace.local_root:
            return None
        text = WorkspaceFiles(self.session.workspace).read(self.path).text
        return text if text is not None and _hash_text(text) == expected else None

    def find_previous_text(self, after: str) -> str | None:
        if self.reported is not None and self.path in self.reported.before:
            return self.reported.before[self.path]
        undone_edit = revert_replacements(after, parse_replacements(self._find_input()))
        return undone_edit if undone_edit is not None else self._find_recorded_text(after)

    @property
    def is_deletion(self) -> bool:
        return str(self.data.get("content_hash") or "").strip().upper() == DELETED

    def has_previous_text(self) -> bool:
        """Return whether the report itself shows that there was a text before: a part or an edit of it."""
        if self.reported is not None and self.path in self.reported.before:
            return bool(self.reported.before[self.path])
        if (self.data.get("start_line") or 1) > 1:
            return True
        return any(edit.before for edit in parse_replacements(self._find_input()))

    def is_recorded(self) -> bool:
        """Return whether the ledger's newest entry of the path left a file, or else git holds one."""
        newest = TraceFile.objects.filter(workspace_id=self.session.workspace_id, path=self.path)
        deleted = newest.order_by("imported", "-pk").values_list("deleted", flat=True).first()
        if deleted is not None:
            return not deleted
        return is_committed(self.session.workspace.local_root, self.path)

    def _is_complete(self, content: str) -> bool:
        """Return whether the content is a complete file and not some of its lines."""
        lines = content.count("\n") + (not content.endswith("\n"))
        return (self.data.get("start_line") or 1) == 1 or (self.data.get("end_line") or lines + 1) <= lines

    def _find_input(self) -> Mapping[str, Any]:
        """Return the call's input: the hook's, else that of the decision with this `tool_use_id`."""
        if self.reported is not None:
            return self.reported.input
        called = self.data.get("tool_use_id")
        found = (one.get("input") for one in self.decisions if called and one.get("tool_use_id") == called)
        sent = next(found, None)
        return sent if isinstance(sent, Mapping) else {}

    def _find_recorded_text(self, after: str) -> str | None:
        known = find_newest_hashes(self.session.workspace_id, [self.path]).get(self.path)
        if known == "":
            return ""
        if known is not None and known == _hash_text(after):
            return after  # written again as it was
        if known is not None:
            written = next((text for text in self._list_written_texts() if _hash_text(text) == known), None)
            if written is not None:
                return written
        revision = self.data.get("revision_id") or self.session.revision_id
        if not revision and any(edit.before for edit in parse_replacements(self._find_input())):
            return None  # an edit that cannot be undone: nothing says that it started from HEAD
        text = read_committed_text(self.session.workspace.local_root, revision, self.path)
        if text == after and not revision and self._is_command():
            return None  # it may have written the file and committed it
        return text if text is not None and known in {None, _hash_text(text)} else None

    def _is_command(self) -> bool:
        """Return whether the call is known, and names neither a text nor an edit."""
        sent = self._find_input()
        has_text = input_fields.get_all(sent, input_fields.CONTENT_KEYS) or parse_replacements(sent)
        return bool(sent) and not has_text

    def _list_written_texts(self) -> Iterator[str]:
        """Yield the complete texts of the session's newest calls."""
        for body in self.decisions:
            sent = body.get("input")
            values = (
                input_fields.get_all(sent, input_fields.CONTENT_KEYS) if isinstance(sent, Mapping) else ()
            )
            yield from (value for value in values if isinstance(value, str))

    @property
    def decisions(self) -> list[dict[str, Any]]:
        """Read the bodies of the session's newest decisions. 1 query, once."""
        if self._decisions is None:
            entries = LedgerEntry.objects.filter(
                workspace_id=self.session.workspace_id,
                session_id=self.session.session_id,
                kind=EntryKind.DECISION,
            )
            rows = entries.select_related("body").order_by("-pk")[:MAX_DECISIONS_READ]
            self._decisions = [body for row in rows if (body := read_body(row))]
        return self._decisions


def revert_replacements(after: str, replacements: list[Replacement]) -> str | None:
    """Undo edits; None where one of them could have been made in more than one place."""
    before = after
    for replacement in reversed(replacements):
        position = (
            before.find(replacement.after)
            if replacement.before and replacement.after and not replacement.replace_all
            else -1
        )
        if position < 0 or before.find(replacement.after, position + 1) >= 0:
            return None
        before = before[:position] + replacement.before + before[position + len(replacement.after) :]
    return before if replacements and apply_replacements(before, replacements) == after else None


def _hash_text(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
