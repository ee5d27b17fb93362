"""Old entries leave for a file and nothing is lost: not by a cut, a crash, a second archiver or a forger."""

from __future__ import annotations

import gzip
import json
import multiprocessing
import os
import signal

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction

from controlplane.models import Workspace
from tests.traces.builders import append_many, decision, replace_key, tamper
from traces.archives import archive
from traces.archives.archive_format import ArchiveError, ArchiveReader, compute_file_digest
from traces.entries.deduplicate import SubmittedEntry
from traces.entries.record import StoreOptions, store_entries
from traces.ledger import append, proofs
from traces.ledger.checkpoints import format_verifier_key, load_public_key
from traces.ledger.log_name import log_origin
from traces.ledger.redaction import redact
from traces.ledger.sealing import seal
from traces.ledger.standalone_verifier import Keys, check_archive
from traces.models import LedgerArchive, LedgerBody, LedgerEntry, LedgerLeaf, TraceFile, TraceRange
from traces.verification.removed_bodies import _merge_ranges
from traces.verification.repair import rebuild_projections
from traces.verification.verify import verify

pytestmark = pytest.mark.django_db
ACTOR = "test"


@pytest.fixture
def home(db):
    return Workspace.objects.create(slug="home", name="Home")


@pytest.fixture
def filled(home):
    """A ledger of two full tiles and a piece of a third."""
    fill(home)
    return home


def fill(home, count=600):
    with transaction.atomic():
        append.append_many(
            decision(workspace_id=home.pk, body={"tool": "write", "n": n}) for n in range(count)
        )
    seal(home.pk)


def archived(home, folder, end=10**6):
    return archive.create_archive(home.pk, home.slug, end, folder, actor=ACTOR)


def archive_ledger(folder, *flags, before="600"):
    call_command("archive_ledger", "--workspace", "home", "--before", before, "--to", str(folder), *flags)


def at(home, seq):
    return LedgerLeaf.objects.select_related("entry").get(workspace_id=home.pk, seq=seq).entry


def bodies(home):
    return LedgerBody.objects.filter(entry__workspace_id=home.pk, entry__kind="decision").count()


def found(report):
    return [(problem.kind, problem.seq) for problem in report.problems]


def rewritten(path, change):
    """The file with its lines changed by somebody who has no key."""
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    path.write_bytes(gzip.compress(b"".join(change(lines)), mtime=0))


def test_whole_tiles_go_into_a_file_that_holds(filled, tmp_path):
    made = archived(filled, tmp_path)
    path = tmp_path / "home-ledger-0-511.jsonl.gz"
    assert [file.name for file in tmp_path.iterdir()] == [made.name] == [path.name]
    assert (made.first_seq, made.end_seq, bytes(made.digest)) == (0, 512, compute_file_digest(path))
    assert archive.check_archive(path, filled.pk).bodies == 512
    with ArchiveReader(path) as reader:
        read = [json.loads(one.body)["n"] for one in reader.entries()]
    assert read == list(range(512))
    assert path.stat().st_mode & 0o777 == 0o600
    assert bodies(filled) == 600


def test_the_same_entries_make_the_same_file(filled, tmp_path):
    archived(filled, tmp_path)
    (again := tmp_path / "again").mkdir()
    tamper("DELETE FROM traces_ledgerarchive")
    append_many(3, workspace_id=filled.pk)
    archived(filled, again)
    one, other = tmp_path / "home-ledger-0-511.jsonl.gz", again / "home-ledger-0-511.jsonl.gz"
    assert one.read_bytes() == other.read_bytes()


def test_the_next_archive_begins_where_the_last_one_ended(filled, tmp_path):
    assert archived(filled, tmp_path, end=300).end_seq == 256
    assert archived(filled, tmp_path, end=511) is None
    assert archived(filled, tmp_path).name == "home-ledger-256-511.jsonl.gz"
    assert archived(filled, tmp_path) is None
    for path in tmp_path.iterdir():
        archive.check_archive(path, filled.pk)


def test_bodies_leave_and_the_ledger_still_proves_and_verifies(filled, tmp_path):
    made = archived(filled, tmp_path)
    assert archive.release_bodies(made, tmp_path / made.name, actor=ACTOR) == 512
    assert bodies(filled) == 88
    assert append.read_body(at(filled, 5)) is None
    seal(filled.pk)
    report = verify(filled.pk)
    assert (report.ok, report.archived, report.redacted) == (True, 512, 0)
    proof = proofs.prove_inclusion(at(filled, 5), report.size)
    assert proof.root.hex() == report.root
    outcomes = LedgerEntry.objects.filter(kind="policy").order_by("pk").values_list("outcome", flat=True)
    assert list(outcomes) == ["archived", "released"]


def test_what_the_workspace_goes_on_asking_for_stays(home, tmp_path):
    kinds = ["decision", "approval", "trace", "session", "import", "intent", "policy", "lesson"]
    with transaction.atomic():
        append.append_many(decision(workspace_id=home.pk, kind=kinds[n % 8]) for n in range(256))
    made = archived(home, tmp_path)
    assert archive.release_bodies(made, tmp_path / made.name, actor=ACTOR) == 256 * 5 // 8
    left = LedgerBody.objects.filter(entry__leaf__seq__lt=256).values_list("entry__kind", flat=True)
    assert set(left) == {"intent", "policy", "lesson"}
    assert verify(home.pk).ok


def test_nothing_but_an_archive_of_its_place_lets_a_body_go(filled, tmp_path):
    def refused(statement, entry):
        with (
            pytest.raises(DatabaseError, match="insert-only"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(statement, [entry.pk])

    refused("DELETE FROM traces_ledgerbody WHERE entry_id = %s", at(filled, 5))
    archived(filled, tmp_path, end=256)
    refused("DELETE FROM traces_ledgerbody WHERE entry_id = %s", at(filled, 256))
    refused("UPDATE traces_ledgerbody SET body = '' WHERE entry_id = %s", at(filled, 5))
    refused("DELETE FROM traces_ledgerentry WHERE id = %s", at(filled, 5))
    other = Workspace.objects.create(slug="other", name="Other")
    fill(other, 256)
    refused("DELETE FROM traces_ledgerbody WHERE entry_id = %s", at(other, 5))
    refused("DELETE FROM traces_ledgerarchive WHERE id > %s - 1000000", at(filled, 5))
    refused("UPDATE traces_ledgerarchive SET end_seq = 600 WHERE id < %s + 1000000", at(filled, 5))
    assert LedgerBody.objects.filter(entry=at(filled, 5)).delete()[0] == 1


def test_a_forged_row_lets_bodies_go_but_verification_names_them(filled):
    LedgerArchive.objects.create(
        workspace_id=filled.pk, first_seq=0, end_seq=256, name="forged.jsonl.gz", size_bytes=1,
        digest=b"x" * 32, note="forged", created_at="2026-01-01T00:00:00Z",
    )  # fmt: skip
    LedgerBody.objects.filter(entry=at(filled, 5)).delete()
    assert found(verify(filled.pk)) == [("ARCHIVE_CHANGED", None), ("BODY_MISSING", 5)]


def test_a_row_that_says_more_than_its_seal_counts_for_nothing(filled, tmp_path):
    archived(filled, tmp_path, end=256)
    tamper("UPDATE traces_ledgerarchive SET end_seq = 512")
    LedgerBody.objects.filter(entry=at(filled, 300)).delete()
    assert found(verify(filled.pk)) == [("ARCHIVE_CHANGED", None), ("BODY_MISSING", 300)]


def test_an_archive_sealed_by_a_stranger_counts_for_nothing(filled, tmp_path, settings):
    archived(filled, tmp_path)
    settings.LEDGER_KEY_FILE = tmp_path / "other_key.pem"
    with pytest.raises(ArchiveError, match="no key of this installation"):
        archive.check_archive(tmp_path / "home-ledger-0-511.jsonl.gz", filled.pk)
    assert "BAD_SIGNATURE" in {kind for kind, _ in found(verify(filled.pk))}


def test_after_a_change_of_keys_old_archives_hold(home, tmp_path, settings):
    settings.LEDGER_KEY_FILE = tmp_path / "ledger_key.pem"
    fill(home, 256)
    made = archived(home, tmp_path)
    replace_key()
    assert archive.check_archive(tmp_path / made.name, home.pk).bodies == 256
    assert archive.release_bodies(made, tmp_path / made.name, actor=ACTOR) == 256
    assert verify(home.pk).ok


@pytest.mark.deep
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda lines: [line.replace(b'\\"n\\":7,', b'\\"n\\":8,') for line in lines], "body of entry 7"),
        (lambda lines: [line.replace(b"decision", b"decisioN", 1) for line in lines], "do not lead|another one"),
        (lambda lines: lines[:8] + lines[9:], "entry 7 is missing"),
        (lambda lines: lines[:-1], "truncated"),
        (lambda lines: [*lines[:-1], lines[-1].rstrip()], "truncated"),
        (lambda lines: [*lines, b"{}\n"], "follows its seal"),
        (lambda lines: [*lines[:-1], b"{}\n"], "no seal"),
        (lambda lines: [b"hello\n", *lines], "not JSON"),
        (lambda lines: [b"[]\n", *lines], "not a JSON object"),
        (lambda lines: lines[1:], "does not begin as an archive"),
        (lambda lines: [lines[0].replace(b'"end":512', b'"end":511'), *lines[1:]], "tree around"),
        (lambda lines: [lines[0].replace(b'"end":512', b'"end":99999'), *lines[1:]], "another ledger or range"),
        (lambda lines: [lines[0].replace(b'"first":0', b'"first":"0"'), *lines[1:]], "cannot be read|no range"),
        (lambda lines: [*lines[:3], b'{"seq":2}\n', *lines[4:]], "entry 2 cannot be read"),
        (lambda lines: [*lines[:3], lines[3].replace(b'"salt":"', b'"salt":null,"x":"'), *lines[4:]], "half a body"),
    ],
)  # fmt: skip
def test_a_changed_archive_is_refused_and_nothing_is_let_go(filled, tmp_path, change, words):
    made = archived(filled, tmp_path)
    path = tmp_path / made.name
    rewritten(path, change)
    with pytest.raises(ArchiveError, match=words):
        archive.check_archive(path, filled.pk)
    for refused in (lambda: archive.release_bodies(made, path, actor=ACTOR), lambda: call_restore(path)):
        with pytest.raises((ArchiveError, CommandError)):
            refused()
    assert bodies(filled) == 600


def call_restore(path):
    call_command("restore_archive", str(path))


def test_any_changed_byte_of_the_file_is_refused(filled, tmp_path):
    made = archived(filled, tmp_path, end=256)
    path = tmp_path / made.name
    whole = path.read_bytes()
    for place in range(4, len(whole), len(whole) // 40):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(ArchiveError):
            archive.release_bodies(made, path, actor=ACTOR)
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ArchiveError):
        archive.check_archive(path, filled.pk)
    assert bodies(filled) == 600


def test_a_body_that_was_left_out_of_an_archive_is_missed(filled, tmp_path):
    tamper("DELETE FROM traces_ledgerbody WHERE entry_id = %s", [at(filled, 9).pk])
    with pytest.raises(ArchiveError, match="entry 9 has no body"):
        archived(filled, tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert not LedgerArchive.objects.exists()


def test_a_ledger_that_does_not_hold_is_not_archived(filled, tmp_path):
    tamper("UPDATE traces_ledgerbody SET body = %s WHERE entry_id = %s", [b"{}", at(filled, 9).pk])
    with pytest.raises(ArchiveError, match="body of entry 9 is not the one"):
        archived(filled, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_archive_of_another_ledger_is_refused(filled, tmp_path):
    made = archived(filled, tmp_path)
    other = Workspace.objects.create(slug="other", name="Other")
    fill(other)
    with pytest.raises(ArchiveError, match="another ledger"):
        archive.check_archive(tmp_path / made.name, other.pk)


def test_a_ledger_that_was_rewritten_contradicts_its_archive(filled, tmp_path):
    made = archived(filled, tmp_path)
    tamper("UPDATE traces_ledgerentry SET envelope = %s WHERE id = %s", [b'{"v":1}', at(filled, 9).pk])
    with pytest.raises(ArchiveError, match="entry 9 is another one in the ledger"):
        archive.check_archive(tmp_path / made.name, filled.pk)


class TestRestoring:
    def test_bodies_come_back_byte_for_byte_and_leave_again(self, filled, tmp_path):
        before = list(LedgerBody.objects.order_by("pk").values_list("pk", "salt", "body"))
        made = archived(filled, tmp_path)
        path = tmp_path / made.name
        archive.release_bodies(made, path, actor=ACTOR)
        assert archive.restore_bodies(path, filled.pk, actor=ACTOR) == 512
        assert archive.restore_bodies(path, filled.pk, actor=ACTOR) == 0
        rows = LedgerBody.objects.filter(entry__kind="decision").order_by("pk")
        assert list(rows.values_list("pk", "salt", "body")) == before
        assert verify(filled.pk).ok
        assert archive.release_bodies(made, path, actor=ACTOR) == 512
        assert verify(filled.pk).ok

    def test_what_was_redacted_stays_out_whenever_that_was(self, filled, tmp_path):
        redact(at(filled, 3), reason="secret", actor="Ada")
        made = archived(filled, tmp_path)
        path = tmp_path / made.name
        redact(at(filled, 4), reason="secret", actor="Ada")
        archive.release_bodies(made, path, actor=ACTOR)
        redact(at(filled, 5), reason="secret", actor="Ada")
        assert archive.check_archive(path, filled.pk).redacted_since == 2
        assert archive.restore_bodies(path, filled.pk, actor=ACTOR) == 509
        assert [append.read_body(at(filled, seq)) for seq in (3, 4, 5)] == [None] * 3
        seal(filled.pk)
        assert verify(filled.pk).ok

    def test_a_redacted_body_that_somebody_puts_back_is_named(self, filled):
        victim = LedgerBody.objects.get(entry=at(filled, 3))
        redact(at(filled, 3), reason="secret", actor="Ada")
        victim.save(force_insert=True)
        assert found(verify(filled.pk)) == [("BODY_RETURNED", 3)]

    def test_an_archive_is_written_anew_without_what_was_redacted_since(self, filled, tmp_path):
        made = archived(filled, tmp_path)
        archive.release_bodies(made, tmp_path / made.name, actor=ACTOR)
        assert archive.rewrite_archive(made, tmp_path / made.name, actor=ACTOR) is None
        redact(at(filled, 5), reason="secret", actor="Ada")
        fresh = archive.rewrite_archive(made, tmp_path / made.name, actor=ACTOR)
        assert fresh.name == "home-ledger-0-511.2.jsonl.gz"
        assert archive.check_archive(tmp_path / fresh.name, filled.pk).redacted_since == 0
        assert b'\\"n\\":5,' not in gzip.decompress((tmp_path / fresh.name).read_bytes())
        assert [one.name for one in archive.list_newest_archives(filled.pk)] == [fresh.name]
        assert archive.restore_bodies(tmp_path / fresh.name, filled.pk, actor=ACTOR) == 511


class PowerLossError(BaseException):
    """Ends a run where no handler can help it."""


@pytest.mark.deep
class TestInterrupted:
    """Wherever a run ends, nothing is lost, and the next one finishes the work."""

    def lose_power(self, monkeypatch, name, after=0):
        real, calls = getattr(archive, name), []

        def cut(*args, **options):
            calls.append(name)
            if len(calls) > after:
                raise PowerLossError
            return real(*args, **options)

        monkeypatch.setattr(archive, name, cut)

    @pytest.mark.parametrize(
        ("name", "after"),
        [("write_archive", 0), ("publish_draft", 0), ("_register", 0), ("_record", 0), ("release_bodies", 0), ("_release_tile", 1)],
    )  # fmt: skip
    def test_nothing_is_lost_and_the_next_run_finishes(self, filled, tmp_path, monkeypatch, name, after):
        with monkeypatch.context() as patch:
            self.lose_power(patch, name, after)
            with pytest.raises(PowerLossError):
                archive_ledger(tmp_path, "--release")
        held = sum(archive.check_archive(one, filled.pk).bodies for one in tmp_path.glob("home-*"))
        assert bodies(filled) == 600 or (held == 512 and bodies(filled) >= 88)
        assert verify(filled.pk).ok
        archive_ledger(tmp_path, "--release")
        assert bodies(filled) == 88
        assert verify(filled.pk).ok
        assert LedgerArchive.objects.count() == 1

    def test_a_draft_that_was_left_is_no_archive(self, filled, tmp_path):
        (tmp_path / ".home-ledger-0-511.jsonl.gz.0123").write_bytes(b"half")
        assert archived(filled, tmp_path).name == "home-ledger-0-511.jsonl.gz"


def test_bodies_that_another_run_lets_go_of_meanwhile_are_no_fault(filled, tmp_path, monkeypatch):
    write = archive.write_archive

    def overtaken(*arguments):
        monkeypatch.setattr(archive, "write_archive", write)
        archive_ledger(tmp_path, "--release")
        write(*arguments)

    monkeypatch.setattr(archive, "write_archive", overtaken)
    archive_ledger(tmp_path, "--release")
    assert [one.name for one in tmp_path.iterdir()] == ["home-ledger-0-511.jsonl.gz"]
    assert (LedgerArchive.objects.count(), bodies(filled)) == (1, 88)
    assert archive.check_archive(tmp_path / "home-ledger-0-511.jsonl.gz", filled.pk).bodies == 512


def archive_until_killed(folder):
    """A run that the kernel ends between the archive and the first body that would leave."""
    connection.close()
    archive.release_bodies = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
    archive_ledger(folder, "--release")


@pytest.mark.django_db(transaction=True)
@pytest.mark.deep
def test_a_process_that_is_killed_between_archive_and_release_has_lost_nothing(tmp_path):
    home = Workspace.objects.create(slug="home", name="Home")
    fill(home)
    connection.close()
    processes = multiprocessing.get_context("fork")
    run = processes.Process(target=archive_until_killed, args=(tmp_path,))
    run.start()
    run.join(60)
    assert run.exitcode == -signal.SIGKILL
    assert bodies(home) == 600
    assert verify(home.pk).ok
    archive_ledger(tmp_path, "--release")
    assert bodies(home) == 88
    assert verify(home.pk).ok


def archive_once(folder, ready, outcomes):
    connection.close()
    ready.wait()
    try:
        archive_ledger(folder, "--release")
    except Exception as error:  # noqa: BLE001 - the test says what it was
        outcomes.put(repr(error))
    else:
        outcomes.put("done")


def test_spans_of_archives_are_joined():
    assert _merge_ranges([(512, 768), (0, 256), (256, 512), (1024, 1280), (0, 256)]) == [
        (0, 768),
        (1024, 1280),
    ]
    assert _merge_ranges([]) == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.deep
def test_two_archivers_at_once_make_one_archive_and_lose_nothing(tmp_path):
    home = Workspace.objects.create(slug="home", name="Home")
    fill(home)
    connection.close()
    processes = multiprocessing.get_context("fork")
    ready, outcomes = processes.Barrier(2), processes.Queue()
    runs = [processes.Process(target=archive_once, args=(tmp_path, ready, outcomes)) for _ in range(2)]
    for run in runs:
        run.start()
    assert [outcomes.get(timeout=60) for _ in runs] == ["done", "done"]
    for run in runs:
        run.join()
    assert [one.name for one in tmp_path.iterdir()] == ["home-ledger-0-511.jsonl.gz"]
    assert LedgerArchive.objects.count() == 1
    assert bodies(home) == 88
    assert archive.restore_bodies(tmp_path / "home-ledger-0-511.jsonl.gz", home.pk, actor=ACTOR) == 512
    assert verify(home.pk).ok


def test_maps_made_anew_keep_what_only_an_archive_tells(home, tmp_path):
    talk = {"url": "s-1", "ranges": [{"start_line": 1, "end_line": 2, "content_hash": "sha256:aa"}]}
    for n in range(256):
        entry = {"id": f"e-{n}", "timestamp": "2026-02-21T12:00:00Z", "files": []}
        entry["files"] = [{"relative_path": f"src/{n}.ts", "conversations": [talk]}]
        with transaction.atomic():
            store_entries(home.pk, [SubmittedEntry(entry)], StoreOptions("Ada", imported=True))
    made = archived(home, tmp_path)
    archive.release_bodies(made, tmp_path / made.name, actor=ACTOR)
    assert rebuild_projections(home.pk) == 0
    assert TraceFile.objects.filter(imported=True).count() == TraceRange.objects.count() == 256
    archive.restore_bodies(tmp_path / made.name, home.pk, actor=ACTOR)
    assert rebuild_projections(home.pk) == 256
    assert TraceFile.objects.filter(imported=True).count() == TraceRange.objects.count() == 256


class TestCommands:
    def test_archive_verify_release_restore(self, filled, tmp_path, capsys):
        path = tmp_path / "home-ledger-0-511.jsonl.gz"
        archive_ledger(tmp_path, before="2100-01-01")
        assert capsys.readouterr().out == f"home: entries 0 to 511 in {path.name}\n"
        call_command("verify_ledger", "--workspace", "home", "--archive", str(path))
        assert f"{path.name}: holds; entries 0 to 511, 512 bodies\n" in capsys.readouterr().out
        archive_ledger(tmp_path, "--release")
        assert "deleted 512 bodies" in capsys.readouterr().out
        call_command("verify_ledger", "--workspace", "home", "--archive", str(path))
        assert "512 archived" in capsys.readouterr().out
        call_command("restore_archive", str(path))
        assert "restored 512 bodies" in capsys.readouterr().out
        call_command("restore_archive", str(path), release=True)
        assert capsys.readouterr().out == "deleted 512 bodies\n"

    def test_renewal_says_which_file_to_destroy(self, filled, tmp_path, capsys):
        archive_ledger(tmp_path)
        redact(at(filled, 5), reason="secret", actor="Ada")
        archive_ledger(tmp_path, "--renew")
        assert "home-ledger-0-511.2.jsonl.gz replaces home-ledger-0-511.jsonl.gz" in capsys.readouterr().out

    @pytest.mark.parametrize("before", ["90d", "2000-01-01", "2000-01-01T00:00:00+02:00", "255"])
    def test_what_is_younger_stays(self, filled, tmp_path, capsys, before):
        archive_ledger(tmp_path, before=before)
        assert capsys.readouterr().out == "home: no full tile to archive\n"

    def test_an_archive_that_does_not_hold_fails_the_verification(self, filled, tmp_path, capsys):
        made = archived(filled, tmp_path)
        rewritten(tmp_path / made.name, lambda lines: lines[:-1])
        with pytest.raises(CommandError, match="The ledger holds, but not everything kept outside does"):
            call_command("verify_ledger", "--workspace", "home", "--archive", str(tmp_path / made.name))
        assert "verification failed: it is truncated" in capsys.readouterr().out

    def test_an_archive_that_cannot_be_read_is_not_called_false(self, filled, tmp_path, capsys):
        with pytest.raises(CommandError, match="The ledger holds, but"):
            call_command(
                "verify_ledger", "--workspace", "home", "--archive", str(tmp_path / "none"), str(tmp_path)
            )
        said = capsys.readouterr().out
        assert f"{tmp_path / 'none'}: cannot be read: No such file or directory" in said
        assert f"{tmp_path}: cannot be read: Is a directory" in said
        assert "verification failed" not in said

    def test_what_cannot_be_used_is_said(self, filled, tmp_path):
        stray = tmp_path / "stray"
        stray.write_bytes(b"hello")
        for arguments, words in [
            (
                ["archive_ledger", "--workspace", "home", "--before", "9", "--to", str(stray)],
                "not a directory",
            ),
            (
                ["archive_ledger", "--workspace", "home", "--before", "soon", "--to", str(tmp_path)],
                "not a date",
            ),
            (["verify_ledger", "--archive", str(stray)], "name it with --workspace"),
            (["restore_archive", str(stray)], "not a complete gzip file"),
            (["restore_archive", str(tmp_path / "none")], "cannot be used"),
        ]:
            with pytest.raises(CommandError, match=words):
                call_command(*arguments)

    def test_an_archive_that_is_not_there_lets_nothing_go(self, filled, tmp_path):
        made = archived(filled, tmp_path)
        (tmp_path / made.name).unlink()
        with pytest.raises(CommandError, match="no body was deleted"):
            archive_ledger(tmp_path, "--release")
        assert bodies(filled) == 600


def test_a_small_ledger_is_archived_whole_and_goes_its_way(home, tmp_path):
    fill(home, 40)
    archive_ledger(tmp_path)
    assert not list(tmp_path.iterdir())
    archive_ledger(tmp_path, "--every-entry", "--release")
    assert bodies(home) == 0
    (first,) = LedgerArchive.objects.all()
    assert (first.first_seq, first.end_seq) == (0, 40)
    assert archive.check_archive(tmp_path / first.name, home.pk).bodies == 40
    key = format_verifier_key(log_origin(home.pk), load_public_key())
    assert "Entries 0 to 39 of 40 are these" in check_archive(str(tmp_path / first.name), Keys({key: "kept"}))
    fill(home, 300)
    archive_ledger(tmp_path, "--release")
    assert [(one.first_seq, one.end_seq) for one in archive.list_newest_archives(home.pk)] == [
        (0, 40),
        (40, 256),
    ]
    archive_ledger(tmp_path, "--every-entry", before="300")
    assert archive.list_newest_archives(home.pk)[-1].end_seq == 300
    assert verify(home.pk).ok
    call_command("restore_archive", str(tmp_path / first.name))
    assert bodies(home) > 40
    assert verify(home.pk).ok
