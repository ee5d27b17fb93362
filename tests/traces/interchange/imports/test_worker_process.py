"""A file that is prepared by a second process: the same in the ledger, and nothing lost when one of them dies."""

from __future__ import annotations

import io
import itertools
import json
import os
import select
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import workspace
from tests.live import ROOT, LiveServer
from tests.traces.builders import AWAY, HOME, append, decision
from tests.traces.data import DATA
from traces.errors import WorkerStoppedError
from traces.interchange.imports import import_file as importing
from traces.interchange.imports import worker_process
from traces.interchange.imports.import_file import TraceImportOptions, import_file
from traces.interchange.post_entries import post_entries
from traces.ledger import bulk_insert
from traces.ledger.append import read_body
from traces.ledger.sealing import count_unsealed
from traces.management.commands import import_traces
from traces.models import Checkpoint, EntryKind, LedgerEntry, TraceFile
from traces.verification.verify import verify

pytestmark = [pytest.mark.django_db, pytest.mark.deep]

REAL = sorted((DATA / "real").glob("*.jsonl"))
BAD = sorted(path for path in (DATA / "bad_input").iterdir() if path.name != "index.json")
COLUMNS = ("kind", "entry_id", "session_id", "intent_id", "outcome", "agent", "reason")


@pytest.fixture(autouse=True)
def started(monkeypatch):
    """Every file is large here; the processes that were started."""
    monkeypatch.setattr(worker_process, "MIN_WORKER_FILE_SIZE", 1)
    monkeypatch.setattr(worker_process, "count_processors", lambda: 2)
    real, known = worker_process._start_worker, []

    def start(how):
        known.append(real(how))
        return known[-1]

    monkeypatch.setattr(worker_process, "_start_worker", start)
    return known


def entry(number, **more):
    lines = [
        {"start_line": 1, "end_line": 9, "content_hash": "sha256:aa"},
        {"start_line": 12, "end_line": 12},
    ]
    talk = {"url": "s-1", "contributor": {"entity_type": "AI", "model_identifier": "m"}, "ranges": lines}
    talk["related"] = [{"type": "specification", "value": one} for one in ("INT-1", "INT-2")]
    files = [{"relative_path": f"src/{number % 7}.py", "conversations": [talk]}, {"relative_path": "README"}]
    return {"id": f"e-{number}", "timestamp": "2026-02-21T12:00:00.5Z", "files": files, **more}


def line_of(*values):
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def bring(raw, workspace_id=HOME, **how):
    return import_file(
        io.BytesIO(raw).read, TraceImportOptions(workspace_id, "Max", **{"use_worker": True, **how})
    )


def stored(workspace_id):
    """All that the tables hold of a workspace's traces, but for row ids, salts and moments."""
    rows = LedgerEntry.objects.filter(workspace_id=workspace_id, kind=EntryKind.TRACE).select_related(
        "body", "trace"
    )
    return [
        (
            *(getattr(row, name) for name in COLUMNS),
            bytes(row.body.body),
            (row.trace.changed_at, row.trace.revision_id, row.trace.imported),
            [_file(file) for file in row.files.order_by("pk")],
        )
        for row in rows.order_by("pk")
    ]


def _file(file):
    left_out = {"id", "entry_id", "workspace_id", "file_id", "salt", "_state"}
    ranges = file.ranges.order_by("pk")
    return [{k: v for k, v in vars(row).items() if k not in left_out} for row in (file, *ranges)]


def both_ways(raw, home=HOME, away=AWAY, **how):
    alone = bring(raw, home, use_worker=False, **how)
    together = bring(raw, away, **how)
    assert together.to_dict() == alone.to_dict()
    assert stored(away) == stored(home)
    assert verify(home).ok
    assert verify(away).ok
    return together


@pytest.mark.parametrize("lenient", [False, True])
def test_real_files_are_told_and_stored_the_same(lenient, started):
    raw = b"\n".join(file.read_bytes() for file in REAL)
    report = both_ways(raw, lenient=lenient)
    assert len(started) == 1
    assert report.entries > 100 if lenient else report.error_count > 100
    assert bring(raw, lenient=lenient).entries == 0


@pytest.mark.parametrize("file", BAD, ids=lambda file: file.name)
def test_bad_files_are_told_and_stored_the_same(file):
    both_ways(file.read_bytes())


ODD_TEXT = st.text(st.sampled_from("ab\\\t\n\r'\"N\u2028é😀"), max_size=8)
ODD_LINES = st.sampled_from([b"", b"# a comment", b"{", b'{"id": 7}', b"\xff", b'[{"id": "a"},'])
ENTRIES = st.builds(
    lambda number, text, path: line_of(
        entry(number, mutation_class=text, note=text, intent_id=text),
        entry(number + 9, files=[{"relative_path": path, "content_hash": text}]),
    ),
    st.integers(0, 12),
    ODD_TEXT,
    ODD_TEXT,
)
FRESH = itertools.count(1000)


@settings(max_examples=12, deadline=None)
@given(
    st.lists(ENTRIES | ODD_LINES.map(lambda line: line + b"\n"), min_size=1, max_size=12),
    st.booleans(),
    st.sampled_from([None, 3]),
)
def test_whatever_a_file_holds_is_told_and_stored_the_same(pieces, lenient, commit_every):
    both_ways(b"".join(pieces), next(FRESH), next(FRESH), lenient=lenient, commit_every=commit_every)


def test_an_import_stores_what_a_post_of_the_same_entries_stores():
    raw = line_of(*map(entry, range(30)), entry(30, mutation_class="a\\\tb\n\\N", intent_id="INT-é\r"))
    both_ways(raw)
    posted, made = post_entries(AWAY + 1, raw, "Max")
    assert posted.entries == len(made) == 31
    assert [_without_source(row) for row in stored(AWAY + 1)] == [
        _without_source(row) for row in stored(AWAY)
    ]


def _without_source(row):
    *columns, _reason, body, (changed_at, revision, _imported), files = row
    return (
        columns,
        body,
        changed_at,
        revision,
        [{name: value for name, value in one.items() if name != "imported"} for of in files for one in of],
    )


def test_contradictions_inside_a_batch_and_with_what_is_there(monkeypatch):
    monkeypatch.setattr(importing, "BATCH_SIZE", 4)
    first = line_of(*map(entry, range(5)))
    second = line_of(entry(0), entry(5), entry(3, x=1), entry(6), entry(6, x=1), entry(5), entry(7))
    both_ways(first)
    report = both_ways(second)
    assert [(one.type, one.line) for one in report.errors] == [("DUPLICATE_ID", 3), ("DUPLICATE_ID", 5)]
    report = both_ways(second, lenient=True)
    assert (report.entries, report.duplicates) == (5, 2)
    assert both_ways(second, lenient=True).entries == 0
    assert TraceFile.objects.filter(workspace_id=HOME, entry__entry_id="e-7").count() == 3


def test_one_known_entry_among_the_last_of_a_batch_leaves_nothing_half_written(monkeypatch):
    monkeypatch.setattr(bulk_insert, "STATEMENT_ROWS", 3)
    bring(line_of(entry(7)))
    report = bring(line_of(*map(entry, range(9))))
    assert (report.entries, report.duplicates) == (8, 1)
    assert LedgerEntry.objects.filter(kind=EntryKind.TRACE).count() == 9
    assert TraceFile.objects.values("path").filter(path="README").count() == 9
    assert verify(HOME).ok


def test_each_portion_is_sealed_and_the_database_is_as_it_was():
    usual = pragmas()
    bring(line_of(*map(entry, range(8))), commit_every=3)
    sizes = list(Checkpoint.objects.order_by("size").values_list("size", flat=True))
    assert sizes == [3, 6, 8, 9]  # the last one holds the record of the import
    assert pragmas() == usual


@pytest.mark.parametrize("commit_every", [None, 3])
def test_what_waited_before_an_import_is_sealed_with_it(commit_every):
    append(decision())
    bring(line_of(*map(entry, range(8))), commit_every=commit_every)
    assert count_unsealed(HOME) == 0
    assert verify(HOME).unsealed == 0


def pragmas():
    if connection.vendor != "sqlite":
        return None
    with connection.cursor() as cursor:
        names = ("cache_size", "wal_autocheckpoint")
        return [cursor.execute(f"PRAGMA {name}").fetchone() for name in names]


@pytest.mark.parametrize(("size", "processors"), [(10**9, 2), (1, 1)])
def test_a_small_file_or_a_single_processor_needs_no_second_process(size, processors, monkeypatch, started):
    monkeypatch.setattr(worker_process, "MIN_WORKER_FILE_SIZE", size)
    monkeypatch.setattr(worker_process, "count_processors", lambda: processors)
    assert bring(line_of(*map(entry, range(3)))).entries == 3
    assert started == []


def test_there_is_at_least_one_processor(monkeypatch):
    monkeypatch.undo()
    assert worker_process.count_processors() >= 1
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert worker_process.count_processors() == 1


def kill(started, which):
    return lambda: started[which].kill()  # noqa: PLW0108 - it starts later


def endless(after, do):
    """Reads entries without an end; does something after so many reads."""
    numbers = itertools.count()

    def read(_size):
        if next(reads) == after:
            do()
        return line_of(*(entry(next(numbers)) for _ in range(100)))

    reads = itertools.count()
    return read


def test_a_killed_process_is_an_error_and_what_was_committed_stays(monkeypatch, started):
    monkeypatch.setattr(importing, "BATCH_SIZE", 50)
    whole = TraceImportOptions(HOME, "Max", use_worker=True)
    with pytest.raises(WorkerStoppedError, match="status -9"):
        import_file(endless(20, kill(started, 0)), whole)
    assert not LedgerEntry.objects.exists()
    with pytest.raises(WorkerStoppedError, match="status -9"):
        import_file(
            endless(60, kill(started, 1)), TraceImportOptions(HOME, "Max", use_worker=True, commit_every=100)
        )
    kept = LedgerEntry.objects.count()
    assert kept > 0
    assert kept % 100 == 0
    report = bring(line_of(*map(entry, range(kept + 5))))
    assert (report.entries, report.duplicates) == (5, kept)
    assert verify(HOME).ok


def test_a_file_that_cannot_be_read_on_is_no_file_that_ends(started):
    def fail():
        raise OSError(5, "Input/output error")

    with pytest.raises(OSError, match="Input/output"):
        import_file(endless(20, fail), TraceImportOptions(HOME, "Max", use_worker=True, lenient=True))
    assert not LedgerEntry.objects.exists()
    assert started[0].returncode is not None


def test_an_error_while_storing_stops_the_other_process(monkeypatch, started):
    def full(*_):
        raise MemoryError

    monkeypatch.setattr(importing, "store_batch", full)
    with pytest.raises(MemoryError):
        import_file(endless(-1, full), TraceImportOptions(HOME, "Max", use_worker=True))
    assert started[0].returncode is not None


def test_nothing_is_imported_from_the_folder_in_which_an_import_is_started(tmp_path, monkeypatch):
    for name in ("django", "json", "traces"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(tmp_path)
    assert bring(line_of(entry(1))).entries == 1


def test_the_command_names_a_process_that_was_stopped(tmp_path, monkeypatch, started):
    file = tmp_path / "agent_trace.jsonl"
    file.write_bytes(line_of(entry(1)))
    monkeypatch.setattr(worker_process, "WORKER_CODE", "raise SystemExit(7)")
    with pytest.raises(CommandError, match=r"status 7.*continues where it stopped"):
        call_command("import_traces", str(file), workspace=workspace("payments").slug, stdout=io.StringIO())


@pytest.fixture
def scratch(tmp_path):
    server = LiveServer(tmp_path)
    yield server
    server.close()


def test_an_import_that_is_killed_goes_on_where_it_stopped(scratch, tmp_path):
    count, portion = import_traces.COMMIT_EVERY * 2 - 2000, import_traces.COMMIT_EVERY
    file = tmp_path / "agent_trace.jsonl"
    file.write_bytes(line_of(*(entry(number, files=[], note="x" * 350) for number in range(count))))
    assert file.stat().st_size > 8 * 1024 * 1024 / 0.6  # so much is read before the other process starts
    scratch.manage("create_workspace", "acme", "--json")
    command = ["import_traces", str(file), "--workspace", "acme", "--lenient"]
    killed = subprocess.Popen(
        [sys.executable, "manage.py", *command], cwd=ROOT, env=scratch.env, stderr=subprocess.PIPE, text=True
    )
    assert any("70 %" in line for line in killed.stderr)
    [other] = Path(f"/proc/{killed.pid}/task/{killed.pid}/children").read_text().split()
    watched = os.pidfd_open(int(other))
    killed.kill()
    killed.wait()
    assert select.select([watched], [], [], 10)[0], "the process that prepares goes on alone"
    os.close(watched)
    assert f"{count - portion} new, {portion} known before" in scratch.manage(*command)
    assert "acme: holds" in scratch.manage("verify_ledger", "--workspace", "acme")


def test_bodies_come_back_as_they_were_sent():
    bring(line_of(entry(1, note="é\t\\")))
    assert read_body(LedgerEntry.objects.get(entry_id="e-1"))["note"] == "é\t\\"
