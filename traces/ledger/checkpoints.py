"""Sign and verify tree heads (C2SP tlog-checkpoint and signed-note) and receipts, with Ed25519.

The key is a file, never in the database: whoever can rewrite rows must not be able to sign them.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from django.conf import settings

from traces.ledger.append import format_instant
from traces.ledger.log_name import log_origin
from traces.ledger.write_once import write_once

ED25519, COSIGNATURE = b"\x01", b"\x04"  # algorithm bytes of C2SP signed notes
KEY_ID_SIZE = 4
SIGNATURE_MARK = "\u2014 "
NEXT_KEY_FILE = "ledger_key.next.pem"  # while a rotation goes on
RETIRED_DIRECTORY = "retired"  # next to the key file: keys that only verify


class KeyFileError(Exception):
    """A key file cannot be used. The message names it and says why."""


class NoteError(ValueError):
    """A text is not a checkpoint. The message says why."""


@dataclass(frozen=True, slots=True)
class SignedNote:
    """A parsed checkpoint. `signed_text` is what the signatures cover."""

    origin: str
    size: int
    root: bytes
    signed_text: str
    signatures: tuple[tuple[str, bytes], ...]  # (key name, 4 bytes of key id ‖ signature)


def load_signing_key() -> Ed25519PrivateKey:
    """Return the installation's key. It is created on first use, readable by its owner only."""
    return load_or_create_key(Path(settings.LEDGER_KEY_FILE))


def load_public_key() -> Ed25519PublicKey:
    return load_signing_key().public_key()


def load_retired_keys() -> list[Ed25519PublicKey]:
    """Return the public keys that this installation signed with before the current one."""
    paths = sorted((Path(settings.LEDGER_KEY_FILE).parent / RETIRED_DIRECTORY).glob("*.pem"))
    return [load_or_create_key(path).public_key() for path in paths]


def find_next_key() -> Ed25519PrivateKey | None:
    """Return the key that a rotation is about to take into use: meanwhile heads are signed by both."""
    path = Path(settings.LEDGER_KEY_FILE).with_name(NEXT_KEY_FILE)
    return load_or_create_key(path) if path.exists() else None


def prepare_next_key() -> Ed25519PrivateKey:
    """Create the next key, or return the one of a rotation that was interrupted."""
    return load_or_create_key(Path(settings.LEDGER_KEY_FILE).with_name(NEXT_KEY_FILE))


def replace_key() -> Path:
    """Retire the current key, take the next one into use, and return the path of the old one.

    There is no moment without a key, and other processes notice: none needs to restart.
    """
    path = Path(settings.LEDGER_KEY_FILE)
    old = load_signing_key().public_key().public_bytes_raw()
    retired_path = path.parent / RETIRED_DIRECTORY / f"{hashlib.sha256(old).hexdigest()[:16]}.pem"
    retired_path.parent.mkdir(mode=0o700, exist_ok=True)
    retired_path.unlink(missing_ok=True)
    retired_path.hardlink_to(path)
    path.with_name(NEXT_KEY_FILE).replace(path)
    return retired_path


def compute_key_id(name: str, key: Ed25519PublicKey, algorithm: bytes = ED25519) -> bytes:
    encoded = name.encode() + b"\n" + algorithm + key.public_bytes_raw()
    return hashlib.sha256(encoded).digest()[:KEY_ID_SIZE]


def format_verifier_key(name: str, key: Ed25519PublicKey, algorithm: bytes = ED25519) -> str:
    """Return the public key in the format of signed-note tools: `name+id+key`."""
    key_id = compute_key_id(name, key, algorithm).hex()
    return f"{name}+{key_id}+{encode_base64(algorithm + key.public_bytes_raw())}"


def parse_verifier_key(text: str, algorithm: bytes = ED25519) -> tuple[str, bytes]:
    """Return (name, raw public key) of `name+id+key`. Raise NoteError."""
    name, _, encoded = text.partition("+")
    key = decode_base64(encoded.partition("+")[2])
    if key[:1] != algorithm or len(key) != 33:
        raise NoteError(f"{text!r} is not an Ed25519 key")
    return name, key[1:]


def sign_checkpoint(workspace_id: int, size: int, root: bytes) -> str:
    origin = log_origin(workspace_id)
    return sign_note(origin, f"{origin}\n{size}\n{encode_base64(root)}\n")


def sign_note(name: str, text: str) -> str:
    """Return a note over `text`, which ends with a line feed, signed by the installation's key as `name`."""
    note = add_signature(f"{text}\n", name, load_signing_key())
    next_key = find_next_key()
    return add_signature(note, name, next_key) if next_key else note


def add_signature(note: str, name: str, key: Ed25519PrivateKey) -> str:
    """Return the note with one more signature under `name`."""
    signed_text = note.partition("\n\n")[0] + "\n"
    signature = compute_key_id(name, key.public_key()) + key.sign(signed_text.encode())
    return f"{note}{SIGNATURE_MARK}{name} {encode_base64(signature)}\n"


def parse_checkpoint(text: str) -> SignedNote:
    """Parse a checkpoint without verifying its signatures: see `is_signed_by`. Raise NoteError."""
    (origin, size, root), signed_text, signatures = parse_note(text)
    if not (size.isascii() and size.isdigit()):
        raise NoteError(f"{size!r} is not a tree size")
    return SignedNote(origin, int(size), decode_base64(root), signed_text, signatures)


def parse_note(text: str) -> tuple[list[str], str, tuple[tuple[str, bytes], ...]]:
    """Return (the first three lines, the signed text, the signatures) of a note. Raise NoteError."""
    signed_text, separator, tail = text.partition("\n\n")
    lines = signed_text.split("\n")
    if not separator or len(lines) < 3:
        raise NoteError("a signed note needs three lines, an empty line and signatures")
    signatures = tuple(_parse_signature(line) for line in tail.split("\n") if line)
    return lines[:3], signed_text + "\n", signatures


def is_signed_by(note: SignedNote, key: Ed25519PublicKey) -> bool:
    """Return whether one of the note's signatures is by `key` under the name of the log itself."""
    key_id = compute_key_id(note.origin, key)
    return any(
        name == note.origin
        and blob[:KEY_ID_SIZE] == key_id
        and _is_valid(key, blob[KEY_ID_SIZE:], note.signed_text)
        for name, blob in note.signatures
    )


def is_signed_by_installation(note: SignedNote) -> bool:
    """Return whether the note is signed by the installation's current key or a retired one."""
    return find_signer(note) is not None


def find_signer(note: SignedNote) -> Ed25519PublicKey | None:
    """Return the key of the installation that signed the note, the current one first."""
    current = load_public_key()
    if is_signed_by(note, current):
        return current
    return next((key for key in load_retired_keys() if is_signed_by(note, key)), None)


def sign_receipt(workspace_id: int, leaf: bytes, received_at: datetime) -> dict[str, str]:
    """Sign the promise that an entry will be in the tree. It exposes a deletion before sealing."""
    origin = log_origin(workspace_id)
    key = load_signing_key()
    signature = key.sign(format_receipt(origin, leaf, format_instant(received_at)).encode())
    return {
        "key_id": compute_key_id(origin, key.public_key()).hex(),
        "signature": encode_base64(signature),
    }


def format_receipt(origin: str, leaf: bytes, received_at: str) -> str:
    return f"receipt\n{origin}\n{leaf.hex()}\n{received_at}\n"


def load_or_create_key(path: Path) -> Ed25519PrivateKey:
    """Return the key in a file, which is created where it is missing. Raise KeyFileError."""
    try:
        status = path.stat()
    except FileNotFoundError:
        _create_key(path)
        status = path.stat()
    return _load_key(path, (status.st_ino, status.st_mtime_ns))


@lru_cache(maxsize=64)
def _load_key(path: Path, _version: tuple[int, int]) -> Ed25519PrivateKey:
    """Return the key in a file, whose version makes another file of that name another key."""
    try:
        key = load_pem_private_key(path.read_bytes(), password=None)
    except OSError as error:
        raise KeyFileError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise KeyFileError(f"{path} is not an unencrypted private key in PEM format.") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyFileError(f"{path} is not an Ed25519 key.")
    return key


def _create_key(path: Path) -> None:
    pem = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    write_once(path, pem)


def _parse_signature(line: str) -> tuple[str, bytes]:
    name, _, text = line.removeprefix(SIGNATURE_MARK).partition(" ")
    blob = decode_base64(text)
    if not line.startswith(SIGNATURE_MARK) or len(blob) <= KEY_ID_SIZE:
        raise NoteError(f"{line!r} is not a signature line")
    return name, blob


def encode_base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def decode_base64(text: str) -> bytes:
    """Raise NoteError for text that is not base64."""
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise NoteError(f"{text!r} is not base64") from error


def _is_valid(key: Ed25519PublicKey, signature: bytes, text: str) -> bool:
    try:
        key.verify(signature, text.encode())
    except InvalidSignature:
        return False
    return True
