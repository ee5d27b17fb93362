"""Signed heads leave the database by themselves, and say when they do not; a ledger that went back is named."""

from __future__ import annotations

import base64
import hmac
import subprocess
import time
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from controlplane.shared.http_post import PostResponse, TargetError
from controlplane.shared.metrics import ANCHORS
from tests.builders import signed_in, workspace
from tests.traces.builders import append, append_many, decision, tamper
from traces.anchors import anchor_file, git_notes, schedule, targets
from traces.anchors.schedule import assess_health, check_anchored_heads, count_anchors, send_due_heads
from traces.anchors.targets import AnchorError, derive_webhook_secret
from traces.archives import archive
from traces.ledger import merkle, proofs
from traces.ledger.append import read_body
from traces.ledger.checkpoints import parse_checkpoint
from traces.ledger.sealing import seal
from traces.models import AnchorKind, Checkpoint, LedgerAnchor, LedgerEntry

pytestmark = pytest.mark.django_db
ACTOR = "test"


@pytest.fixture
def repository(tmp_path):
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init", "--quiet")
    (root / "a").write_text("a")
    git(root, "add", "a")
    commit(root, "first")
    return root


@pytest.fixture
def home(repository):
    return workspace("home", local_root=str(repository))


def git(root, *words):
    done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, check=True, text=True)
    return done.stdout


def commit(root, message):
    git(root, "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "--quiet", "--allow-empty", "-m", message)  # fmt: skip


def grow(home, count=3):
    append_many(count, workspace_id=home.pk)
    seal(home.pk)
    return proofs.find_head(home.pk)


def anchored_in_file(home, path):
    return schedule.add_anchor(home, AnchorKind.FILE, str(path), 1, actor=ACTOR)


def run_round():
    """Do what the server's two loops do; the number of heads that arrived."""
    arrived = send_due_heads()
    check_anchored_heads()
    return arrived


def fresh(anchor):
    return LedgerAnchor.objects.get(pk=anchor.pk)


def due_now():
    LedgerAnchor.objects.update(due_at=timezone.now() - timedelta(seconds=1))


def word(anchor, later=timedelta(0)):
    return assess_health(fresh(anchor), timezone.now() + later).state


class TestFile:
    def test_every_new_head_arrives_once(self, home, tmp_path):
        path = tmp_path / "heads.txt"
        anchor = anchored_in_file(home, path)
        grow(home)
        assert (word(anchor), send_due_heads(), word(anchor)) == ("waiting", 1, "ok")
        due_now()
        assert send_due_heads() == 0
        grow(home)
        assert send_due_heads() == 1
        assert [parse_checkpoint(note).size for note in anchor_file.read_anchor_file(path, home.pk)] == [4, 7]

    def test_before_its_time_nothing_is_sent(self, home, tmp_path):
        anchored_in_file(home, tmp_path / "heads.txt")
        grow(home)
        assert send_due_heads() == 1
        grow(home)
        assert send_due_heads() == 0

    def test_a_place_that_fails_says_why_and_is_tried_again_later_each_time(self, home, tmp_path):
        anchor = anchored_in_file(home, tmp_path / "folder" / "heads.txt")
        grow(home)
        pauses = []
        for _ in range(3):
            due_now()
            before = timezone.now()
            assert send_due_heads() == 0
            pauses.append(round((fresh(anchor).due_at - before).total_seconds() / 30))
        assert pauses == [1, 2, 4]
        assert "No such file" in assess_health(fresh(anchor), timezone.now()).text
        assert word(anchor) == "failing"
        (tmp_path / "folder").mkdir()
        due_now()
        assert send_due_heads() == 1
        assert (word(anchor), fresh(anchor).failures) == ("ok", 0)

    def test_a_head_that_waits_too_long_is_late(self, home, tmp_path):
        anchor = anchored_in_file(home, tmp_path / "heads.txt")
        grow(home)
        assert word(anchor, later=timedelta(minutes=3)) == "late"

    def test_two_servers_send_a_head_once(self, home, tmp_path):
        anchor = anchored_in_file(home, tmp_path / "heads.txt")
        grow(home)
        seen_by_both = fresh(anchor)
        assert [schedule.send_if_due(seen_by_both) for _ in range(2)] == [True, False]

    def test_what_is_off_gets_nothing(self, home, tmp_path):
        anchor = anchored_in_file(home, tmp_path / "heads.txt")
        schedule.set_enabled(anchor, enabled=False, actor=ACTOR)
        grow(home)
        assert (send_due_heads(), word(anchor)) == (0, "off")
        schedule.set_enabled(anchor, enabled=True, actor=ACTOR)
        assert send_due_heads() == 1

    def test_one_broken_place_does_not_keep_the_others_from_theirs(self, home, tmp_path, monkeypatch):
        broken = anchored_in_file(home, tmp_path / "a.txt")
        fine = schedule.add_anchor(home, AnchorKind.GIT, "", 1, actor=ACTOR)
        monkeypatch.setitem(targets.SENDERS, AnchorKind.FILE, lambda *_: 1 / 0)
        grow(home)
        assert send_due_heads() == 1
        assert (word(broken), word(fine)) == ("failing", "ok")
        assert fresh(broken).answer == "ZeroDivisionError"


class TestGitNotes:
    def test_heads_are_noted_on_the_commit_of_their_time_and_read_back(self, home, repository):
        anchor = schedule.add_anchor(home, AnchorKind.GIT, "ignored", 1, actor=ACTOR)
        heads = []
        for message in ("", "", "second"):
            if message:
                commit(repository, message)
            heads.append(grow(home).note)
            due_now()
            assert send_due_heads() == 1
        kept, unread = schedule.read_anchored_heads(home)
        assert (sorted(kept), unread) == (sorted(heads), [])
        newest = git(repository, "notes", "--ref=icp-checkpoints", "show", "HEAD")
        assert newest == heads[-1]
        assert fresh(anchor).answer == f"Noted on commit {git(repository, 'rev-parse', 'HEAD')[:12]}."

    def test_nothing_of_the_repository_runs(self, home, repository, tmp_path):
        witness = tmp_path / "ran"
        script = repository / ".git" / "evil"
        script.write_text(f"#!/bin/sh\ntouch {witness}\n")
        script.chmod(0o755)
        hooks = repository / ".git" / "hooks"
        hooks.mkdir(exist_ok=True)
        for hook in ("reference-transaction", "post-commit", "pre-commit", "post-rewrite"):
            (hooks / hook).write_bytes(script.read_bytes())
            (hooks / hook).chmod(0o755)
        for key in (
            "core.fsmonitor",
            "core.pager",
            "core.editor",
            "gpg.program",
            "core.sshCommand",
            "alias.notes",
        ):
            git(repository, "config", key, f"!{script}" if key == "alias.notes" else str(script))
        git(repository, "config", "commit.gpgSign", "true")
        schedule.add_anchor(home, AnchorKind.GIT, "", 1, actor=ACTOR)
        witness.unlink(missing_ok=True)
        grow(home)
        assert send_due_heads() == 1
        assert len(schedule.read_anchored_heads(home)[0]) == 1
        assert not witness.exists()

    def test_without_a_commit_or_repository_it_says_so(self, tmp_path):
        git(tmp_path, "init", "--quiet")
        with pytest.raises(git_notes.GitNoteError, match="no commit"):
            git_notes.append_note(str(tmp_path), "x")
        with pytest.raises(git_notes.GitNoteError, match=r"cannot change to|No such file"):
            git_notes.append_note(str(tmp_path / "none"), "x")
        assert git_notes.read_notes(str(tmp_path)) == []

    def test_a_workspace_that_lost_its_folder_fails_and_leaves_other_repositories_alone(self, home):
        anchor = schedule.add_anchor(home, AnchorKind.GIT, "", 1, actor=ACTOR)
        grow(home)
        home.local_root = ""
        home.save()
        assert send_due_heads() == 0
        assert "no local root" in fresh(anchor).answer
        kept, unread = schedule.read_anchored_heads(home)
        assert kept == []
        assert "no local root" in unread[0]

    def test_notes_that_are_no_heads_are_named(self, home, repository, capsys):
        schedule.add_anchor(home, AnchorKind.GIT, "", 1, actor=ACTOR)
        grow(home)
        send_due_heads()
        git(repository, "-c", "user.name=Max", "-c", "user.email=m@example.org", "notes", "--ref=icp-checkpoints", "append", "-m", "hello", "HEAD")  # fmt: skip
        with pytest.raises(CommandError):
            call_command("verify_ledger", "--workspace", "home", "--anchors")


class TestWebhook:
    @pytest.fixture
    def posted(self, monkeypatch):
        """What was posted; `posted.answer` is what the receiver says."""

        class Posted(list):
            answer = PostResponse(200, "kept")

        found = Posted()

        def post(url, body, headers):
            found.append((url, body, headers))
            if isinstance(found.answer, Exception):
                raise found.answer
            return found.answer

        monkeypatch.setattr(targets.http_post, "post", post)
        return found

    @pytest.fixture
    def hook(self, home):
        return schedule.add_anchor(home, AnchorKind.WEBHOOK, " https://keep.example/heads ", 1, actor=ACTOR)

    def test_the_head_is_posted_and_signed(self, home, hook, posted):
        head = grow(home)
        assert send_due_heads() == 1
        ((url, body, headers),) = posted
        assert (url, body) == ("https://keep.example/heads", head.note.encode())
        named, moment = headers["webhook-id"], headers["webhook-timestamp"]
        key = base64.b64decode(derive_webhook_secret(hook).removeprefix("whsec_"))
        expected = hmac.digest(key, f"{named}.{moment}.".encode() + body, "sha256")
        assert headers["webhook-signature"] == f"v1,{base64.b64encode(expected).decode()}"
        assert abs(int(moment) - time.time()) < 60
        assert fresh(hook).answer == "The webhook answered 200: kept"

    @pytest.mark.parametrize(
        "answer", [PostResponse(500, "no room"), PostResponse(302, ""), TargetError("It did not answer.")]
    )
    def test_a_refusal_is_recorded_and_tried_again(self, home, hook, posted, answer):
        posted.answer = answer
        grow(home)
        assert send_due_heads() == 0
        assert word(hook) == "failing"
        assert fresh(hook).answer
        posted.answer = PostResponse(204, "")
        schedule.retry_soon(hook)
        assert (send_due_heads(), word(hook)) == (1, "ok")

    def test_secrets_differ_and_stand_in_no_table(self, home, hook):
        other = schedule.add_anchor(home, AnchorKind.WEBHOOK, "https://other.example/", 1, actor=ACTOR)
        assert derive_webhook_secret(hook) != derive_webhook_secret(other)
        assert derive_webhook_secret(hook) not in str(LedgerAnchor.objects.filter(pk=hook.pk).values())

    @pytest.mark.parametrize(
        "target", ["http://keep.example/", "https://u:p@keep.example/", "", "file:///etc/passwd"]
    )
    def test_what_is_no_address_is_refused(self, home, target):
        with pytest.raises(AnchorError):
            schedule.add_anchor(home, AnchorKind.WEBHOOK, target, 1, actor=ACTOR)


class TestSettingUp:
    def test_every_change_is_an_entry_of_the_ledger(self, home, tmp_path):
        anchor = anchored_in_file(home, tmp_path / "heads.txt")
        schedule.set_enabled(anchor, enabled=False, actor=ACTOR)
        schedule.set_enabled(anchor, enabled=False, actor=ACTOR)
        schedule.set_enabled(anchor, enabled=True, actor=ACTOR)
        schedule.remove_anchor(anchor, actor=ACTOR)
        schedule.remove_anchor(anchor, actor=ACTOR)
        told = LedgerEntry.objects.filter(kind="policy").order_by("pk").values_list("outcome", flat=True)
        assert list(told) == ["anchor_added", "anchor_disabled", "anchor_enabled", "anchor_removed"]

    def test_what_cannot_be_a_place_is_refused(self, home, acme, tmp_path):
        anchored_in_file(home, tmp_path / "heads.txt")
        for place, kind, target, minutes in [
            (home, "mail", "x", 1),
            (home, "file", "relative.txt", 1),
            (home, "file", str(tmp_path / "heads.txt"), 1),
            (home, "file", str(tmp_path / "other.txt"), 0),
            (home, "file", str(tmp_path / "other.txt"), 10**6),
            (acme, "git", "", 1),
        ]:
            with pytest.raises(AnchorError):
                schedule.add_anchor(place, kind, target, minutes, actor=ACTOR)
        assert LedgerAnchor.objects.count() == 1

    def test_there_is_room_for_some_and_not_for_any_number(self, home, monkeypatch):
        monkeypatch.setattr(schedule, "MAX_ANCHORS", 1)
        schedule.add_anchor(home, AnchorKind.GIT, "", 1, actor=ACTOR)
        with pytest.raises(AnchorError, match="at most 1"):
            schedule.add_anchor(home, AnchorKind.WEBHOOK, "https://keep.example/", 1, actor=ACTOR)

    def test_the_command_sends_and_goes_on(self, home, tmp_path, capsys):
        append(decision(workspace_id=home.pk))
        path = tmp_path / "heads.txt"
        call_command("anchor_ledger", "--file", str(path), "--workspace", "home", "--keep")
        append(decision(workspace_id=home.pk))
        call_command("anchor_ledger", "--configured")
        assert "home: file" in capsys.readouterr().out
        assert len(anchor_file.read_anchor_file(path, home.pk)) == 2
        LedgerAnchor.objects.update(target=str(tmp_path / "none" / "heads.txt"), anchored_size=0)
        with pytest.raises(CommandError, match="Not every anchor"):
            call_command("anchor_ledger", "--configured")

    def test_metrics_count_places_by_health_and_name_nobody(self, home, tmp_path):
        anchored_in_file(home, tmp_path / "heads.txt")
        anchored_in_file(home, tmp_path / "none" / "heads.txt")
        grow(home)
        send_due_heads()
        count_anchors()
        told = Client().get("/metrics").content.decode()
        ANCHORS.clear()
        assert 'icp_ledger_anchors{health="ok"} 1.0\n' in told
        assert 'icp_ledger_anchors{health="failing"} 1.0\n' in told
        assert "heads.txt" not in told


def go_back_to(home, size):
    """What restoring a backup of that moment does: everything that came later was never there."""
    tamper("DELETE FROM traces_checkpoint WHERE size > %s", [size])
    tamper("DELETE FROM traces_ledgerleaf WHERE seq >= %s", [size])
    tamper("DELETE FROM traces_ledgerbody WHERE entry_id NOT IN (SELECT entry_id FROM traces_ledgerleaf)")
    tamper("DELETE FROM traces_ledgerentry WHERE id NOT IN (SELECT entry_id FROM traces_ledgerleaf)")


class TestAnOldBackupRestored:
    @pytest.fixture(params=[AnchorKind.FILE, AnchorKind.GIT])
    def gone_back(self, request, home, tmp_path):
        """A ledger of 9 entries whose head was anchored, taken back to 5."""
        target = str(tmp_path / "heads.txt") if request.param == AnchorKind.FILE else ""
        schedule.add_anchor(home, request.param, target, 1, actor=ACTOR)
        old = grow(home, 4).size
        grow(home, 4)
        assert send_due_heads() == 1
        call_command("verify_ledger", "--anchors")
        go_back_to(home, old)
        return home, old

    def test_the_anchors_name_what_is_missing(self, gone_back, capsys):
        _, old = gone_back
        call_command("verify_ledger", "--workspace", "home")
        with pytest.raises(CommandError, match="does not verify"):
            call_command("verify_ledger", "--workspace", "home", "--anchors")
        assert (
            f"ENTRIES_MISSING: the checkpoint from outside covers {old + 4} entries"
            in capsys.readouterr().out
        )
        place = LedgerAnchor.objects.get()
        assert (
            "9 entries were anchored, but the ledger has only 5" in assess_health(place, timezone.now()).text
        )

    def test_the_consistency_proof_fails_once_it_has_grown_again(self, gone_back, capsys):
        home, _ = gone_back
        (kept,), _ = schedule.read_anchored_heads(home)
        before = parse_checkpoint(kept)
        grow(home, 10)
        after = parse_checkpoint(Checkpoint.objects.order_by("-size")[0].note)
        proof = proofs.prove_consistency(home.pk, before.size, after.size)
        assert not merkle.verify_consistency(before.size, after.size, proof.hashes, before.root, after.root)
        with pytest.raises(CommandError, match="does not verify"):
            call_command("verify_ledger", "--workspace", "home", "--anchors")
        assert (
            "ROOT_MISMATCH: the entries do not lead to the checkpoint from outside" in capsys.readouterr().out
        )


class TestContradiction:
    """Before each head the last one is read back: what does not continue it is sent nowhere, and pages say so."""

    @pytest.fixture
    def gone_back(self, acme, ada, tmp_path):
        """(workspace, anchor, file, head of 9 entries): its database restored to 5 entries, without the newer anchor."""
        file = tmp_path / "heads.txt"
        old = grow(acme, 4).size
        anchor = anchored_in_file(acme, file)
        head = grow(acme, 4)
        assert run_round() == 1
        LedgerAnchor.objects.all().delete()
        go_back_to(acme, old)
        return acme, anchor, file, head

    def test_a_restored_database_is_contradicted_before_it_has_grown(self, gone_back, ada):
        _, _, file, _ = gone_back
        assert run_round() == 0
        restored = LedgerAnchor.objects.get()  # its set-up outlived the backup
        assert (restored.target, word(restored)) == (str(file), "contradicted")
        for page in ("traces/", "settings/ledger/", "sessions/"):
            shown = signed_in(ada).get(f"/w/acme/{page}").content.decode()
            assert "The ledger is contradicted." in shown
            assert "9 entries were anchored, but the ledger has only 4." in shown
        count_anchors()
        told = Client().get("/metrics").content.decode()
        ANCHORS.clear()
        assert 'icp_ledger_anchors{health="contradicted"} 1.0\n' in told

    def test_a_fork_gets_nothing_more_until_the_loss_is_accepted(self, gone_back, ada):
        acme, _, file, head = gone_back
        before = file.read_text()
        grow(acme, 20)
        for _ in range(2):
            assert run_round() == 0
            due_now()
        anchor = LedgerAnchor.objects.get()
        assert "its history is another" in assess_health(anchor, timezone.now()).text
        assert file.read_text() == before
        assert not schedule.send_head(anchor, proofs.find_head(acme.pk))  # asked for by hand
        with pytest.raises(CommandError, match="Name the ledger"):
            call_command("anchor_ledger", "--accept-loss", "restored")
        call_command("anchor_ledger", "--workspace", "acme", "--accept-loss", "disk died, backup of Monday")
        entry = LedgerEntry.objects.get(workspace_id=acme.pk, kind="policy", outcome="accepted")
        assert read_body(entry)["heads"] == [head.note]
        seal(acme.pk)
        due_now()
        assert run_round() == 1
        assert word(anchor) == "ok"
        assert "contradicted" not in signed_in(ada).get("/w/acme/traces/").content.decode()

    def test_the_file_tells_even_where_the_record_is_gone_too(self, gone_back, settings):
        acme, _, file, _ = gone_back
        settings.LEDGER_ANCHORS_FILE.unlink()
        grow(acme, 20)
        again = anchored_in_file(acme, file)
        assert run_round() == 0
        assert word(again) == "contradicted"

    def test_a_webhook_is_held_against_what_was_sent_last(self, acme, monkeypatch):
        monkeypatch.setattr(targets.http_post, "post", lambda *_: PostResponse(200, "kept"))
        hook = schedule.add_anchor(acme, AnchorKind.WEBHOOK, "https://keep.example/", 1, actor=ACTOR)
        old = grow(acme, 3).size
        grow(acme, 3)
        assert run_round() == 1
        go_back_to(acme, old)
        grow(acme, 9)
        due_now()
        assert run_round() == 0
        assert word(hook) == "contradicted"

    def test_a_head_of_nobody_stops_sending_and_contradicts_nothing(self, acme, tmp_path):
        file = tmp_path / "heads.txt"
        anchor = anchored_in_file(acme, file)
        head = grow(acme)
        file.write_text(head.note.replace(f"\n{head.size}\n", "\n99\n"))
        assert run_round() == 0
        assert word(anchor) == "failing"
        assert "signed by no key" in fresh(anchor).answer

    def test_an_anchor_that_was_removed_does_not_come_back(self, acme, tmp_path, settings):
        anchor = anchored_in_file(acme, tmp_path / "heads.txt")
        record = settings.LEDGER_ANCHORS_FILE.read_text()
        schedule.remove_anchor(anchor, actor=ACTOR)
        settings.LEDGER_ANCHORS_FILE.write_text(record)  # of a process with another folder
        run_round()
        assert not LedgerAnchor.objects.exists()

    def test_a_damaged_record_is_named_and_nothing_is_sent(self, acme, tmp_path, settings):
        anchor = anchored_in_file(acme, tmp_path / "heads.txt")
        grow(acme)
        settings.LEDGER_ANCHORS_FILE.write_text("{")
        assert not schedule.send_head(anchor, proofs.find_head(acme.pk))
        assert "cannot be read: restore it" in fresh(anchor).answer


def test_the_page_names_a_ledger_that_went_back_and_anchors_that_cannot_be_read(acme, ada, tmp_path):
    append_many(4, workspace_id=acme.pk)
    schedule.add_anchor(acme, AnchorKind.FILE, str(tmp_path / "heads.txt"), 1, actor=ACTOR)
    old = seal(acme.pk).size
    grow(acme, 4)
    assert send_due_heads() == 1
    address = "/w/acme/traces/ledger/?verify=1"
    shown = signed_in(ada).get(address).content.decode()
    assert "Verified:" in shown
    assert "1 kept in files and git notes" in shown
    go_back_to(acme, old)
    assert "ENTRIES_MISSING" in signed_in(ada).get(address).content.decode()
    (tmp_path / "heads.txt").write_text("<b>gone</b>")
    shown = signed_in(ada).get(address).content.decode()
    assert "Cannot be read back" in shown
    assert "<b>gone" not in shown


def test_without_a_kept_head_anchors_cannot_be_asked(home):
    grow(home)
    with pytest.raises(CommandError, match="No file or git note has a head"):
        call_command("verify_ledger", "--anchors")


class TestPages:
    ADDRESS = "/w/acme/settings/ledger/"

    def add(self, client, **posted):
        return client.post(self.ADDRESS, {"action": "add", "kind": "webhook", "minutes": "10", **posted})

    def test_ada_sets_up_a_webhook_and_removes_it(self, acme, ada):
        client = signed_in(ada)
        assert self.add(client, target="https://keep.example/").status_code == 302
        anchor = LedgerAnchor.objects.get()
        shown = client.get(self.ADDRESS).content.decode()
        assert "https://keep.example/" in shown
        assert derive_webhook_secret(anchor) in shown
        for action in ("off", "on", "retry", "remove"):
            done = client.post(self.ADDRESS, {"action": action, "anchor_id": anchor.pk})
            assert done.status_code == 302
        assert not LedgerAnchor.objects.exists()
        assert LedgerEntry.objects.filter(workspace_id=acme.pk, outcome="anchor_removed").exists()

    @pytest.mark.parametrize(
        ("posted", "words"),
        [
            ({"kind": "file", "target": "/etc/passwd"}, "configured on the server"),
            ({"kind": "git"}, "local root"),
            ({"target": "http://10.0.0.1/<b>"}, "https://"),
            ({"target": "https://keep.example/", "minutes": "soon"}, "whole number"),
            ({"target": "https://keep.example/", "minutes": "0"}, "Choose 1"),
        ],
    )
    def test_what_cannot_be_is_refused_and_kept_in_the_form(self, acme, ada, posted, words):
        answer = self.add(signed_in(ada), **posted)
        assert answer.status_code == 400
        assert words in answer.content.decode()
        assert not LedgerAnchor.objects.exists()

    def test_others_read_without_the_secret_and_change_nothing(self, acme, ivy, rex):
        anchor = schedule.add_anchor(acme, AnchorKind.WEBHOOK, "https://keep.example/", 1, actor=ACTOR)
        for someone in (ivy, rex):
            shown = signed_in(someone).get(self.ADDRESS).content.decode()
            assert derive_webhook_secret(anchor) not in shown
            posted = {"action": "remove", "anchor_id": anchor.pk}
            assert signed_in(someone).post(self.ADDRESS, posted).status_code == 403
        assert LedgerAnchor.objects.exists()

    def test_an_anchor_of_another_workspace_is_not_found(self, acme, ada, home):
        anchor = schedule.add_anchor(home, AnchorKind.WEBHOOK, "https://keep.example/", 1, actor=ACTOR)
        for action in ("remove", "off", "nonsense"):
            answer = signed_in(ada).post(self.ADDRESS, {"action": action, "anchor_id": anchor.pk})
            assert answer.status_code == 404
        assert LedgerAnchor.objects.get().enabled

    def test_the_ledger_page_shows_the_last_head_its_health_and_archives(self, acme, ada, tmp_path):
        append_many(300, workspace_id=acme.pk)
        schedule.add_anchor(acme, AnchorKind.FILE, str(tmp_path / "none" / "heads.txt"), 1, actor=ACTOR)
        made = archive.create_archive(acme.pk, "acme", 256, tmp_path, actor=ACTOR)
        send_due_heads()
        shown = signed_in(ada).get("/w/acme/traces/ledger/").content.decode()
        assert "Failing" in shown
        assert "No such file" in shown
        assert made.name in shown
        assert made.digest_hex in shown
        assert Path(made.name).name in signed_in(ada).get(self.ADDRESS).content.decode()
