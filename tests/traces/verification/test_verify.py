"""What an auditor can find out: any changed byte is named, a redaction is not a fault."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.core.management import CommandError, call_command
from django.db import DatabaseError, transaction

from controlplane.models import Workspace
from tests.traces.builders import AWAY, HOME, append, append_many, decision, tamper
from traces.errors import RedactionError
from traces.ledger import append as ledger
from traces.ledger import checkpoints, proofs
from traces.ledger.redaction import redact
from traces.ledger.sealing import seal
from traces.models import LedgerBody, LedgerEntry
from traces.verification.verify import verify

pytestmark = pytest.mark.django_db


def sealed(count=300):
    """A ledger with one full tile and an open edge; its entries by row id."""
    made = append_many(count)
    seal(HOME)
    return made


def found(report):
    return [(problem.kind, problem.entry_id) for problem in report.problems]


def test_an_untouched_ledger_holds():
    sealed()
    append()
    report = verify(HOME)
    assert report.ok
    assert (report.size, report.checked, report.unsealed, report.redacted) == (300, 300, 1, 0)
    assert report.root == bytes(proofs.find_head(HOME).root).hex()


def test_an_empty_ledger_holds():
    assert verify(HOME).ok


@pytest.mark.parametrize("at", [5, 299])
def test_one_changed_byte_of_an_envelope_names_the_entry(at):
    victim = sealed()[at]
    envelope = bytes(LedgerEntry.objects.get(pk=victim.id).envelope).replace(b"decision", b"decisioN", 1)
    tamper("UPDATE traces_ledgerentry SET envelope = %s WHERE id = %s", [envelope, victim.id])
    assert ("ENTRY_CHANGED", victim.entry_id) in found(verify(HOME))


def test_one_changed_byte_of_a_body_names_the_entry():
    victim = sealed()[17]
    tamper("UPDATE traces_ledgerbody SET body = %s WHERE entry_id = %s", [b'{"tool":"rm"}', victim.id])
    assert found(verify(HOME)) == [("BODY_CHANGED", victim.entry_id)]


def test_a_changed_copy_names_the_entry_and_the_column():
    victim = sealed()[17]
    tamper("UPDATE traces_ledgerentry SET outcome = 'allow' WHERE id = %s", [victim.id])
    report = verify(HOME)
    assert found(report) == [("COPY_CHANGED", victim.entry_id)]
    assert "outcome" in report.problems[0].text


def test_an_unsealed_entry_is_checked_as_well():
    victim = append()
    tamper("UPDATE traces_ledgerbody SET body = %s WHERE entry_id = %s", [b"{}", victim.id])
    assert found(verify(HOME)) == [("BODY_CHANGED", victim.entry_id)]


def test_a_rewritten_entry_with_a_fitting_hash_is_named_by_its_tile():
    victim = sealed()[5]
    forged = ledger.prepare(decision(entry_id=victim.entry_id)).row
    tamper(
        "UPDATE traces_ledgerentry SET envelope = %s, leaf_hash = %s, body_digest = %s WHERE id = %s",
        [forged["envelope"], forged["leaf_hash"], forged["body_digest"], victim.id],
    )
    kinds = dict(found(verify(HOME)))
    assert kinds["ENTRY_CHANGED"] == victim.entry_id
    assert "ROOT_MISMATCH" in kinds


def test_a_rewritten_entry_at_the_edge_breaks_the_signed_head():
    victim = sealed()[299]
    forged = ledger.prepare(decision(entry_id=victim.entry_id)).row
    tamper(
        "UPDATE traces_ledgerentry SET envelope = %s, leaf_hash = %s WHERE id = %s",
        [forged["envelope"], forged["leaf_hash"], victim.id],
    )
    assert "ROOT_MISMATCH" in dict(found(verify(HOME)))


def test_a_deleted_entry_leaves_a_gap():
    victim = sealed()[40]
    tamper("DELETE FROM traces_ledgerleaf WHERE entry_id = %s", [victim.id])
    report = verify(HOME)
    assert found(report)[0][0] == "ENTRIES_MISSING"
    assert report.problems[0].seq == 40


def test_a_deleted_body_without_a_redaction_is_named():
    victim = sealed()[40]
    tamper("DELETE FROM traces_ledgerbody WHERE entry_id = %s", [victim.id])
    assert found(verify(HOME)) == [("BODY_MISSING", victim.entry_id)]


def test_a_changed_tile_is_found():
    sealed()
    tamper("UPDATE traces_ledgertile SET root = %s", [b"x" * 32])
    assert found(verify(HOME)) == [("TILE_CHANGED", None)]
    tamper("DELETE FROM traces_ledgertile")
    assert found(verify(HOME)) == [("TILE_MISSING", None)]


def test_a_head_signed_by_another_key_is_found():
    sealed(3)
    forged = Ed25519PrivateKey.generate()
    note = proofs.find_head(HOME).note
    signed = checkpoints.parse_checkpoint(note).signed_text
    blob = checkpoints.compute_key_id(
        checkpoints.log_origin(HOME), checkpoints.load_public_key()
    ) + forged.sign(signed.encode())
    line = f"\u2014 {checkpoints.log_origin(HOME)} {checkpoints.base64.b64encode(blob).decode()}\n"
    tamper("UPDATE traces_checkpoint SET note = %s", [f"{signed}\n{line}"])
    assert found(verify(HOME)) == [("BAD_SIGNATURE", None)]


@pytest.mark.parametrize("note", ["", "hello", "a\nb\nc\n\n\u2014 a b\n", "a\n1\nAA==\n\nnot a signature\n"])
def test_a_head_that_is_no_note_is_found(note):
    sealed(3)
    tamper("UPDATE traces_checkpoint SET note = %s", [note])
    assert found(verify(HOME)) == [("CHECKPOINT_CHANGED", None)]


def test_a_head_that_disagrees_with_its_note_is_found():
    sealed(3)
    tamper("UPDATE traces_checkpoint SET root = %s", [b"x" * 32])
    assert [kind for kind, _ in found(verify(HOME))] == ["CHECKPOINT_CHANGED", "ROOT_MISMATCH"]


def test_an_old_backup_contradicts_a_checkpoint_that_was_kept_outside():
    sealed(3)
    append_many(2)
    seal(HOME)
    kept = proofs.find_head(HOME).note
    assert verify(HOME, outside=[kept]).ok
    for table in ("traces_checkpoint WHERE size = 5", "traces_ledgerleaf WHERE seq >= 3"):
        tamper(f"DELETE FROM {table}")
    tamper("DELETE FROM traces_ledgerbody WHERE entry_id NOT IN (SELECT entry_id FROM traces_ledgerleaf)")
    tamper("DELETE FROM traces_ledgerentry WHERE id NOT IN (SELECT entry_id FROM traces_ledgerleaf)")
    assert verify(HOME).ok
    assert found(verify(HOME, outside=[kept])) == [("ENTRIES_MISSING", None)]


def test_a_checkpoint_of_another_ledger_is_refused():
    append(decision(workspace_id=AWAY))
    seal(AWAY)
    assert found(verify(HOME, outside=[proofs.find_head(AWAY).note])) == [("CHECKPOINT_CHANGED", None)]


def test_after_a_redaction_everything_still_verifies():
    victim = LedgerEntry.objects.get(pk=sealed()[12].id)
    made = redact(victim, reason="held a password", actor="person:1:Ada")
    seal(HOME)
    assert ledger.read_body(LedgerEntry.objects.get(pk=victim.pk)) is None
    assert redact(victim, reason="again", actor="person:1:Ada") is None
    report = verify(HOME)
    assert report.ok
    assert (report.redacted, report.checked) == (1, 301)
    record = LedgerEntry.objects.get(pk=made.id)
    assert ledger.read_body(record) == {
        "entry_id": victim.entry_id,
        "kind": "decision",
        "reason": "held a password",
    }
    with pytest.raises(RedactionError, match="stays readable"):
        redact(record, reason="hide it", actor="person:1:Ada")


def test_a_body_that_no_redaction_names_cannot_be_deleted():
    victim, other = sealed(2)
    redact(LedgerEntry.objects.get(pk=victim.id), reason="r", actor="a")
    with pytest.raises(DatabaseError, match="insert-only"), transaction.atomic():
        LedgerBody.objects.filter(entry_id=other.id).delete()


def test_the_command_says_what_holds_and_fails_when_something_does_not(tmp_path, capsys):
    home = Workspace.objects.create(slug="home", name="Home")
    made = append(decision(workspace_id=home.pk))
    call_command("seal_ledger")
    kept = tmp_path / "head.txt"
    kept.write_text(proofs.find_head(home.pk).note, encoding="utf-8")
    call_command("verify_ledger", workspace="home", checkpoint=kept)
    assert "home: holds; 1 sealed, 0 waiting" in capsys.readouterr().out
    tamper("UPDATE traces_ledgerbody SET body = %s", [b"{}"])
    with pytest.raises(CommandError) as failed:
        call_command("verify_ledger")
    assert failed.value.returncode == 1
    assert f"BODY_CHANGED entry {made.entry_id} #0" in capsys.readouterr().out


def test_the_command_refuses_what_it_cannot_use(tmp_path):
    Workspace.objects.create(slug="home", name="Home")
    with pytest.raises(CommandError, match="no workspace"):
        call_command("verify_ledger", workspace="nowhere")
    with pytest.raises(CommandError, match=r"none cannot be read: No such file or directory$"):
        call_command("verify_ledger", workspace="home", checkpoint=tmp_path / "none")
    (tmp_path / "binary").write_bytes(b"\xff")
    with pytest.raises(CommandError, match=r"binary cannot be read: it is not UTF-8$"):
        call_command("verify_ledger", workspace="home", checkpoint=tmp_path / "binary")
    other = tmp_path / "other.txt"
    other.write_text(checkpoints.sign_checkpoint(10**9, 1, b"x" * 32), encoding="utf-8")
    with pytest.raises(CommandError, match="no signed head"):
        call_command("verify_ledger", workspace="home", checkpoint=other)
