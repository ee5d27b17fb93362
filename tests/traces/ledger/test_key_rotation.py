"""A change of keys is told: by an entry, by both keys, and told apart from a replacement."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command

from tests.traces.builders import append, decision, replace_key, tamper
from traces.ledger import checkpoints, proofs
from traces.ledger.append import NewEntry
from traces.ledger.keys.changes import list_key_changes, parse_key_change
from traces.ledger.keys.rotation import rotate_key
from traces.ledger.sealing import seal
from traces.models import Checkpoint, LedgerEntry
from traces.verification.verify import verify

pytestmark = pytest.mark.django_db


@pytest.fixture
def home(acme, tmp_path, settings):
    settings.LEDGER_KEY_FILE = tmp_path / "ledger_key.pem"
    append(decision(workspace_id=acme.pk))
    seal(acme.pk)
    return acme.pk


def grow(home):
    append(decision(workspace_id=home))
    seal(home)
    return checkpoints.parse_checkpoint(proofs.find_head(home).note)


def kinds(home, *outside):
    return {problem.kind for problem in verify(home, outside=outside).problems}


def test_an_entry_tells_the_change_and_one_head_is_signed_by_both(home):
    old = checkpoints.load_public_key()
    rotate_key([home], actor="Ada")
    new = checkpoints.load_public_key()
    entry = LedgerEntry.objects.get(workspace_id=home, outcome="key_changed")
    assert entry.kind == "policy"
    (change,) = map(parse_key_change, list_key_changes(home))
    names = [checkpoints.format_verifier_key(change.origin, key) for key in (old, new)]
    assert [change.old, change.new] == names
    both = checkpoints.parse_checkpoint(proofs.find_head(home).note)
    later = grow(home)
    assert [checkpoints.is_signed_by(head, old) for head in (both, later)] == [True, False]
    assert [checkpoints.is_signed_by(head, new) for head in (both, later)] == [True, True]
    report = verify(home)
    assert report.ok
    assert [(key.is_told, key.heads) for key in report.keys] == [(True, 1), (True, 2)]


def test_a_told_change_holds_even_without_the_old_file(home):
    before = proofs.find_head(home).note
    rotate_key([home], actor="Ada").unlink()
    assert verify(home, outside=[before]).ok


def test_an_untold_change_is_listed_and_a_replaced_key_is_named(home, capsys):
    before = proofs.find_head(home).note
    retired = replace_key()
    grow(home)
    assert [key.is_told for key in verify(home).keys] == [True, False]
    call_command("verify_ledger", "--workspace", "acme")
    told = capsys.readouterr().out
    assert "no change signed by the key before introduces it" in told
    assert "No head from outside was compared." in told
    retired.unlink()
    for row in Checkpoint.objects.filter(workspace_id=home):
        note = checkpoints.sign_checkpoint(home, row.size, bytes(row.root))
        tamper("UPDATE traces_checkpoint SET note = %s WHERE id = %s", [note, row.pk])
    assert verify(home).ok  # all signed anew: only a head from outside shows it
    assert kinds(home, before) == {"KEY_REPLACED"}


def test_a_change_that_the_old_key_did_not_sign_counts_for_nothing(home):
    rotate_key([home], actor="Ada")
    (note,) = list_key_changes(home)
    lines = note.splitlines(keepends=True)
    append(NewEntry(home, "policy", {"note": "".join(lines[:-2] + lines[-1:])}, outcome="key_changed"))
    seal(home)
    assert kinds(home) == {"KEY_REPLACED"}


def test_a_rotation_that_was_interrupted_goes_on(home, monkeypatch):
    monkeypatch.setattr(checkpoints, "replace_key", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        rotate_key([home], actor="Ada")
    monkeypatch.undo()
    rotate_key([home], actor="Ada")
    (change,) = map(parse_key_change, list_key_changes(home))
    current = checkpoints.format_verifier_key(change.origin, checkpoints.load_public_key())
    assert (change.new, kinds(home)) == (current, set())


def test_a_ledger_that_another_version_seals_stops_the_rotation(home, monkeypatch):
    monkeypatch.setattr(checkpoints, "find_next_key", lambda: None)
    with pytest.raises(CommandError, match="not signed by both keys"):
        call_command("rotate_ledger_key")
