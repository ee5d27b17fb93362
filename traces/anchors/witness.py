"""Have a witness cosign a head (C2SP tlog-witness): it signs only what continues what it signed before."""

from __future__ import annotations

from controlplane.shared import http_post
from traces.errors import AnchorError
from traces.ledger import proofs
from traces.ledger.checkpoints import COSIGNATURE, NoteError, encode_base64, parse_verifier_key
from traces.models import Checkpoint
from traces.tlog.cosignatures import find_cosigned_size, store_cosignature

HEADERS = {"Content-Type": "text/plain; charset=utf-8", "User-Agent": "intent-control-plane"}
CONFLICT, NOT_CONSISTENT = 409, 422


class ContradictedError(Exception):
    """What is outside contradicts the ledger. The message says how."""


def check_witness(target: str) -> str:
    """Return `URL name+id+key` of a witness, normalized. Raise AnchorError."""
    url, _, key = target.partition(" ")
    try:
        http_post.check_url(url)
        parse_verifier_key(key.strip(), COSIGNATURE)
    except (http_post.TargetError, NoteError) as error:
        raise AnchorError(f"Write the address and the key, `https://… name+id+key`: {error}") from error
    return f"{url.rstrip('/')} {key.strip()}"


def request_cosignature(target: str, head: Checkpoint) -> str:
    """Send the head to a witness and keep its signature. Return the answer for the page.

    Raise ContradictedError where the witness has seen a ledger that ours does not continue, TargetError or
    NoteError where it gives no signature.
    """
    url, _, key = target.partition(" ")
    name = key.partition("+")[0]
    known = find_cosigned_size(head.workspace_id, name)
    response = _post(url, head, known)
    if response.status == CONFLICT and response.text.strip().isdigit():
        _require_no_more(name, int(response.text), head)
        response = _post(url, head, int(response.text))
    if response.status == NOT_CONSISTENT:
        raise ContradictedError(f"The witness {name} signed another history of this ledger.")
    if not response.is_success:
        raise http_post.TargetError(f"The witness answered {response.status}: {response.text}")
    time = store_cosignature(head, response.text, key)
    return f"{name} cosigned {head.size} entries at {time:%Y-%m-%d %H:%M:%S} UTC."


def _require_no_more(name: str, seen: int, head: Checkpoint) -> None:
    """Raise ContradictedError where the witness signed more entries than there are now."""
    newest = proofs.find_head(head.workspace_id)
    size = newest.size if newest else 0
    if seen > size:
        raise ContradictedError(f"The witness {name} signed {seen:,} entries, the ledger has only {size:,}.")
    if seen > head.size:
        raise http_post.TargetError(f"The witness has signed a newer head, of {seen:,} entries.")


def _post(url: str, head: Checkpoint, old_size: int) -> http_post.PostResponse:
    """Ask with the consistency proof from the size that the witness knows."""
    hashes = proofs.prove_consistency(head.workspace_id, old_size, head.size).hashes if old_size else []
    lines = [f"old {old_size}", *map(encode_base64, hashes)]
    body = "\n".join(lines) + "\n\n" + head.note
    return http_post.post(f"{url}/add-checkpoint", body.encode(), HEADERS)
