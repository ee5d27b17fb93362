"""Contexts for the pages of traces: the list with its drawer, the map, one file."""

from collections import Counter

from tests.ui.hostile import AGO, HOSTILE, INTENT, NOW, PAGER, SEALED
from traces.blame.blame import Deletion, LineAuthor
from traces.browser.drawer import EntryFile, EntryView, Proof, ProofStep, Redaction
from traces.browser.entry_counts import EntryCounts, TimeBucket
from traces.browser.facets import build_facets, build_filter_tokens, build_time_ranges, list_hidden_fields
from traces.browser.filters import EntryFilters, Term
from traces.browser.histogram import build_histogram
from traces.counts.counters import CountedValues
from traces.entries.known_intents import KnownIntent
from traces.filemap.matrix import MatrixCell, Overlap
from traces.filemap.search import SearchResult
from traces.filemap.tree import MapRow
from traces.models import Checkpoint, LedgerEntry
from traces.ranges.file_history import TOO_SLOW, PathChange
from traces.ranges.git_reader import Commit
from traces.timeline.describe_entries import SealState, TimelineRow

WANTED = EntryFilters(
    terms=(Term("agent", HOSTILE), Term("intent", "INT-001", excluded=True)),
    text=HOSTILE,
    session="s-1",
    path=HOSTILE,
    since=AGO,
)


def drawer(holds=True):
    entry = LedgerEntry(
        pk=7, kind="decision", entry_id=HOSTILE, received_at=AGO, session_id="s-1", intent_id="INT-001",
        agent=HOSTILE, error_type="SCOPE_VIOLATION", reason="not_in_scope",
    )  # fmt: skip
    row = TimelineRow("entry-7", AGO, "call", "deny", "Edit denied", HOSTILE, "path", HOSTILE, ran=False)
    rings = tuple(ProofStep(side, "ab" * 32, 4) for side in ("entry", "left", "right", "root"))
    proof = Proof(rings, 12, 18_240, holds, Checkpoint(created_at=AGO))
    files = (EntryFile(HOSTILE, "1-4", "sha256:ab", False), EntryFile("src/b.ts", "", "", True))
    gone = Redaction(HOSTILE, AGO, HOSTILE, 8)
    view = EntryView(
        entry, row, SealState("sealed", 18_230), files, 3, HOSTILE, HOSTILE, "A-1", proof, HOSTILE, gone
    )
    return {
        "view": view,
        "number": 7,
        "url": "?entry=7",
        "close_url": "?",
        "newer_url": "?entry=8",
        "older_url": None,
    }


def trace_list():
    entry = {
        "number": 18_230,
        "url": "?entry=18230",
        "at": AGO,
        "kind": "trace",
        "outcome": "allow",
        "object": "src/auth/jwt.ts",
        "object_is": "path",
        "verb": "Edit",
        "note": HOSTILE,
        "lines": "60-71",
        "computed": "INTENT_EVOLUTION",
        "agent": HOSTILE,
        "intent_id": HOSTILE,
        "seal": SEALED,
    }
    call = {
        "number": 18_231,
        "kind": "decision",
        "object": HOSTILE,
        "object_is": "command",
        "outcome": "deny",
    }
    counted = EntryCounts(
        3, values=Counter({CountedValues("decision", "deny", HOSTILE, HOSTILE, HOSTILE, HOSTILE, ""): 3})
    )
    hour = int(NOW.timestamp()) // 3600 * 3600
    bars = [TimeBucket(hour - 3600, 3600, Counter(trace=4, deny=1)), TimeBucket(hour, 3600, Counter())]
    return {
        "entries": [entry, entry | call],
        "q": HOSTILE,
        "tokens": build_filter_tokens(WANTED),
        "hidden": list_hidden_fields(WANTED),
        "filter_errors": [HOSTILE],
        "time_ranges": build_time_ranges(WANTED),
        "facets": build_facets(counted, WANTED),
        "histogram": build_histogram(bars, WANTED),
        "total": 5_000,
        "capped": True,
        "head": {"size": 18_242, "sealed": 18_240, "waiting": 2, "at": AGO},
        "drawer": drawer(),
        "missing": HOSTILE,
        "news_url": "?fragment=news",
        "first_url": "?",
        "exports": [("csv", "?format=csv")],
        **PAGER,
    }


def traces_map():
    cells = (MatrixCell("both", 3), MatrixCell("outside", 1))
    file = MapRow(f"src/{HOSTILE}", HOSTILE, 1, False, False, 1, 0, True, cells)
    folder = MapRow("src/", "src", 0, True, True, 4, 1, False, (cells[0], None))
    intent = KnownIntent("INT-001", HOSTILE, "IN_PROGRESS")
    return {
        "matrix": {
            "intents": [INTENT, INTENT | {"id": "INT-003"}],
            "rows": [(folder, "?at="), (file, "?at=src")],
            "left_out": 3,
            "at": HOSTILE,
            "top_url": "?",
            "fold_url": "?fold=1",
            "first": 1,
            "last": 2,
            "total": 9,
            "earlier_url": None,
            "later_url": "?cols=2",
        },
        "files": 164,
        "open_intents": 7,
        "owned_percent": 87,
        "q": HOSTILE,
        "results": [
            SearchResult(HOSTILE, (intent,), 1, 38, AGO, ("path",)),
            SearchResult("src/", (intent,), 4, 3, None, ("goal",)),
        ],
        "overlaps": [Overlap("INT-001", "INT-006", HOSTILE, 8, (HOSTILE, "tests/**"), 2, 31)],
        "pairs": 1,
        "outside": [{"path": HOSTILE, "intent_id": "INT-001", "entries": 3}],
        "unowned": [{"path": HOSTILE, "files": 14, "changed": 3}],
        "unowned_files": 14,
    }


def map_file():
    change = {
        "number": 9,
        "at": AGO,
        "agent": HOSTILE,
        "session_id": HOSTILE,
        "intent_id": "INT-003",
        "lines": "31-44",
        "mutation_class": HOSTILE,
        "computed": "AST_REFACTOR",
        "disagrees": True,
        "seal": {"state": "sealing", "number": 4},
    }
    owner = INTENT | {"pattern": HOSTILE, "once": False, "entries": 14, "last": AGO}
    author = LineAuthor(HOSTILE, "INT-001", HOSTILE, HOSTILE, "", AGO, 3, 9)
    commit = Commit("c0ffee" * 6, (), int(AGO.timestamp()), HOSTILE)
    plain = {
        "start": 1,
        "end": 1,
        "state": "unclaimed",
        "author": None,
        "commit": None,
        "new": True,
        "by": None,
    }
    spans = [
        plain,
        plain | {"commit": commit, "new": False},
        plain | {"start": 2, "end": 8, "state": "moved", "author": author},
        plain
        | {"start": 9, "end": 9, "state": "reformatted", "author": author, "commit": commit, "by": author},
    ]
    now = {
        "there": True,
        "read": True,
        "fetches": True,
        "note": TOO_SLOW,
        "gone": Deletion(author, PathChange(commit, HOSTILE, HOSTILE)),
        "names": (PathChange(commit, HOSTILE, HOSTILE), PathChange(commit, HOSTILE, HOSTILE)),
        "spans": spans,
        "more": 3,
        "changed": 2,
        "unchecked": 1,
        "truncated": True,
        "cut": True,
    }
    return {
        "now": now,
        "path": f"src/{HOSTILE}",
        "known_hash": "sha256:9c41",
        "entries": 14,
        "intents": [owner, owner | {"id": "INT-002", "pattern": "", "once": True}],
        "owners": [owner, owner | {"id": "INT-003"}],
        "changes": [change],
        **PAGER,
    }


PAGES = {
    "traces/list": ("traces/trace_list.html", trace_list),
    "traces/broken-proof": ("traces/trace_list.html", lambda: trace_list() | {"drawer": drawer(holds=False)}),
    "traces/no-drawer": (
        "traces/trace_list.html",
        lambda: trace_list() | {"drawer": None, "entries": [], "histogram": None},
    ),
    "traces/map": ("traces/map.html", traces_map),
    "traces/file": ("traces/map_file.html", map_file),
}
