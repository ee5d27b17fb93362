"""The table of attacks of decision 20: what names each, without and with a head that was kept outside."""

from __future__ import annotations

import pytest

from tests.traces.builders import HOME, append_many, replace_key, tamper
from traces.ledger import checkpoints, proofs
from traces.ledger.sealing import seal
from traces.models import Checkpoint, LedgerEntry, LedgerLeaf
from traces.verification.verify import verify

pytestmark = pytest.mark.django_db
UNKNOWABLE = set()  # no check of the database alone can tell


@pytest.fixture
def kept(tmp_path, settings):
    """A ledger of 12 entries with heads at 4, 8 and 12, of which the last was kept outside."""
    settings.LEDGER_KEY_FILE = tmp_path / "ledger_key.pem"
    for _ in range(3):
        append_many(4)
        seal(HOME)
    return proofs.find_head(HOME).note


def row_of(seq):
    return LedgerLeaf.objects.get(workspace_id=HOME, seq=seq).entry_id


def change(column):
    tamper(f"UPDATE traces_ledgerentry SET {column} = %s WHERE id = %s", [b"other", row_of(3)])


def delete(seq):
    row = row_of(seq)
    for table, column in (("ledgerleaf", "entry_id"), ("ledgerbody", "entry_id"), ("ledgerentry", "id")):
        tamper(f"DELETE FROM traces_{table} WHERE {column} = %s", [row])


def swap():
    first, second = row_of(2), row_of(3)
    for row, seq in ((first, -1), (second, 2), (first, 3)):
        tamper("UPDATE traces_ledgerleaf SET seq = %s WHERE entry_id = %s", [seq, row])


def cut_tail(*, with_heads):
    for seq in (11, 10, 9, 8):
        delete(seq)
    if with_heads:
        tamper("DELETE FROM traces_checkpoint WHERE size > 8")


def fork():
    cut_tail(with_heads=True)
    append_many(6)
    seal(HOME)


def seal_again():
    """Drop an entry, then seal all others as if it had never been, with the true key."""
    delete(5)
    for table in ("ledgerleaf", "ledgertile", "checkpoint"):
        tamper(f"DELETE FROM traces_{table}")
    seal(HOME, after=0)
    assert LedgerEntry.objects.filter(workspace_id=HOME).count() == 11


def replace_and_sign_again():
    replace_key().unlink()
    for head in Checkpoint.objects.filter(workspace_id=HOME):
        note = checkpoints.sign_checkpoint(HOME, head.size, bytes(head.root))
        tamper("UPDATE traces_checkpoint SET note = %s WHERE id = %s", [note, head.pk])


@pytest.mark.parametrize(
    ("attack", "alone", "with_head"),
    [
        (lambda: change("envelope"), {"ENTRY_CHANGED", "ROOT_MISMATCH"}, {"ENTRY_CHANGED", "ROOT_MISMATCH"}),
        (lambda: change("leaf_hash"), {"ENTRY_CHANGED"}, {"ENTRY_CHANGED"}),
        (lambda: change("reason"), {"COPY_CHANGED"}, {"COPY_CHANGED"}),
        (lambda: tamper("UPDATE traces_ledgerbody SET body = %s", [b"{}"]), {"BODY_CHANGED"}, {"BODY_CHANGED"}),
        (lambda: tamper("DELETE FROM traces_ledgerbody"), {"BODY_MISSING"}, {"BODY_MISSING"}),
        (lambda: delete(3), {"ENTRIES_MISSING"}, {"ENTRIES_MISSING"}),
        (swap, {"ROOT_MISMATCH"}, {"ROOT_MISMATCH"}),
        (lambda: cut_tail(with_heads=False), {"ENTRIES_MISSING"}, {"ENTRIES_MISSING"}),
        (lambda: cut_tail(with_heads=True), UNKNOWABLE, {"ENTRIES_MISSING"}),
        (fork, UNKNOWABLE, {"ROOT_MISMATCH"}),
        (seal_again, UNKNOWABLE, {"ENTRIES_MISSING"}),
        (lambda: replace_key().unlink(), {"KEY_REPLACED"}, {"KEY_REPLACED"}),
        (replace_and_sign_again, UNKNOWABLE, {"KEY_REPLACED"}),
    ],
    ids=[
        "envelope", "leaf hash", "column", "body", "no body", "deleted", "swapped", "tail", "tail and heads",
        "fork of a backup", "sealed again", "key replaced", "key replaced and all signed again",
    ],
)  # fmt: skip
def test_each_attack_is_named_or_said_to_need_a_head_from_outside(kept, attack, alone, with_head):
    assert verify(HOME, outside=[kept]).ok
    attack()
    report = verify(HOME)
    assert {problem.kind for problem in report.problems} == alone
    assert report.outside == 0  # which `verify_ledger` turns into what it cannot know
    assert {problem.kind for problem in verify(HOME, outside=[kept]).problems} == with_head
