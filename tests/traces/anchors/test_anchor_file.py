"""Heads kept outside the database, and keys that come and go."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command

from controlplane.models import Workspace
from tests.traces.builders import AWAY, HOME, append, append_many, decision, replace_key, tamper
from traces.anchors.anchor_file import anchor_to_file, read_anchor_file
from traces.ledger import checkpoints, proofs
from traces.ledger.sealing import seal
from traces.verification.verify import verify

pytestmark = pytest.mark.django_db


@pytest.fixture
def key_file(tmp_path, settings):
    settings.LEDGER_KEY_FILE = tmp_path / "ledger_key.pem"
    return settings.LEDGER_KEY_FILE


def test_every_new_head_is_appended_once(tmp_path):
    file = tmp_path / "anchors.txt"
    append_many(3)
    append(decision(workspace_id=AWAY))
    assert (anchor_to_file(HOME, file), anchor_to_file(HOME, file), anchor_to_file(AWAY, file)) == (
        3,
        None,
        1,
    )
    append()
    assert anchor_to_file(HOME, file) == 4
    assert [checkpoints.parse_checkpoint(note).size for note in read_anchor_file(file, HOME)] == [3, 4]
    assert read_anchor_file(file, AWAY) == [proofs.find_head(AWAY).note]
    assert verify(HOME, outside=read_anchor_file(file, HOME)).ok


def test_an_empty_ledger_has_nothing_to_anchor(tmp_path):
    assert anchor_to_file(HOME, tmp_path / "anchors.txt") is None
    assert not (tmp_path / "anchors.txt").exists()


def test_a_history_that_was_rewritten_and_signed_anew_contradicts_its_anchors(tmp_path):
    file = tmp_path / "anchors.txt"
    append_many(3)
    anchor_to_file(HOME, file)
    for table in ("checkpoint", "ledgerleaf", "ledgerbody", "ledgerentry"):
        tamper(f"DELETE FROM traces_{table}")
    append_many(5)
    seal(HOME)
    assert verify(HOME).ok
    found = verify(HOME, outside=read_anchor_file(file, HOME))
    assert [problem.kind for problem in found.problems] == ["ROOT_MISMATCH"]


def test_a_file_that_holds_something_else_is_not_touched(tmp_path):
    home = Workspace.objects.create(slug="home", name="Home")
    append(decision(workspace_id=home.pk))
    for held in (b"my notes\n", b"\xff\xfe"):
        file = tmp_path / "notes.txt"
        file.write_bytes(held)
        with pytest.raises(CommandError, match="cannot be used"):
            call_command("anchor_ledger", file=file)
        assert file.read_bytes() == held


def test_the_commands_work_together(tmp_path, capsys):
    home = Workspace.objects.create(slug="home", name="Home")
    Workspace.objects.create(slug="idle", name="Idle")
    append(decision(workspace_id=home.pk))
    file = tmp_path / "anchors.txt"
    call_command("anchor_ledger", file=file)
    assert capsys.readouterr().out == "home: anchored 1 entries\nidle: nothing new\n"
    call_command("verify_ledger", checkpoint=file)
    assert "home: holds" in capsys.readouterr().out


def test_what_a_retired_key_signed_still_verifies(key_file, capsys):
    append_many(2)
    seal(HOME)
    before = checkpoints.load_public_key()
    call_command("rotate_ledger_key")
    assert "The old one is" in capsys.readouterr().out
    assert checkpoints.load_public_key() != before
    assert checkpoints.load_retired_keys() == [before]
    append()
    seal(HOME)
    newest = checkpoints.parse_checkpoint(proofs.find_head(HOME).note)
    assert checkpoints.is_signed_by(newest, checkpoints.load_public_key())
    assert not checkpoints.is_signed_by(newest, before)
    assert verify(HOME).ok


def test_without_the_retired_key_its_heads_are_foreign(key_file):
    append_many(2)
    seal(HOME)
    replace_key().unlink()
    assert [problem.kind for problem in verify(HOME).problems] == ["KEY_REPLACED"]


def test_keys_may_be_changed_more_than_once(key_file):
    append()
    seal(HOME)
    kept = {replace_key() for _ in range(3)}
    assert len(kept) == 3
    assert verify(HOME).ok
