"""What a file held before and after a change that is being reported, where both are known; never guessed.

Before it, the first that is known: what the client says in its hook; the agent's own edit, undone; what the
session wrote there last; the commit that the change names. The last two count only where the ledger's newest
hash of the file says the same, or the file was never spoken of.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from controlplane.policy.calls import input_fields
from sessions.approvals.card.file_contents import WorkspaceFiles
from sessions.approvals.card.previews.edits import Replacement, apply_replacements, parse_replacements
from sessions.models import AgentSession
from traces.blame.git_blob import read_committed_text
from traces.entries.record import find_newest_hashes
from traces.entry_schema import to_canonical_path
from traces.ledger.append import read_body
from traces.models import EntryKind, LedgerEntry
from traces.mutation_class.worker_client import classify_in_worker

DECISIONS_LOOKED = 20  # the newest of the session


@dataclass(frozen=True, slots=True)
class Told:
    """What a hook tells of its call: the input, and by canonical path the text of a file before it."""

    input: Mapping[str, Any] = field(default_factory=dict)
    before: Mapping[str, str] = field(default_factory=dict)


def computed_class(session: AgentSession, data: Mapping[str, Any], told: Told | None) -> str | None:
    """The class of a reported change, None where it is not known. At most 3 queries, one git call.

    `data` are the fields of the simple form; `told` is None for a caller that is no hook.
    """
    try:
        change = _Change(session, to_canonical_path(data["path"]), data, told)
        after = change.after()
        before = None if after is None else change.before(after)
    except ValueError:
        return None  # a path or a text that is none: recording it says what is wrong
    if after is None or before is None:
        return None
    return classify_in_worker(change.path, before, after)


class _Change:
    def __init__(self, session: AgentSession, path: str, data: Mapping[str, Any], told: Told | None) -> None:
        self.session, self.path, self.data, self.told = session, path, data, told
        self._decisions: list[dict[str, Any]] | None = None

    def after(self) -> str | None:
        content, wanted = self.data.get("content"), self.data.get("content_hash")
        if content is not None:
            return content if self.told is not None or self._is_whole(content) else None
        if not wanted or not self.session.workspace.local_root:
            return None
        text = WorkspaceFiles(self.session.workspace).read(self.path).text
        return text if text is not None and _hash_of(text) == wanted else None

    def before(self, after: str) -> str | None:
        if self.told is not None and self.path in self.told.before:
            return self.told.before[self.path]
        undone_edit = undone(after, parse_replacements(self._input()))
        return undone_edit if undone_edit is not None else self._recorded()

    def _is_whole(self, content: str) -> bool:
        """Lines of a file may come without the rest of it: then the last of them lies beyond the text."""
        lines = content.count("\n") + (not content.endswith("\n"))
        return (self.data.get("start_line") or 1) == 1 or (self.data.get("end_line") or lines + 1) <= lines

    def _input(self) -> Mapping[str, Any]:
        """The call's own input: the hook's, else that of the decision with this `tool_use_id`."""
        if self.told is not None:
            return self.told.input
        called = self.data.get("tool_use_id")
        found = (one.get("input") for one in self.decisions if called and one.get("tool_use_id") == called)
        sent = next(found, None)
        return sent if isinstance(sent, Mapping) else {}

    def _recorded(self) -> str | None:
        known = find_newest_hashes(self.session.workspace_id, [self.path]).get(self.path)
        if known == "":
            return ""
        if known is not None:
            written = next((text for text in self._written() if _hash_of(text) == known), None)
            if written is not None:
                return written
        revision = self.data.get("revision_id") or self.session.revision_id or ""
        text = read_committed_text(self.session.workspace.local_root, revision, self.path)
        return text if text is not None and known in {None, _hash_of(text)} else None

    def _written(self) -> Iterator[str]:
        """Whole texts that the session has lately asked to write."""
        for body in self.decisions:
            sent = body.get("input")
            values = (
                input_fields.get_all(sent, input_fields.CONTENT_KEYS) if isinstance(sent, Mapping) else ()
            )
            yield from (value for value in values if isinstance(value, str))

    @property
    def decisions(self) -> list[dict[str, Any]]:
        """Bodies of the session's newest decisions. 1 query, once."""
        if self._decisions is None:
            mine = LedgerEntry.objects.filter(
                workspace_id=self.session.workspace_id,
                session_id=self.session.session_id,
                kind=EntryKind.DECISION,
            )
            rows = mine.select_related("body").order_by("-pk")[:DECISIONS_LOOKED]
            self._decisions = [body for row in rows if (body := read_body(row))]
        return self._decisions


def undone(after: str, pieces: list[Replacement]) -> str | None:
    """The text before these edits; None where one of them could have been made in more than one place."""
    before = after
    for piece in reversed(pieces):
        place = before.find(piece.after) if piece.before and piece.after and not piece.replace_all else -1
        if place < 0 or before.find(piece.after, place + 1) >= 0:
            return None
        before = before[:place] + piece.before + before[place + len(piece.after) :]
    return before if pieces and apply_replacements(before, pieces) == after else None


def _hash_of(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
