"""A whole session at a glance: three lanes over time (calls, what was stopped, writes), each slot a link."""

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
SPANS = (1, 5, 15, 60, 300, 900, 3600, 6 * 3600, 86_400, 7 * 86_400)
LANES = ("Calls", "Stopped", "Writes")
TICKS = 6
STALE = "STALE_FILE"


@dataclass(frozen=True, slots=True)
class Slot:
    """A stretch of time: what it links to, what it says, where it stands."""

    url: str
    words: str
    x: float


@dataclass(frozen=True, slots=True)
class TimedEntry:
    at: int
    kind: str
    outcome: str


def build_minimap(
    workspace_id: int, session_id: str, kept: dict[str, str], since: datetime | None, until: datetime | None
) -> dict[str, Any] | None:
    """What the template draws; None for a session without entries. `kept` stays in every address. 1 query."""
    moments = _load_entries(workspace_id, session_id)
    if not moments:
        return None
    first, last = moments[0].at, moments[-1].at
    span = next((one for one in SPANS if (last - first) < one * MAX_SLOTS), SPANS[-1])
    start = min(first, last - (MIN_SLOTS - 1) * span) // span * span
    slots = (last - start) // span + 1
    step = WIDTH / slots
    return {
        "width": WIDTH,
        "height": LANE * len(LANES),
        "step": round(step, 2),
        "lanes": LANES,
        "paths": _build_paths(moments, start, span, step),
        "slots": [_build_slot(moments_of, start + place * span, span, place * step, kept)
                  for place, moments_of in enumerate(_count_by_slot(moments, start, span, slots))],
        "window": _locate_window(start, span * slots, since, until),
        "ticks": [_format_clock(start + span * slots * tick // TICKS, span * slots) for tick in range(TICKS)],
    }  # fmt: skip


def _load_entries(workspace_id: int, session_id: str) -> list[TimedEntry]:
    rows = LedgerEntry.objects.for_workspace(workspace_id).of_session(session_id).newest_first()
    found = rows.values_list("received_at", "kind", "outcome", "error_type")[:MAX_ENTRIES]
    moments = [
        TimedEntry(int(at.timestamp()), kind, "stale" if error == STALE and outcome == "deny" else outcome)
        for at, kind, outcome, error in found
    ]
    return sorted(moments, key=lambda one: one.at)


def _count_by_slot(moments: Sequence[TimedEntry], start: int, span: int, slots: int) -> list[Counter[str]]:
    counted: list[Counter[str]] = [Counter() for _ in range(slots)]
    for one in moments:
        name = {EntryKind.TRACE: "writes", EntryKind.DECISION: one.outcome}.get(EntryKind(one.kind), "")
        counted[(one.at - start) // span][name] += bool(name)
    return counted


def _build_paths(moments: Sequence[TimedEntry], start: int, span: int, step: float) -> list[tuple[str, str]]:
    """(series, path): calls as bars of their number, the rest as marks; a held call as long as it waited."""
    slots = (moments[-1].at - start) // span + 1
    calls = Counter((one.at - start) // span for one in moments if one.kind == EntryKind.DECISION)
    most = max(calls.values(), default=1)
    width = round(max(1.5, step - 1), 2)
    drawn: dict[str, list[str]] = {name: [] for name in ("other", "deny", "stale", "ask", "trace")}
    for slot, number in calls.items():
        height = max(2.0, round((LANE - 2) * number / most, 1))
        drawn["other"].append(f"M{slot * step:.1f} {LANE - height:.1f}h{width}v{height}h-{width}z")
    for one, waited in _find_marks(moments):
        x = (one.at - start) / span * step if waited else (one.at - start) // span * step
        long = max(width, round(waited / span * step, 1)) if waited else width
        lane = 2 if one.kind == EntryKind.TRACE else 1
        name = "trace" if lane == 2 else one.outcome
        drawn[name].append(f"M{min(x, slots * step - long):.1f} {LANE * lane + 2}h{long}v{LANE - 4}h-{long}z")
    return [(name, "".join(dict.fromkeys(parts))) for name, parts in drawn.items() if parts]


def _find_marks(moments: Sequence[TimedEntry]) -> list[tuple[TimedEntry, int]]:
    """What was stopped or written; for a held call with the seconds until the next answer in its session."""
    found = []
    decided = [one.at for one in moments if one.kind == EntryKind.APPROVAL and one.outcome != "PENDING"]
    for one in moments:
        if one.kind == EntryKind.TRACE or (
            one.kind == EntryKind.DECISION and one.outcome in {"deny", "stale"}
        ):
            found.append((one, 0))
        elif one.kind == EntryKind.DECISION and one.outcome == "ask":
            found.append((one, next((at - one.at for at in decided if at >= one.at), 0)))
    return found


def _build_slot(counted: Counter[str], start: int, span: int, x: float, kept: dict[str, str]) -> Slot:
    since = datetime.fromtimestamp(start, UTC)
    told = {"allow": "allowed", "ask": "held", "deny": "refused", "stale": "stale", "writes": "written"}
    words = ", ".join(f"{counted[name]} {word}" for name, word in told.items() if counted[name]) or "nothing"
    address = kept | {
        "since": format_url_time(since),
        "until": format_url_time(since + timedelta(seconds=span)),
    }
    return Slot(f"?{urlencode(address)}", f"{_format_clock(start, span)}: {words}", round(x, 2))


def _locate_window(
    start: int, seconds: int, since: datetime | None, until: datetime | None
) -> dict[str, float] | None:
    """Where the part that is shown stands."""
    if since is None and until is None:
        return None
    left = (since.timestamp() - start) / seconds if since else 0.0
    right = (until.timestamp() - start) / seconds if until else 1.0
    left, right = max(0.0, min(1.0, left)), max(0.0, min(1.0, right))
    return {"x": round(left * WIDTH, 2), "width": round(max(0.0, right - left) * WIDTH, 2)}


def _format_clock(second: int, span: int) -> str:
    at = timezone.localtime(datetime.fromtimestamp(second, UTC))
    return f"{at:%H:%M:%S}" if span < 86_400 else f"{at.day} {at:%b %H:%M}"
