"""Which keys signed the heads, and whether each change of keys was told and signed by the key before."""

from __future__ import annotations

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from traces.ledger.checkpoints import (
    KEY_ID_SIZE,
    NoteError,
    SignedNote,
    compute_key_id,
    is_signed_by,
    load_public_key,
    load_retired_keys,
    parse_verifier_key,
)
from traces.ledger.keys.changes import list_key_changes, parse_key_change
from traces.ledger.log_name import log_origin
from traces.verification.report import SigningKey, VerificationReport


class SignerCheck:
    """Find who signed the heads of a ledger, which come oldest first."""

    def __init__(self, report: VerificationReport) -> None:
        self._report = report
        self._origin = log_origin(report.workspace_id)
        self._told: set[bytes] = set()
        self._keys = {key.public_bytes_raw(): key for key in (load_public_key(), *load_retired_keys())}
        self._follow_changes()

    def check(self, note: SignedNote, source: str, *, outside: bool) -> None:
        """Report a head that no key of this installation signed. Count a head of the database for its key."""
        signer = next((raw for raw, key in self._keys.items() if is_signed_by(note, key)), None)
        if signer is None:
            self._report_stranger(note, source)
        elif not outside:
            self._count(signer)

    def _follow_changes(self) -> None:
        """Go back from the installation's keys to those that introduced them."""
        for text in reversed(list_key_changes(self._report.workspace_id)):
            try:
                change = parse_key_change(text)
            except (NoteError, IndexError) as error:
                self._report.add("KEY_REPLACED", f"an entry tells a change of keys, but {error}")
                continue
            (_, old), (_, new) = parse_verifier_key(change.old), parse_verifier_key(change.new)
            if new in self._keys:
                self._told.add(new)
                self._keys.setdefault(old, Ed25519PublicKey.from_public_bytes(old))

    def _count(self, signer: bytes) -> None:
        key_id = compute_key_id(self._origin, self._keys[signer]).hex()
        known = next((key for key in self._report.keys if key.key_id == key_id), None)
        if known is None:
            is_told = not self._report.keys or signer in self._told
            known = SigningKey(key_id, is_told=is_told)
            self._report.keys.append(known)
        known.heads += 1

    def _report_stranger(self, note: SignedNote, source: str) -> None:
        """Tell a key that is none of ours from a signature that does not hold."""
        ids = {blob[:KEY_ID_SIZE] for name, blob in note.signatures if name == note.origin}
        if not ids or ids & {compute_key_id(note.origin, key) for key in self._keys.values()}:
            self._report.add(
                "BAD_SIGNATURE", f"{source} has no valid signature by a key of this installation"
            )
            return
        names = ", ".join(sorted(key_id.hex() for key_id in ids))
        self._report.add(
            "KEY_REPLACED",
            f"{source} is signed by key {names}, which is none of this installation's: the key was replaced, "
            "and no change signed by both keys tells it",
        )
