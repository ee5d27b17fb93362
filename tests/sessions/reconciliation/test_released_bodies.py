"""After old bodies left for an archive, answers about git and lines are the same as before."""

from __future__ import annotations

import pytest
from django.core.management import call_command

from tests.sessions.reconciliation.calls import ROOT, changed, found, trace, write
from traces.blame.blame import blame
from traces.ledger.redaction import redact
from traces.ledger.sealing import seal
from traces.models import BodyExcerpt, LedgerBody, LedgerEntry, TraceFile
from traces.verification.verify import verify

TEXT = b"one\ntwo\n"
FILES = [
    changed("src/auth/a.ts", "one\ntwo\n"),
    changed("src/auth/gone.ts"),
    changed("src/auth/forged.ts", "evil\n"),
    changed("docs/a.md", "x"),
]


@pytest.fixture
def history(acme, working):
    """An explained file, a deletion, a trace without a call, a refused path, and a call that reads."""
    write(working, "src/auth/a.ts", "one\ntwo\n")
    working.gate("Read", file_path=f"{ROOT}/src/auth/a.ts", root=ROOT, cwd=ROOT)
    working.gate("Bash", command="rm src/auth/gone.ts", root=ROOT, cwd=ROOT)
    trace(working, "src/auth/gone.ts", None)
    trace(working, "src/auth/forged.ts", "evil\n")
    working.gate("Write", file_path=f"{ROOT}/docs/a.md", content="x", root=ROOT)
    seal(acme.pk)
    return acme


def release(workspace, folder):
    folder.mkdir(exist_ok=True)
    options = ["--before", "100000", "--to", str(folder), "--every-entry", "--release"]
    call_command("archive_ledger", "--workspace", workspace.slug, *options)
    assert not LedgerBody.objects.filter(entry__kind__in=["decision", "trace"]).exists()


def answers(workspace, speaker):
    authors = blame(workspace.pk, "src/auth/a.ts", TEXT).authors.values()
    lines = sorted((one.entry_id, one.start, one.end, one.mutation_class) for one in authors)
    classes = list(TraceFile.objects.order_by("pk").values_list("path", "mutation_class"))
    return found(speaker, *FILES, query="?dry_run=1", status=200), lines, classes


def test_a_release_changes_no_answer(history, working, tmp_path):
    before = answers(history, working)
    assert before[0] == {
        "src/auth/a.ts": ("explained", "traced"),
        "src/auth/gone.ts": ("explained", "traced"),
        "src/auth/forged.ts": ("unexplained", "traced_without_decision"),
        "docs/a.md": ("out_of_scope", "denied"),
    }
    release(history, tmp_path / "archives")
    assert answers(history, working) == before
    assert verify(history.pk).ok


@pytest.mark.parametrize("forgery", ["text", "note", "note of another entry", "only the note"])
def test_a_forged_excerpt_explains_nothing_and_is_named(history, working, tmp_path, forgery):
    release(history, tmp_path / "archives")
    rows = BodyExcerpt.objects.filter(entry__kind="decision").exclude(note="").order_by("-pk")
    for row in rows:
        values = {
            "text": {"excerpt": bytes(row.excerpt).replace(b'"deny"', b'"allow"') + b" "},
            "note": {"note": "no note"},
            "note of another entry": {"note": rows.exclude(pk=row.pk).latest("pk").note},
            "only the note": {"note": row.note.replace("excerpt of", "archive of")},
        }
        BodyExcerpt.objects.filter(pk=row.pk).update(**values[forgery])
    outcome, reason = found(working, FILES[0], query="?dry_run=1", status=200)["src/auth/a.ts"]
    assert (outcome, reason) == ("unexplained", "decision_archived")
    assert "PROJECTION_CHANGED" in {problem.kind for problem in verify(history.pk).problems}


def test_what_was_released_before_there_were_excerpts_says_so_until_it_is_released_again(
    history, working, tmp_path
):
    release(history, tmp_path / "archives")
    BodyExcerpt.objects.all().delete()
    assert found(working, FILES[0], query="?dry_run=1", status=200) == {
        "src/auth/a.ts": ("unexplained", "decision_archived")
    }
    (file,) = (tmp_path / "archives").iterdir()
    call_command("restore_archive", str(file))
    call_command("restore_archive", str(file), "--release")
    assert found(working, FILES[0], query="?dry_run=1", status=200) == {
        "src/auth/a.ts": ("explained", "traced")
    }


def test_a_redaction_takes_the_excerpt_along(history, working, tmp_path):
    release(history, tmp_path / "archives")
    decision = LedgerEntry.objects.filter(kind="decision", tool="Write").earliest("pk")
    assert BodyExcerpt.objects.filter(entry=decision).exclude(note="").exists()
    redact(decision, reason="secret", actor="Ada")
    assert not BodyExcerpt.objects.filter(entry=decision).exists()
    assert verify(history.pk).ok
