"""`import_traces`: reports, exit status, progress, and going on after an interruption."""

from __future__ import annotations

import io
import json
import os
import threading

import pytest
from django.core.management import CommandError, call_command

from tests.builders import workspace
from traces.interchange.imports import import_file
from traces.management.commands import import_traces
from traces.management.progress import Progress
from traces.models import EntryKind, LedgerEntry

pytestmark = pytest.mark.django_db


def entry(number, **more):
    return {"id": f"e-{number}", "timestamp": "2026-02-21T12:00:00Z", "files": [], **more}


@pytest.fixture
def home():
    return workspace("payments")


@pytest.fixture
def bring(home, tmp_path):
    def run(*values, raw=None, **options):
        file = tmp_path / "agent_trace.jsonl"
        file.write_bytes(raw or b"".join(json.dumps(value).encode() + b"\n" for value in values))
        out = io.StringIO()
        call_command("import_traces", str(file), workspace=home.slug, stdout=out, **options)
        return out.getvalue()

    return run


def stored():
    return LedgerEntry.objects.filter(kind=EntryKind.TRACE).count()


def test_a_file_goes_in_and_again_without_effect(bring, capsys):
    assert "2 new, 0 known before" in bring(entry(1), entry(2))
    assert "0 new, 2 known before" in bring(entry(1), entry(2))
    assert "importing: 100 %" in capsys.readouterr().err
    assert json.loads(bring(entry(1), entry(2), json=True))["duplicates"] == 2


def test_a_bad_line_anywhere_changes_nothing(bring, monkeypatch):
    monkeypatch.setattr(import_traces, "COMMIT_EVERY", 2)
    with pytest.raises(CommandError, match=r"3 error.* Nothing was changed") as refused:
        bring(*map(entry, range(9)), {"id": 7})
    assert refused.value.returncode == 1
    assert stored() == 0


def test_a_rewritten_file_has_an_exit_status_of_its_own(bring):
    bring(entry(1), entry(2))
    with pytest.raises(CommandError, match="past was rewritten") as told:
        bring(entry(2), lenient=True)
    assert told.value.returncode == import_traces.REWRITTEN
    with pytest.raises(CommandError, match="Nothing was changed"):
        bring(entry(2, x=1))
    assert stored() == 2


def test_what_to_do_next_is_said(bring):
    bring(entry(1))
    with pytest.raises(CommandError, match=r"With --lenient"):
        bring({"id": 7})
    with pytest.raises(
        CommandError, match=r"past was rewritten since agent_trace.jsonl .*another file.*--source"
    ):
        bring(entry(9))


def test_a_pipe_is_read_once_and_as_a_whole(home, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    raw = json.dumps(entry(1)).encode() + b"\n"
    for tail, words in ((b"{}\n", "Nothing was changed"), (b"", "1 new")):
        writing = threading.Thread(target=pipe.write_bytes, args=(raw + tail,))
        writing.start()
        out = io.StringIO()
        try:
            call_command("import_traces", str(pipe), workspace=home.slug, stdout=out)
        except CommandError as refused:
            out.write(str(refused))
        writing.join()
        assert words in out.getvalue()
    assert stored() == 1


def test_an_interrupted_import_goes_on_where_it_stopped(bring, monkeypatch):
    monkeypatch.setattr(import_traces, "COMMIT_EVERY", 3)
    monkeypatch.setattr(import_file, "BATCH_SIZE", 2)
    real, calls = import_file.store_batch, []

    def interrupted(*args):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return real(*args)

    monkeypatch.setattr(import_file, "store_batch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        bring(*map(entry, range(8)))
    assert stored() == 3
    assert "5 new, 3 known before" in bring(*map(entry, range(8)))
    assert "1 new, 8 known before" in bring(*map(entry, range(9)))


def test_standard_input_is_all_or_nothing(home, monkeypatch):
    raw = json.dumps(entry(1)).encode() + b"\n{}\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(raw)))
    with pytest.raises(CommandError, match="Nothing was changed"):
        call_command("import_traces", "-", workspace=home.slug, stdout=io.StringIO())
    assert stored() == 0


@pytest.mark.parametrize(
    ("options", "text"),
    [({"source": "a\nb"}, "printable"), ({"workspace": "nowhere"}, "no workspace")],
)
def test_wrong_options_are_named(bring, options, text, home):
    with pytest.raises(CommandError, match=text):
        call_command("import_traces", "x", **{"workspace": home.slug, **options})


def test_a_file_that_is_not_there_is_named(home):
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("import_traces", "/nowhere/at/all", workspace=home.slug)


def test_a_terminal_gets_a_bar():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    out = Terminal()
    progress = Progress(io.BytesIO(b"x" * 100), "importing", 100, out)
    while progress.read(25):
        pass
    assert out.getvalue().endswith(f"[{'#' * 30}] 100 %\n")
    assert out.getvalue().count("\r") == 4
