"""Signed heads of the tree (C2SP tlog-checkpoint, signed-note) and receipts, by Ed25519.

The key never enters the database: whoever can rewrite rows must not be able to sign them.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import secrets
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

ED25519 = b"\x01"  # algorithm byte of C2SP signed notes
KEY_ID_SIZE = 4
SIGNATURE_MARK = "\u2014 "
RETIRED_DIRECTORY = (
    "retired"  # a folder beside the key file: keys that sign nothing any more, and still verify
)


class KeyFileError(Exception):
    """A key file cannot be used; the message names it and says why."""


class NoteError(ValueError):
    """A text is no checkpoint; the message says why."""


@dataclass(frozen=True, slots=True)
class SignedNote:
    """A checkpoint as it was read: `signed` is the text that the signatures cover."""

    origin: str
    size: int
    root: bytes
    signed_text: str
    signatures: tuple[tuple[str, bytes], ...]  # (key name, 4 bytes of key id ‖ signature)


def log_origin(workspace_id: int) -> str:
    """The name of a workspace's log and of its key."""
    return f"intent-control-plane/ledger/{workspace_id}"


def load_signing_key() -> Ed25519PrivateKey:
    """The installation's key, made on first use and kept readable by its owner only."""
    return load_or_create_key(Path(settings.LEDGER_KEY_FILE))


def load_public_key() -> Ed25519PublicKey:
    return load_signing_key().public_key()


def load_retired_keys() -> list[Ed25519PublicKey]:
    """The keys that this installation signed with before the one in use."""
    paths = sorted((Path(settings.LEDGER_KEY_FILE).parent / RETIRED_DIRECTORY).glob("*.pem"))
    return [load_or_create_key(path).public_key() for path in paths]


def rotate_key() -> Path:
    """Retire the key in use and make a new one; where the old one is kept.

    Heads that it signed stay as they are and go on verifying. A process that runs already signs with the
    old key until it starts anew, which verifies as well.
    """
    path = Path(settings.LEDGER_KEY_FILE)
    old = load_signing_key().public_key().public_bytes_raw()
    retired_path = path.parent / RETIRED_DIRECTORY / f"{hashlib.sha256(old).hexdigest()[:16]}.pem"
    retired_path.parent.mkdir(mode=0o700, exist_ok=True)
    path.rename(retired_path)
    load_or_create_key.cache_clear()
    load_signing_key()
    return retired_path


def compute_key_id(name: str, key: Ed25519PublicKey) -> bytes:
    return hashlib.sha256(name.encode() + b"\n" + ED25519 + key.public_bytes_raw()).digest()[:KEY_ID_SIZE]


def format_verifier_key(name: str, key: Ed25519PublicKey) -> str:
    """The public key in the form that tools for signed notes take: `name+id+key`."""
    return f"{name}+{compute_key_id(name, key).hex()}+{encode_base64(ED25519 + key.public_bytes_raw())}"


def sign_checkpoint(workspace_id: int, size: int, root: bytes) -> str:
    origin = log_origin(workspace_id)
    return sign_note(origin, f"{origin}\n{size}\n{encode_base64(root)}\n")


def sign_note(name: str, text: str) -> str:
    """`signed`, which ends with a line feed, as a note signed by the installation's key under `name`."""
    key = load_signing_key()
    signature = compute_key_id(name, key.public_key()) + key.sign(text.encode())
    return f"{text}\n{SIGNATURE_MARK}{name} {encode_base64(signature)}\n"


def parse_checkpoint(text: str) -> SignedNote:
    """Parse a checkpoint. Says nothing about its signatures: see `is_signed_by`."""
    (origin, size, root), signed_text, signatures = parse_note(text)
    if not (size.isascii() and size.isdigit()):
        raise NoteError(f"{size!r} is not a tree size")
    return SignedNote(origin, int(size), decode_base64(root), signed_text, signatures)


def parse_note(text: str) -> tuple[list[str], str, tuple[tuple[str, bytes], ...]]:
    """(the first three lines, all that is signed, the signatures) of a note. Raises NoteError."""
    signed_text, separator, tail = text.partition("\n\n")
    lines = signed_text.split("\n")
    if not separator or len(lines) < 3:
        raise NoteError("a signed note has three lines, an empty line and signatures")
    signatures = tuple(_parse_signature(line) for line in tail.split("\n") if line)
    return lines[:3], signed_text + "\n", signatures


def is_signed_by(note: SignedNote, key: Ed25519PublicKey) -> bool:
    """Whether one of the note's signatures is by `key` under the name of the log itself."""
    key_id = compute_key_id(note.origin, key)
    return any(
        name == note.origin
        and blob[:KEY_ID_SIZE] == key_id
        and _is_valid(key, blob[KEY_ID_SIZE:], note.signed_text)
        for name, blob in note.signatures
    )


def is_signed_by_installation(note: SignedNote) -> bool:
    """Whether the note is signed by the installation's key or by one that it used before."""
    return is_signed_by(note, load_public_key()) or any(
        is_signed_by(note, key) for key in load_retired_keys()
    )


def sign_receipt(workspace_id: int, leaf: bytes, received_at: datetime) -> dict[str, str]:
    """The promise that an entry will be in the tree: it catches a deletion before sealing."""
    origin = log_origin(workspace_id)
    key = load_signing_key()
    signature = key.sign(format_receipt(origin, leaf, format_instant(received_at)).encode())
    return {
        "key_id": compute_key_id(origin, key.public_key()).hex(),
        "signature": encode_base64(signature),
    }


def format_receipt(origin: str, leaf: bytes, received_at: str) -> str:
    return f"receipt\n{origin}\n{leaf.hex()}\n{received_at}\n"


@lru_cache(maxsize=64)
def load_or_create_key(path: Path) -> Ed25519PrivateKey:
    """The key of a file, which is made where it is missing. Raises KeyFileError."""
    if not path.exists():
        _create_key(path)
    try:
        key = load_pem_private_key(path.read_bytes(), password=None)
    except OSError as error:
        raise KeyFileError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise KeyFileError(f"{path} holds no private key in PEM form without a password.") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyFileError(f"{path} holds a key of another kind than Ed25519.")
    return key


def _create_key(path: Path) -> None:
    """Write a whole file beside, then link it into place: of two processes one wins, none reads half."""
    pem = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(pem)
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()


def _parse_signature(line: str) -> tuple[str, bytes]:
    name, _, text = line.removeprefix(SIGNATURE_MARK).partition(" ")
    blob = decode_base64(text)
    if not line.startswith(SIGNATURE_MARK) or len(blob) <= KEY_ID_SIZE:
        raise NoteError(f"{line!r} is not a signature line")
    return name, blob


def encode_base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def decode_base64(text: str) -> bytes:
    """Raises NoteError."""
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
