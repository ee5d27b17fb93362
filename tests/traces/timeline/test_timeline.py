"""What happened in a session, in order and in words."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import transaction

from tests.traces.builders import AWAY, HOME, append
from traces.entries.record import Mutation, MutationAuthor, record_mutation
from traces.ledger.append import NewEntry
from traces.ledger.redaction import redact
from traces.ledger.sealing import seal
from traces.models import LedgerEntry
from traces.timeline.describe_entries import SealState, describe
from traces.timeline.minimap import TimedEntry, _find_marks, build_minimap
from traces.timeline.timeline import TimelineWindow, load_timeline

pytestmark = pytest.mark.django_db


def call(tool="read_file", outcome="allow", session="s-1", **body):
    body = {"tool": tool, "classification": "SAFE", "answered": outcome, "targets": [], **body}
    entry = NewEntry(
        HOME, "decision", body, session_id=session, tool=tool, outcome=outcome, intent_id="INT-001"
    )
    return append(entry)


def approval(outcome, **body):
    body = {"approval_id": "ap-1", "targets": ["docs/a.md"], "grant": "", **body}
    return append(NewEntry(HOME, "approval", body, session_id="s-1", outcome=outcome, tool="Write"))


def write(path="src/a.ts"):
    return record_mutation(HOME, Mutation(path, content="a\nb"), MutationAuthor("s-1", "INT-001"))


def rows(**window):
    return load_timeline(HOME, "s-1", TimelineWindow(**window)).rows


def verbs(**window):
    return [row.verb for row in rows(**window)]


def test_a_session_reads_as_a_story():
    append(NewEntry(HOME, "session", {"event": "opened"}, session_id="s-1", outcome="opened"))
    call("read_file", input={"path": "src/a.ts"})
    call("select_active_intent", input={"intent_id": "INT-001"})
    refused = {"error": "Scope Violation: …", "approval_id": "ap-1", "classification": "DESTRUCTIVE"}
    call("write_to_file", "ask", targets=["docs/a.md"], input={"path": "docs/a.md"}, **refused)
    approval("PENDING")
    approval("APPROVED", grant="once", decider="Rex", comment="fine")
    call(
        "write_to_file", targets=["docs/a.md"], classification="DESTRUCTIVE", override={"approval_id": "ap-1"}
    )
    write("docs/a.md")
    call("execute_command", "deny", input={"command": "rm -rf /"}, error="No.", classification="DESTRUCTIVE")
    story = [(row.kind, row.verb, row.outcome, row.object, row.ran) for row in rows()]
    assert story == [
        ("phase", "REQUEST", "", "", None),
        ("call", "Read", "allow", "src/a.ts", None),
        ("phase", "ACTION", "allow", "", None),
        ("call", "Write held, approved once", "approved", "docs/a.md", None),
        ("trace", "Changed", "allow", "docs/a.md", None),
        ("call", "Shell command denied", "deny", "rm -rf /", False),
    ]
    assert rows()[3].approval_id == "ap-1"
    assert rows()[3].note == "Rex: fine. Scope Violation: … The call came back and was allowed."
    assert len(rows()[3].numbers) == 4
    assert rows()[4].meta == "lines 1\N{EN DASH}2"
    assert rows()[5].object_is == "command"


def test_a_stale_write_and_a_monitored_denial_are_told_apart():
    stale = NewEntry(
        HOME,
        "decision",
        {"answered": "deny"},
        session_id="s-1",
        tool="Edit",
        outcome="deny",
        error_type="STALE_FILE",
    )
    append(stale)
    call("Edit", "deny", answered="allow")
    found = rows()
    assert [(row.outcome, row.ran) for row in found] == [("stale", False), ("deny", True)]


def test_runs_of_alike_safe_calls_are_folded():
    for _ in range(3):
        call()
    call("grep")
    call()
    assert [(row.verb, row.times) for row in rows()] == [("Read", 3), ("Search", 1), ("Read", 1)]


def test_a_folded_run_keeps_its_members():
    made = [call(), call(), call()]
    (run,) = rows()
    assert [one.number for one in run.members] == [one.id for one in made]
    assert [one.times for one in run.members] == [1, 1, 1]


def test_a_link_leads_to_the_page_with_its_entry():
    made = [call(f"tool-{number}").id for number in range(60)]
    page = load_timeline(HOME, "s-1", TimelineWindow(entry=made[40], limit=20))
    assert [row.number for row in page.rows] == made[10:30]
    page = load_timeline(HOME, "s-1", TimelineWindow(entry=made[40], limit=40))
    assert [row.number for row in page.rows] == made[10:50]
    assert (page.earlier, page.later) == (made[10], made[49])
    assert load_timeline(HOME, "s-1", TimelineWindow(entry=made[3], limit=40)).rows[0].number == made[0]


def test_nothing_is_left_out_between_pages():
    made = [call(f"tool-{number}").id for number in range(30)]
    after = load_timeline(HOME, "s-1", TimelineWindow(after=made[9], limit=10))
    before = load_timeline(HOME, "s-1", TimelineWindow(before=after.earlier, limit=10))
    assert [row.number for row in before.rows + after.rows] == made[:20]


def test_a_stretch_of_time_can_be_shown():
    first, second = call("one"), call("two")
    assert verbs(since=second.received_at) == ["Call two"]
    assert verbs(until=second.received_at) == ["Call one"]
    assert verbs(since=first.received_at) == ["Call one", "Call two"]


def test_the_minimap_has_a_lane_for_calls_for_what_was_stopped_and_for_writes():
    call()
    call("Write", "deny")
    write()
    drawn = build_minimap(HOME, "s-1", {"q": "x"}, None, None)
    assert [name for name, _ in drawn["paths"]] == ["other", "deny", "trace"]
    assert {slot.url[:5] for slot in drawn["slots"]} == {"?q=x&"}
    assert (
        "1 allowed, 1 denied, 1 written" in " ".join(slot.words for slot in drawn["slots"])
        or len(drawn["slots"]) > 1
    )
    assert drawn["window"] is None
    now = LedgerEntry.objects.latest("pk").received_at
    whole = build_minimap(HOME, "s-1", {}, now - timedelta(hours=1), now + timedelta(hours=1))
    assert whole["window"] == {"x": 0, "width": 960}
    assert build_minimap(HOME, "nobody", {}, None, None) is None


def test_a_held_call_is_as_long_as_it_waited():
    held = TimedEntry(100, "decision", "ask")
    assert _find_marks(
        [held, TimedEntry(101, "approval", "PENDING"), TimedEntry(160, "approval", "APPROVED")]
    ) == [(held, 60)]
    assert _find_marks([held]) == [(held, 0)]


def test_only_changes_and_refusals_can_be_shown():
    call()
    write()
    call("Write", "deny")
    assert verbs(only_changes=True) == ["Changed", "Write denied"]


def test_a_text_is_looked_for_in_paths_tools_and_ids():
    call("grep")
    write("src/billing.ts")
    assert verbs(text="billing") == ["Changed"]
    assert verbs(text="GREP") == ["Search"]
    assert verbs(text="nothing") == []


def test_pages_hang_together():
    for number in range(25):
        call(f"tool-{number}")
    newest = load_timeline(HOME, "s-1", TimelineWindow(limit=10))
    assert [row.tool for row in newest.rows] == [f"tool-{n}" for n in range(15, 25)]
    assert newest.later is None
    before = load_timeline(HOME, "s-1", TimelineWindow(before=newest.earlier, limit=10))
    assert [row.tool for row in before.rows] == [f"tool-{n}" for n in range(5, 15)]
    first = load_timeline(HOME, "s-1", TimelineWindow(before=before.earlier, limit=10))
    assert [row.tool for row in first.rows] == [f"tool-{n}" for n in range(5)]
    assert first.earlier is None
    after = load_timeline(HOME, "s-1", TimelineWindow(after=first.later, limit=10))
    assert [row.tool for row in after.rows] == [f"tool-{n}" for n in range(5, 15)]
    last = load_timeline(HOME, "s-1", TimelineWindow(after=after.later, limit=10))
    assert ([row.tool for row in last.rows], last.later) == ([f"tool-{n}" for n in range(15, 25)], None)


def test_other_sessions_and_workspaces_stay_out():
    call(session="s-2")
    append(NewEntry(AWAY, "decision", {}, session_id="s-1", tool="x"))
    assert rows() == []


def test_a_page_costs_the_same_however_long_it_is(django_assert_num_queries):
    for number in range(30):
        call(f"tool-{number}")
        write(f"f{number}")
    with django_assert_num_queries(2):
        assert len(rows()) == 60


def test_each_row_says_whether_it_is_sealed():
    write()
    assert rows()[0].seal == SealState("sealing", 0)
    seal(HOME)
    assert rows()[0].seal == SealState("sealed", 0)


def test_a_redacted_entry_is_still_a_row():
    made = call()
    redact(LedgerEntry.objects.get(pk=made.id), reason="secret", actor="Ada")
    assert "taken out" in rows()[0].note


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"input": "text", "targets": []},
        {"input": {"command": 5, "path": ["x"]}, "targets": ["a", "b"]},
        {"input": None, "error": 7, "classification": None},
        {"input": {"command": "x" * 5000}, "error": "y" * 5000},
    ],
)
def test_odd_calls_never_break_the_page(body):
    made = append(NewEntry(HOME, "decision", body, session_id="s-1", tool="", outcome="deny"))
    row = describe(LedgerEntry.objects.get(pk=made.id))
    assert len(row.object) < 500
    assert len(row.note) < 500


@pytest.mark.parametrize(
    "kind",
    ["intent", "policy", "lesson", "redaction", "import", "session", "approval", "trace", "reconciliation"],
)
def test_every_kind_has_words(kind):
    with transaction.atomic():
        made = append(NewEntry(HOME, kind, {"files": []}, session_id="s-1", outcome="done"))
    assert describe(LedgerEntry.objects.get(pk=made.id)).verb
