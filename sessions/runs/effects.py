"""What is stored of each changed file of a run: paths, hashes, numbers and the verdict, never its text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from controlplane.policy.model import Verdict
from controlplane.shared.masking import to_storable
from sessions.models import AgentSession
from sessions.previous_text import ReportedTexts, compute_mutation_class, find_reported_symbols
from sessions.runs.judge import JudgedChange
from sessions.runs.texts import CheckedTexts, check_texts, count_lines

MAX_CLASSIFIED = 40  # files of a report whose class and symbols are computed: each takes some milliseconds
STORED = ("path", "change", "before", "after", "size", "target", "mode")


@dataclass(frozen=True, slots=True)
class Effects:
    """The effects of a run as they are stored, and the diffs of what waits, by path."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    diffs: dict[str, str] = field(default_factory=dict)

    def list_by(self, verdict: Verdict) -> list[dict[str, Any]]:
        return [row for row in self.rows if row["verdict"] == verdict.value]


def build_effects(session: AgentSession, judged: Iterable[JudgedChange]) -> Effects:
    """Return what is stored of the judged changes; class and symbols of the first files with texts."""
    effects, left = Effects(), MAX_CLASSIFIED
    for change in judged:
        texts = None if change.verdict is Verdict.DENY else check_texts(change.change)
        row = _describe(change) | _count(change, texts)
        if texts is not None and left > 0 and change.change["change"] != "deleted":
            row |= _classify(session, change.change, texts)
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


def _classify(session: AgentSession, change: dict[str, Any], texts: CheckedTexts) -> dict[str, Any]:
    """Return the class and the symbols of a change, where they are known. No query: both texts are here."""
    path = change["path"]
    reported = ReportedTexts(before={path: texts.before})
    data = {"path": path, "content": change["content"]}
    symbols = find_reported_symbols(session, data, reported)
    return {
        "class": compute_mutation_class(session, data, reported),
        "symbols": [symbol._asdict() for symbol in symbols],
    }
