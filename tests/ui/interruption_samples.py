"""Contexts for the page of interruptions, with hostile text where agents speak."""

from datetime import date, timedelta

from sessions.interruptions.chart import build_chart
from sessions.interruptions.figures import DayFigures, InterruptionFigures, KindFigures
from sessions.interruptions.proposals import RuleProposal
from sessions.interruptions.rows import RuleRow, build_kind_row
from tests.ui.hostile import AGO, HOSTILE

DAYS = tuple(DayFigures(date(2026, 3, 1) + timedelta(days=n), 100 + n, 14 - n) for n in range(14))


def figures(**changes):
    kinds = (
        KindFigures("git fetch", "fetches", 12, 12, 0, 2, 40.0, (1,) * 14),
        KindFigures(HOSTILE, "sends", 8, 1, 6, 1, None, (0,) * 14),
    )
    return InterruptionFigures(
        **{
            "calls": 1_491,
            "asks": 105,
            "sessions": 12,
            "quiet_sessions": 7,
            "approved": 96,
            "rejected": 6,
            "expired": 3,
            "median_seconds": 48.0,
            "total_seconds": 22_800.0,
            "days": DAYS,
            "kinds": kinds,
            "effects": (("fetches", 12), ("sends", 8)),
            "agents": (("codex", 12),),
            "intents": (("INT-001", 12), (HOSTILE, 8)),
        }
        | changes
    )


def proposal():
    return RuleProposal("git fetch", "fetches", 12, ("Rex", HOSTILE), 0, 12, 12, 480.0, AGO)


def rule(**changes):
    row = {
        "id": "a1",
        "number": 4,
        "kind": "git stash",
        "permission": "allow",
        "owner": HOSTILE,
        "created_at": AGO,
        "uses": 214,
        "last_used_at": AGO,
        "learned_from": "31 by 3 people",
        "removed_by": "",
        "is_unused": False,
    }
    return RuleRow(**row | changes)


def page():
    own = figures()
    rows = [build_kind_row(own.kinds[0], proposal()), build_kind_row(own.kinds[1], None)]
    return {
        "figures": own,
        "has_enough_calls": True,
        "chart": build_chart(own.days, [(DAYS[3].day, HOSTILE)]),
        "kind_bars": [{"label": HOSTILE, "number": 12, "largest": 12}],
        "effect_bars": [{"label": "Fetches", "number": 12, "largest": 12}],
        "rows": rows,
        "more_kinds": 3,
        "rules": [
            rule(),
            rule(number=3, removed_by=HOSTILE),
            rule(number=2, is_unused=True, last_used_at=None),
        ],
        "may_edit": True,
        "span": "14d",
        "ranges": [("24h", "?range=24h"), ("14d", "?range=14d")],
        "agents": [("codex", "Codex")],
        "intents": [("INT-001", "INT-001")],
        "agent": "codex",
        "intent": "",
        "proposal": proposal(),
        "next_number": 5,
    }


def empty_page():
    own = figures(calls=0, asks=0, kinds=(), effects=(), days=(), median_seconds=None, approved=0, rejected=0)
    empty = {
        "figures": own,
        "has_enough_calls": False,
        "chart": None,
        "rows": [],
        "rules": [],
        "more_kinds": 0,
    }
    return page() | empty | {"kind_bars": [], "effect_bars": [], "proposal": None, "may_edit": False}
