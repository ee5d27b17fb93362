"""Witnesses cosign each head that continues the one before, and contradict one that does not."""

from __future__ import annotations

import base64

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.test import Client
from django.utils import timezone

from controlplane.shared.http_post import PostResponse
from tests.builders import signed_in, speaker
from tests.traces.anchors.test_schedule import ACTOR, due_now, fresh, go_back_to, grow, word
from tests.traces.ledger.test_standalone_verifier import cosign, cosigner_key
from traces.anchors import schedule, targets
from traces.anchors.schedule import assess_health, send_due_heads
from traces.errors import AnchorError
from traces.ledger.checkpoints import NoteError
from traces.ledger.log_name import log_uuid
from traces.ledger.standalone_verifier import DoesNotHoldError, compute_consistency_roots
from traces.models import AnchorKind, Cosignature, LedgerAnchor
from traces.tlog.cosignatures import find_cosigning_time, render_note

pytestmark = pytest.mark.django_db
SECONDS = 1_700_000_000


class Witness:
    """A witness as C2SP tlog-witness describes it, with the auditor's own arithmetic. It keeps one head."""

    def __init__(self, name):
        self.name, self.key = name, Ed25519PrivateKey.generate()
        self.verifier_key = cosigner_key(name, self.key.public_key())
        self.size, self.root = 0, b""
        self.asked = []

    def add_checkpoint(self, body):
        self.asked.append(body)
        proof, _, note = body.partition("\n\n")
        old, *hashes = proof.split("\n")
        _, size, root = note.split("\n")[:3]
        if int(old.removeprefix("old ")) != self.size:
            return PostResponse(409, f"{self.size}\n")
        if self.size:
            try:
                path = [base64.b64decode(node) for node in hashes]
                roots = compute_consistency_roots(self.size, int(size), path, self.root)
            except DoesNotHoldError:
                roots = None
            if roots != (self.root, base64.b64decode(root)):
                return PostResponse(422, "")
        self.size, self.root = int(size), base64.b64decode(root)
        return PostResponse(200, cosign(note, self.name, self.key, SECONDS))


@pytest.fixture
def witnesses(monkeypatch):
    made = {f"https://w{n}.example": Witness(f"w{n}.example") for n in range(2)}

    def post(url, body, _headers):
        address, _, call = url.rpartition("/")
        assert call == "add-checkpoint"
        return made[address].add_checkpoint(body.decode())

    monkeypatch.setattr(targets.http_post, "post", post)
    return list(made.values())


def add(workspace, witness):
    target = f"https://{witness.name}/ {witness.verifier_key}"
    return schedule.add_anchor(workspace, AnchorKind.WITNESS, target, 1, actor=ACTOR)


def test_each_head_is_cosigned_with_a_proof_from_the_one_before(acme, witnesses):
    anchor = add(acme, witnesses[0])
    for _ in range(3):
        head = grow(acme, 5)
        due_now()
        assert send_due_heads() == 1
        time = find_cosigning_time(render_note(head), witnesses[0].verifier_key)
        assert time.timestamp() == SECONDS
    assert [body.split("\n")[0] for body in witnesses[0].asked] == ["old 0", "old 6", "old 11"]
    assert word(anchor) == "ok"
    assert fresh(anchor).answer == "w0.example cosigned 16 entries at 2023-11-14 22:13:20 UTC."


def test_a_witness_that_knows_more_than_we_remember_is_asked_again(acme, witnesses):
    add(acme, witnesses[0])
    grow(acme)
    send_due_heads()
    Cosignature.objects.all().delete()
    grow(acme)
    due_now()
    assert send_due_heads() == 1
    assert len(witnesses[0].asked) == 3


@pytest.mark.parametrize(
    ("more", "words"), [(0, "signed 9 entries, the ledger has only"), (20, "another history")]
)
def test_a_ledger_that_went_back_is_contradicted(acme, witnesses, settings, more, words):
    anchor = add(acme, witnesses[0])
    old = grow(acme, 3).size
    grow(acme, 5)
    send_due_heads()
    go_back_to(acme, old)
    settings.LEDGER_ANCHORS_FILE.unlink()  # the witness alone remembers
    Cosignature.objects.all().delete()
    LedgerAnchor.objects.update(anchored_size=0)
    if more:
        grow(acme, more)
    due_now()
    assert send_due_heads() == 0
    assert word(anchor) == "contradicted"
    assert words in assess_health(fresh(anchor), timezone.now()).text


def test_the_log_serves_no_head_that_too_few_signed(acme, witnesses, settings):
    settings.WITNESS_QUORUM = 2
    first, headers = add(acme, witnesses[0]), {"Authorization": f"Bearer {speaker(acme).secret}"}
    head = grow(acme)
    send_due_heads()
    address = f"/{log_uuid(acme.pk)}/checkpoint"
    assert Client().get(address, headers=headers).status_code == 404
    add(acme, witnesses[1])
    send_due_heads()
    grow(acme, 7)  # not cosigned yet
    served = Client().get(address, headers=headers).content.decode()
    assert served.startswith(head.note)
    assert all(find_cosigning_time(served, witness.verifier_key) for witness in witnesses)
    assert fresh(first).enabled


def test_an_answer_that_is_no_signature_by_its_key_is_a_failure(acme, witnesses):
    anchor = add(acme, witnesses[0])
    witnesses[0].key = Ed25519PrivateKey.generate()
    grow(acme)
    assert send_due_heads() == 0
    assert word(anchor) == "failing"
    assert "no signature by its key" in fresh(anchor).answer
    assert not Cosignature.objects.exists()


@pytest.mark.parametrize(
    "target", ["", "https://w.example", "https://w.example key", "http://w.example name+id+key"]
)
def test_what_is_no_witness_is_refused(acme, target):
    with pytest.raises(AnchorError, match="Write the address and the key"):
        schedule.add_anchor(acme, AnchorKind.WITNESS, target, 1, actor=ACTOR)


def test_ada_adds_a_witness_on_the_page(acme, ada, witnesses):
    target = f"https://w0.example/ {witnesses[0].verifier_key}"
    posted = {"action": "add", "kind": "witness", "minutes": "1", "target": target}
    assert signed_in(ada).post("/w/acme/settings/ledger/", posted).status_code == 302
    assert LedgerAnchor.objects.get().target == target.replace("/ ", " ")


def test_a_note_that_is_none_has_no_cosignature(witnesses):
    with pytest.raises(NoteError):
        find_cosigning_time("x", witnesses[0].verifier_key)
