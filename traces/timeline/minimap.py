"""Build the minimap of a session: three lanes over time (calls, stopped calls, writes), as links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.utils import timezone

from traces.models import EntryKind, LedgerEntry
from traces.url_time import format_url_time

WIDTH, LANE = 960, 15
MAX_ENTRIES = 10_000  # the newest of a session
MIN_SLOTS, MAX_SLOTS = 24, 96
SLOT_SECONDS = (1, 5, 15, 60, 300, 900, 3600, 6 * 3600, 86_400, 7 * 86_400)
LANES = ("Calls", "Stopped", "Writes")
TICKS = 6
STALE = "STALE_FILE"


@dataclass(frozen=True, slots=True)
class Slot:
    """An interval of time: its link, its tooltip and its position."""

    url: str
    words: str
    x: float


@dataclass(frozen=True, slots=True)
class TimedEntry:
    at: int
    kind: str
    outcome: str


def build_minimap(
    workspace_id: int, session_id: str, query: dict[str, str], since: datetime | None, until: datetime | None
) -> dict[str, Any] | None:
    """Return what the template draws; None for a session without entries. 1 query.

    `query` stays in the address of every slot.
    """
    entries = _load_entries(workspace_id, session_id)
    if not entries:
        return None
    first, last = entries[0].at, entries[-1].at
    slot_seconds = next(
        (choice for choice in SLOT_SECONDS if (last - first) < choice * MAX_SLOTS), SLOT_SECONDS[-1]
    )
    start = min(first, last - (MIN_SLOTS - 1) * slot_seconds) // slot_seconds * slot_seconds
    slots = (last - start) // slot_seconds + 1
    seconds, step = slots * slot_seconds, WIDTH / slots
    return {
        "width": WIDTH,
        "height": LANE * len(LANES),
        "step": round(step, 2),
        "lanes": LANES,
        "paths": _build_paths(entries, start, slot_seconds, step),
        "slots": [_build_slot(slot_counts, start + slot * slot_seconds, slot_seconds, slot * step, query)
                  for slot, slot_counts in enumerate(_count_by_slot(entries, start, slot_seconds, slots))],
        "window": _locate_window(start, seconds, since, until),
        "ticks": [_format_clock(start + seconds * tick // TICKS, seconds) for tick in range(TICKS)],
    }  # fmt: skip


def _load_entries(workspace_id: int, session_id: str) -> list[TimedEntry]:
    rows = LedgerEntry.objects.for_workspace(workspace_id).of_session(session_id).newest_first()
    values = rows.values_list("received_at", "kind", "outcome", "error_type")[:MAX_ENTRIES]
    entries = [
        TimedEntry(int(at.timestamp()), kind, "stale" if error == STALE and outcome == "deny" else outcome)
        for at, kind, outcome, error in values
    ]
    return sorted(entries, key=lambda entry: entry.at)


def _count_by_slot(
    entries: Sequence[TimedEntry], start: int, slot_seconds: int, slots: int
) -> list[Counter[str]]:
    counted: list[Counter[str]] = [Counter() for _ in range(slots)]
    for entry in entries:
        name = {EntryKind.TRACE: "writes", EntryKind.DECISION: entry.outcome}.get(EntryKind(entry.kind), "")
        counted[(entry.at - start) // slot_seconds][name] += bool(name)
    return counted


def _build_paths(
    entries: Sequence[TimedEntry], start: int, slot_seconds: int, step: float
) -> list[tuple[str, str]]:
    """Return (series, SVG path): calls as bars, the rest as marks; a held call is as long as it waited."""
    slots = (entries[-1].at - start) // slot_seconds + 1
    calls = Counter(
        (entry.at - start) // slot_seconds for entry in entries if entry.kind == EntryKind.DECISION
    )
    max_calls = max(calls.values(), default=1)
    width = round(max(1.5, step - 1), 2)
    drawn: dict[str, list[str]] = {name: [] for name in ("other", "deny", "stale", "ask", "trace")}
    for slot, number in calls.items():
        height = max(2.0, round((LANE - 2) * number / max_calls, 1))
        drawn["other"].append(f"M{slot * step:.1f} {LANE - height:.1f}h{width}v{height}h-{width}z")
    for entry, waited in _find_marks(entries):
        x = (entry.at - start) / slot_seconds * step if waited else (entry.at - start) // slot_seconds * step
        long = max(width, round(waited / slot_seconds * step, 1)) if waited else width
        lane = 2 if entry.kind == EntryKind.TRACE else 1
        name = "trace" if lane == 2 else entry.outcome
        drawn[name].append(f"M{min(x, slots * step - long):.1f} {LANE * lane + 2}h{long}v{LANE - 4}h-{long}z")
    return [(name, "".join(dict.fromkeys(parts))) for name, parts in drawn.items() if parts]


def _find_marks(entries: Sequence[TimedEntry]) -> list[tuple[TimedEntry, int]]:
    """Return stopped calls and writes; with each held call the seconds until the session's next decision."""
    marks = []
    decisions = [
        entry.at for entry in entries if entry.kind == EntryKind.APPROVAL and entry.outcome != "PENDING"
    ]
    for entry in entries:
        if entry.kind == EntryKind.TRACE or (
            entry.kind == EntryKind.DECISION and entry.outcome in {"deny", "stale"}
        ):
            marks.append((entry, 0))
        elif entry.kind == EntryKind.DECISION and entry.outcome == "ask":
            marks.append((entry, next((at - entry.at for at in decisions if at >= entry.at), 0)))
    return marks


def _build_slot(
    counted: Counter[str], start: int, slot_seconds: int, x: float, query: dict[str, str]
) -> Slot:
    since = datetime.fromtimestamp(start, UTC)
    labels = {"allow": "allowed", "ask": "held", "deny": "denied", "stale": "stale", "writes": "written"}
    summary = (
        ", ".join(f"{counted[name]} {label}" for name, label in labels.items() if counted[name]) or "nothing"
    )
    slot_query = query | {
        "since": format_url_time(since),
        "until": format_url_time(since + timedelta(seconds=slot_seconds)),
    }
    return Slot(f"?{urlencode(slot_query)}", f"{_format_clock(start, slot_seconds)}: {summary}", round(x, 2))


def _locate_window(
    start: int, seconds: int, since: datetime | None, until: datetime | None
) -> dict[str, float] | None:
    """Return the position of the displayed interval, None when all is displayed."""
    if since is None and until is None:
        return None
    left = (since.timestamp() - start) / seconds if since else 0.0
    right = (until.timestamp() - start) / seconds if until else 1.0
    left, right = max(0.0, min(1.0, left)), max(0.0, min(1.0, right))
    return {"x": round(left * WIDTH, 2), "width": round(max(0.0, right - left) * WIDTH, 2)}


def _format_clock(second: int, slot_seconds: int) -> str:
    at = timezone.localtime(datetime.fromtimestamp(second, UTC))
    return f"{at:%H:%M:%S}" if slot_seconds < 86_400 else f"{at.day} {at:%b %H:%M}"
