"""The key and what it signs."""

from __future__ import annotations

import base64
import hashlib
import stat
import threading

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tests.traces.builders import replace_key
from traces.ledger import checkpoints
from traces.ledger.checkpoints import KeyFileError, is_signed_by, parse_checkpoint, sign_checkpoint
from traces.ledger.keys.file_check import check_key_files
from traces.ledger.log_name import log_origin


@pytest.fixture
def key_file(tmp_path, settings):
    settings.LEDGER_KEY_FILE = tmp_path / "ledger_key.pem"
    return settings.LEDGER_KEY_FILE


def test_the_key_is_made_once_and_readable_by_its_owner_only(key_file):
    first = checkpoints.load_public_key()
    assert checkpoints.load_public_key() == first
    assert stat.S_IMODE(key_file.stat().st_mode) == 0o600
    assert [path.name for path in key_file.parent.iterdir()] == [key_file.name]


def test_processes_that_start_together_agree_on_one_key(key_file):
    found = []

    def start():
        checkpoints._create_key(key_file)
        found.append(key_file.read_bytes())

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1


def test_a_key_of_another_kind_is_refused(key_file):
    pem = X25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    key_file.write_bytes(pem)
    with pytest.raises(KeyFileError, match=r"ledger_key.pem is not an Ed25519 key"):
        checkpoints.load_signing_key()


def test_a_checkpoint_is_a_signed_note(key_file):
    root = hashlib.sha256(b"x").digest()
    text = sign_checkpoint(7, 42, root)
    origin = log_origin(7)
    signed = f"{origin}\n42\n{base64.b64encode(root).decode()}\n"
    assert text.startswith(f"{signed}\n\u2014 {origin} ")
    note = parse_checkpoint(text)
    assert (note.origin, note.size, note.root, note.signed_text) == (origin, 42, root, signed)
    assert is_signed_by(note, checkpoints.load_public_key())
    assert not is_signed_by(note, Ed25519PrivateKey.generate().public_key())
    assert not is_signed_by(parse_checkpoint(text.replace("\n42\n", "\n43\n")), checkpoints.load_public_key())


def test_a_checkpoint_may_carry_signatures_of_witnesses(key_file):
    text = sign_checkpoint(7, 42, b"r" * 32) + f"\u2014 witness {base64.b64encode(b'12345678').decode()}\n"
    assert is_signed_by(parse_checkpoint(text), checkpoints.load_public_key())


def test_the_verifier_key_names_the_log_and_the_key(key_file):
    name, key_id, encoded = checkpoints.format_verifier_key("log", checkpoints.load_public_key()).split(
        "+", 2
    )
    raw = base64.b64decode(encoded)
    assert (name, raw[:1]) == ("log", b"\x01")
    assert hashlib.sha256(b"log\n" + raw).hexdigest()[:8] == key_id


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"garbage", "not an unencrypted private key in PEM format"),
        (b"", "not an unencrypted private key"),
        (None, "cannot be read"),
    ],
)
def test_a_key_file_that_cannot_be_used_is_named_before_anything_needs_it(key_file, content, words):
    assert check_key_files() == []
    assert not key_file.exists()
    if content is None:
        key_file.mkdir()
    else:
        key_file.write_bytes(content)
    (problem,) = check_key_files()
    assert problem.msg.startswith(f"{key_file} ")
    assert words in problem.msg
    assert "backup" in problem.hint
    with pytest.raises(KeyFileError, match=words):
        checkpoints.load_signing_key()


def test_a_retired_key_counts_too_and_a_lost_one_is_missed(key_file):
    kept = replace_key()
    assert check_key_files() == []
    kept.write_bytes(b"garbage")
    assert [problem.id for problem in check_key_files()] == ["traces.E002"]
    key_file.unlink()
    assert [problem.id for problem in check_key_files()] == ["traces.E001"]
