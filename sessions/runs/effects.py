"""What is stored of each changed file of a run: paths, hashes, numbers and the verdict, never its text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from controlplane.policy.model import Verdict
from controlplane.shared.masking import to_storable
from sessions.models import AgentSession
from sessions.previous_text import ReportedTexts, examine_change
from sessions.runs.judge import JudgedChange
from sessions.runs.texts import CheckedTexts, check_texts, count_lines

MAX_EXAMINED = 40  # files of a report whose texts are compared: each takes some milliseconds
STORED = ("path", "change", "before", "after", "size", "target", "mode")


@dataclass(frozen=True, slots=True)
class Effects:
    """The effects of a run as they are stored, and the diffs of what waits, by path."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    diffs: dict[str, str] = field(default_factory=dict)

    def list_by(self, verdict: Verdict) -> list[dict[str, Any]]:
        return [row for row in self.rows if row["verdict"] == verdict.value]


def build_effects(session: AgentSession, judged: Iterable[JudgedChange]) -> Effects:
    """Return what is stored of the judged changes: of the first files with texts, also what these say."""
    effects, left = Effects(), MAX_EXAMINED
    for change in judged:
        texts = None if change.verdict is Verdict.DENY else check_texts(change.change)
        row = _describe(change) | _count(change, texts)
        if texts is not None and left > 0 and change.change["change"] != "deleted":
            row |= _examine(session, change.change, texts)
            left -= 1
        if texts is not None and change.verdict is Verdict.ASK:
            effects.diffs[change.path] = to_storable(texts.diff)
        effects.rows.append(row)
    return effects


def _describe(judged: JudgedChange) -> dict[str, Any]:
    fields = {name: judged.change.get(name) for name in STORED}
    verdict = {"verdict": judged.verdict.value, "error_type": judged.error_type, "reason": judged.reason}
    fields |= verdict | {"error": to_storable(judged.error), "ignored": bool(judged.change.get("ignored"))}
    return {name: value for name, value in fields.items() if value is not None}


def _count(judged: JudgedChange, texts: CheckedTexts | None) -> dict[str, int]:
    content = judged.change.get("content")
    lines = {"lines": max(1, count_lines(content))} if isinstance(content, str) else {}
    return lines | ({"added": texts.added, "removed": texts.removed} if texts is not None else {})


def _examine(session: AgentSession, change: dict[str, Any], texts: CheckedTexts) -> dict[str, Any]:
    """Return what both texts say of a change: its class, its symbols, and what each hunk brought and took."""
    path = change["path"]
    data = {"path": path, "content": change["content"]}
    facts = examine_change(session, data, ReportedTexts(before={path: texts.before}))
    return {
        "class": facts.computed_class,
        "symbols": [symbol._asdict() for symbol in facts.symbols],
        "line_changes": facts.line_changes,
        "previous_hash": facts.previous_hash,
    }
