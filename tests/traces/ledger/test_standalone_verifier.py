"""The auditor's own program: it agrees with the product, and with nobody who cheats."""

from __future__ import annotations

import base64
import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tests.traces.builders import replace_key
from tests.traces.ledger.test_merkle import leaves_of, nodes_over, tree_hash
from traces.archives import archive
from traces.ledger import checkpoints, merkle, standalone_verifier
from traces.ledger.keys.rotation import rotate_key
from traces.ledger.redaction import redact
from traces.ledger.standalone_verifier import (
    DoesNotHoldError,
    check_signature,
    compute_consistency_roots,
    compute_inclusion_root,
)
from traces.models import LedgerEntry

pytestmark = pytest.mark.django_db
PROGRAM = Path(standalone_verifier.__file__)


def entry(number):
    return {"id": f"e-{number}", "timestamp": "2026-02-21T12:00:00Z", "files": []}


def run(folder, *arguments, **files):
    for name, content in files.items():
        (folder / name).write_text(
            content if isinstance(content, str) else json.dumps(content), encoding="utf-8"
        )
    command = [sys.executable, "-I", str(PROGRAM), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def grown(agent):
    """(agent, key, an early checkpoint): a ledger that has grown since."""
    agent.post("traces", [entry(n) for n in range(5)])
    early = agent.get("ledger").json()
    agent.post("traces", [entry(n) for n in range(5, 12)])
    return agent, early["verifier_key"], early["checkpoint"]


def test_an_entry_is_proven_with_its_body(grown, tmp_path):
    agent, key, _ = grown
    proof = agent.get("ledger/proof/inclusion", entry="e-3").json()
    done = run(tmp_path, "inclusion", "proof", "--key", key, proof=proof)
    assert (done.returncode, done.stderr) == (0, "")
    first, signed = done.stdout.splitlines()
    assert first == "HOLDS: Entry e-3 is number 3 of 12, and its body is the recorded one."
    log, key_id = key.split("+")[:2]
    assert signed == (
        f"The head of 12 entries of {log} is signed by key {key_id}, which you gave; 0 of 0 witnesses signed it."
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"body": '{"id":"forged"}'}, "the body of entry 3 is not the one"),
        ({"seq": 4}, "does not lead to the signed root"),
        ({"seq": 40}, "not in the tree"),
        ({"envelope": "{}"}, "does not lead"),
        ({"hashes": []}, "too short"),
        ({"size": 11}, "of size 12"),
        ({"checkpoint": None}, "no checkpoint"),
        ({"entry_id": "other"}, "its entry_id is e-3, the proof says other"),
        ({"log": "other"}, "the proof says other"),
        ({"leaf_hash": "00"}, "its leaf_hash is"),
        ({"root": "00"}, "its root is"),
    ],
)
def test_a_forged_proof_does_not_hold(grown, tmp_path, change, words):
    agent, key, _ = grown
    proof = agent.get("ledger/proof/inclusion", entry="e-3").json() | change
    done = run(tmp_path, "inclusion", "proof", "--key", key, proof=proof)
    assert done.returncode == 1
    assert words in done.stderr


def test_a_head_by_another_key_or_of_another_log_does_not_hold(grown, tmp_path):
    agent, key, _ = grown
    proof = agent.get("ledger/proof/inclusion", entry="e-3").json()
    for name, words in ((checkpoints.log_origin(999), "is of"), (key.split("+")[0], "no signature")):
        other = checkpoints.format_verifier_key(name, Ed25519PrivateKey.generate().public_key())
        done = run(tmp_path, "inclusion", "proof", "--key", other, proof=proof)
        assert done.returncode == 1
        assert words in done.stderr


def test_a_redacted_entry_is_proven_without_its_body(grown, tmp_path):
    agent, key, _ = grown
    redact(LedgerEntry.objects.get(entry_id="e-3"), reason="secret", actor="Ada")
    proof = agent.get("ledger/proof/inclusion", entry="e-3").json()
    assert "is not in the proof" in run(tmp_path, "inclusion", "proof", "--key", key, proof=proof).stdout


def test_growth_is_proven_and_an_old_backup_is_not(grown, tmp_path):
    agent, key, early = grown
    late = agent.get("ledger").json()["checkpoint"]
    proof = agent.get("ledger/proof/consistency", **{"from": 5, "to": 12}).json()
    arguments = ("consistency", "proof", "--key", key, "--old", "old", "--new", "new")
    done = run(tmp_path, *arguments, proof=proof, old=early, new=late)
    assert done.stdout.startswith("HOLDS: The ledger of 12 entries begins with the ledger of 5 entries.\n"), (
        done.stderr
    )
    done = run(tmp_path, *arguments, proof=proof | {"hashes": proof["hashes"][:-1]}, old=early, new=late)
    assert done.returncode == 1
    done = run(tmp_path, *arguments, proof=proof | {"old_size": 12, "new_size": 5}, old=late, new=early)
    assert "shrunk" in done.stderr


def test_growth_over_a_change_of_keys_is_proven_with_both(agent, tmp_path, settings):
    settings.LEDGER_KEY_FILE = tmp_path / "ledger_key.pem"
    agent.post("traces", [entry(n) for n in range(3)])
    before = agent.get("ledger").json()
    replace_key()
    agent.post("traces", [entry(n) for n in range(3, 7)])
    after = agent.get("ledger").json()
    proof = agent.get("ledger/proof/consistency", **{"from": 3, "to": 7}).json()
    files = {"proof": proof, "old": before["checkpoint"], "new": after["checkpoint"]}
    arguments = ("consistency", "proof", "--old", "old", "--new", "new", "--key", before["verifier_key"])
    assert "no signature" in run(tmp_path, *arguments, **files).stderr
    done = run(tmp_path, *arguments, "--key", after["verifier_key"], **files)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_change_of_keys_is_followed_from_the_first_key(agent, tmp_path, settings):
    settings.LEDGER_KEY_FILE = tmp_path / "ledger_key.pem"
    agent.post("traces", [entry(n) for n in range(3)])
    first_key = agent.get("ledger").json()["verifier_key"]
    for _ in range(2):
        rotate_key([agent.token.workspace_id], actor="test")
    agent.post("traces", [entry(3)])
    proof, changes = agent.get("ledger/proof/inclusion", entry="e-3").json(), agent.get("ledger/key-changes")
    arguments = ("inclusion", "proof", "--key", first_key, "--key-changes", "changes")
    done = run(tmp_path, *arguments, proof=proof, changes=changes.content.decode())
    assert (done.returncode, done.stderr) == (0, "")
    newest = agent.get("ledger").json()["verifier_key"].split("+")[1]
    assert f"is signed by key {newest}, which key " in done.stdout
    forged = changes.content.decode().replace("\n20", "\n19", 1)
    done = run(tmp_path, *arguments, proof=proof, changes=forged)
    assert "the signature is not by this key" in done.stderr


def test_cosignatures_are_counted_and_a_quorum_is_required(grown, tmp_path):
    agent, key, _ = grown
    proof = agent.get("ledger/proof/inclusion", entry="e-3").json()
    keys = [Ed25519PrivateKey.generate() for _ in range(2)]
    witnesses = [cosigner_key(f"w{n}.example", key.public_key()) for n, key in enumerate(keys)]
    proof["checkpoint"] += cosign(proof["checkpoint"], "w0.example", keys[0], 1_700_000_000)
    arguments = ("inclusion", "proof", "--key", key, "--witness", witnesses[0], "--witness", witnesses[1])
    done = run(tmp_path, *arguments, "--quorum", "1", proof=proof)
    assert "1 of 2 witnesses signed it; w0.example at 2023-11-14T22:13:20Z." in done.stdout, done.stderr
    done = run(tmp_path, *arguments, "--quorum", "2", proof=proof)
    assert "1 witnesses signed the checkpoint, 2 must" in done.stderr
    stranger = cosign(proof["checkpoint"], "w0.example", keys[1], 1)
    proof["checkpoint"] = proof["checkpoint"].replace("w0.example", "w1.example") + stranger
    assert "0 of 2 witnesses" in run(tmp_path, *arguments, proof=proof).stdout


def cosigner_key(name, key):
    return checkpoints.format_verifier_key(name, key, b"\x04")


def cosign(note, name, key, seconds):
    """A line as a witness adds it (C2SP tlog-cosignature)."""
    text = f"cosignature/v1\ntime {seconds}\n{note.partition(chr(10) * 2)[0]}\n"
    key_id = bytes.fromhex(cosigner_key(name, key.public_key()).split("+")[1])
    blob = key_id + seconds.to_bytes(8, "big") + key.sign(text.encode())
    return f"\u2014 {name} {base64.b64encode(blob).decode()}\n"


@pytest.fixture
def shelved(agent, tmp_path):
    """(path, key) of an archive from the middle of a ledger, with one body that was redacted."""
    for start in range(0, 700, 100):
        agent.post("traces", [entry(n) for n in range(start, start + 100)])
    place = agent.token.workspace
    archive.create_archive(place.pk, place.slug, 256, tmp_path, actor="test")
    redact(LedgerEntry.objects.get(entry_id="e-300"), reason="secret", actor="Ada")
    made = archive.create_archive(place.pk, place.slug, 512, tmp_path, actor="test")
    return tmp_path / made.name, agent.get("ledger").json()["verifier_key"]


def test_an_archive_holds_by_itself(shelved, tmp_path):
    path, key = shelved
    done = run(tmp_path, "archive", path.name, "--key", key)
    assert (done.returncode, done.stderr) == (0, "")
    assert "HOLDS: Entries 256 to 511 of " in done.stdout
    assert "255 with their bodies" in done.stdout


@pytest.mark.deep
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda lines: [*lines[:9], lines[9].replace(b"12:00:00Z", b"12:00:01Z"), *lines[10:]], "the body of entry 264"),
        (lambda lines: [*lines[:9], lines[9].replace(b"trace", b"tracE", 1), *lines[10:]], "do not lead"),
        (lambda lines: lines[:9] + lines[10:], "entry 264 is missing"),
        (lambda lines: [lines[0].replace(b'"left":["', b'"left":["00'), *lines[1:]], "do not lead"),
        (lambda lines: [lines[0].replace(b'"left":["', b'"left":["00","'), *lines[1:]], "too many nodes"),
        (lambda lines: [*lines[:-1], lines[-1].replace(b"256-512", b"256-511")], "signature"),
        (lambda lines: [*lines, b"{}"], "follows the seal"),
        (lambda lines: lines[:-1], "cut off"),
        (lambda lines: [b"{}"], "CANNOT BE READ"),
    ],
)  # fmt: skip
def test_a_forged_archive_does_not_hold(shelved, tmp_path, change, words):
    path, key = shelved
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    path.write_bytes(gzip.compress(b"".join(change(lines))))
    done = run(tmp_path, "archive", path.name, "--key", key)
    assert done.returncode == 1
    assert words in done.stderr


def test_what_is_left_out_of_an_archive_shows_in_its_seal(shelved, tmp_path):
    path, key = shelved
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    bare = json.loads(lines[9]) | {"salt": None, "body": None}
    lines[9] = json.dumps(bare).encode() + b"\n"
    path.write_bytes(gzip.compress(b"".join(lines)))
    assert "not what was sealed" in run(tmp_path, "archive", path.name, "--key", key).stderr


def test_an_archive_that_is_cut_or_by_another_key_does_not_hold(shelved, tmp_path):
    path, key = shelved
    name = key.split("+")[0]
    other = checkpoints.format_verifier_key(name, Ed25519PrivateKey.generate().public_key())
    assert "no signature" in run(tmp_path, "archive", path.name, "--key", other).stderr
    path.write_bytes(path.read_bytes()[:-200])
    assert "CANNOT BE READ" in run(tmp_path, "archive", path.name, "--key", key).stderr


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{}", "proof has no 'checkpoint'"), ("", "not of the form"), ("[]", "not of the form"),
        ('{"checkpoint": 5}', "not of the form"), ("[" * 100_000, "not of the form"),
        ('{"checkpoint": "log\\n1\\nAA==\\n"}', "a key is log+id+key"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_said_in_words(tmp_path, content, words):
    done = run(tmp_path, "inclusion", "proof", "--key", "k", proof=content)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("CANNOT BE READ: ")
    assert words in done.stderr


def test_files_that_are_none_are_named_and_never_shown(tmp_path):
    (tmp_path / "noise").write_bytes(b"\xff" * 50_000)
    for what in ("inclusion", "archive"):
        for name in ("noise", "none", "."):
            done = run(tmp_path, what, name, "--key", "k")
            assert done.returncode == 1
            assert done.stderr.startswith(f"CANNOT BE READ: {name}")
            assert len(done.stderr) < 200


def test_a_consistency_proof_without_checkpoints_asks_for_them(tmp_path):
    done = run(tmp_path, "consistency", "proof", "--key", "k", proof="{}")
    assert done.returncode == 2
    assert "--old FILE --new FILE" in done.stderr


def test_it_agrees_with_the_product_on_every_small_tree():
    for new in range(1, 20):
        leaves = leaves_of(new)
        for index in range(new):
            path = merkle.compute_proof(nodes_over(leaves), merkle.find_inclusion_ranges(index, new))
            assert compute_inclusion_root(leaves[index], index, new, path) == tree_hash(leaves)
        for old in range(1, new + 1):
            path = merkle.compute_proof(nodes_over(leaves), merkle.find_consistency_ranges(old, new))
            roots = tree_hash(leaves[:old]), tree_hash(leaves)
            assert compute_consistency_roots(old, new, path, roots[0]) == roots


@pytest.mark.deep
def test_signatures_are_judged_as_the_library_judges_them():
    for number in range(8):
        private = Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32)
        key, text = private.public_key().public_bytes_raw(), b"text" * number
        signature = private.sign(text)
        check_signature(key, signature, text)
        for at in (0, 31, 32, 63):
            changed = bytes(byte ^ (at == place) for place, byte in enumerate(signature))
            with pytest.raises(DoesNotHoldError):
                check_signature(key, changed, text)
        malleable = signature[:32] + (
            int.from_bytes(signature[32:], "little") + standalone_verifier.ORDER
        ).to_bytes(32, "little")
        with pytest.raises(DoesNotHoldError, match="malleable"):
            check_signature(key, malleable, text)
    assert base64.b64encode(key)
