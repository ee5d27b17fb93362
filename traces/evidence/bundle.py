"""Write a zip that proves a selection of entries without this server.

It holds the entries with their proofs of inclusion, the signed head that they lead to, the changes of keys, a
signed seal of the list, and the program that checks all of it. That no other entry matches cannot be proven:
the seal shows what this server said there was.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from traces.errors import EvidenceError
from traces.evidence.entry_proofs import prove_entries
from traces.ledger import proofs, standalone_verifier
from traces.ledger.checkpoints import encode_base64, sign_note
from traces.ledger.keys.changes import join_notes, list_key_changes
from traces.ledger.log_name import log_origin
from traces.models import Checkpoint, HeadTimestamp, LedgerEntry
from traces.tlog.cosignatures import render_note

CHUNK_SIZE = 200
README = """What this is: entries of the ledger {log}, with what proves them.

    python3 verify.py bundle THIS.zip --key 'KEY'

KEY is the verifier key that you kept from an earlier day. verify.py reads nothing but this zip and that key;
it is one file of plain Python, for you to read first. entries.jsonl has an entry a line: its envelope as it
was hashed, its salt and body where they may be read, and the hashes that lead to the root in head.txt.
seal.txt is what the server signed over the list: the query, the number of entries, their digest.

Where an authority stamped a head, this shows when it existed:

    openssl ts -verify -data stamped-head.txt -in stamp.tsr -CAfile ITS-CA.pem

What this cannot show: that no other entry matches the query, and that head.txt continues the ledger that you
knew. For the latter ask for the bundle with ?from=SIZE of a head that you kept, and give it with --old.
"""


@dataclass(frozen=True, slots=True)
class EvidenceRequest:
    """`query` describes the selection in one line. Bodies are left out where `may_read` says no.

    `old_size` is the size of a head that the reader kept: the bundle then proves that its own continues it.
    """

    query: str
    may_read: Callable[[LedgerEntry], bool] = lambda _: True
    old_size: int | None = None


def find_sealed_head(workspace_id: int, request: EvidenceRequest) -> Checkpoint:
    """Return the head that a bundle leads to. Raise EvidenceError where it cannot be made."""
    head = proofs.find_head(workspace_id)
    if head is None:
        raise EvidenceError("Nothing is sealed yet, so nothing can be proven.")
    if request.old_size is not None and not 0 < request.old_size <= head.size:
        raise EvidenceError(f"from: a head of {request.old_size:,} entries is none of this ledger.")
    return head


def stream_bundle(
    workspace_id: int, request: EvidenceRequest, list_ids: Callable[[int, int], list[int]]
) -> Iterator[bytes]:
    """Yield the zip. `list_ids(after, limit)` lists row ids of the selection, lowest first."""
    head = find_sealed_head(workspace_id, request)
    return _stream(head, request, list_ids)


def _stream(
    head: Checkpoint, request: EvidenceRequest, list_ids: Callable[[int, int], list[int]]
) -> Iterator[bytes]:
    sink, digest, count = _Sink(), hashlib.sha256(), 0
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, content in _list_texts(head, request):
            bundle.writestr(name, content)
        with bundle.open("entries.jsonl", "w", force_zip64=True) as file:
            for entries in _read_chunks(list_ids):
                for line in _encode_lines(head, entries, request.may_read):
                    digest.update(line)
                    file.write(line)
                    count += 1
                yield sink.take()
        bundle.writestr("seal.txt", _sign_seal(head, request.query, count, digest.digest()))
    yield sink.take()


def _list_texts(head: Checkpoint, request: EvidenceRequest) -> Iterator[tuple[str, str | bytes]]:
    workspace_id = head.workspace_id
    yield "README.txt", README.format(log=log_origin(workspace_id))
    yield "verify.py", Path(standalone_verifier.__file__).read_text("utf-8")
    yield "head.txt", render_note(head)
    yield "key-changes.txt", join_notes(list_key_changes(workspace_id))
    if stamp := _find_timestamp(head):
        yield "stamped-head.txt", Checkpoint.objects.get(workspace_id=workspace_id, size=stamp.size).note
        yield "stamp.tsr", bytes(stamp.token)
    if request.old_size is not None:
        proof = proofs.prove_consistency(workspace_id, request.old_size, head.size)
        yield "consistency.json", json.dumps(proof.to_document(log_origin(workspace_id)))


def _find_timestamp(head: Checkpoint) -> HeadTimestamp | None:
    """Return the newest time stamp on a head that this one continues. 1 query."""
    stamps = HeadTimestamp.objects.filter(workspace_id=head.workspace_id, size__lte=head.size)
    return stamps.order_by("-size", "-pk").first()


def _read_chunks(list_ids: Callable[[int, int], list[int]]) -> Iterator[list[LedgerEntry]]:
    after = 0
    while ids := list_ids(after, CHUNK_SIZE):
        rows = LedgerEntry.objects.filter(pk__in=ids).with_body_and_leaf().oldest_first()
        yield list(rows)
        after = ids[-1]


def _encode_lines(
    head: Checkpoint, entries: Sequence[LedgerEntry], may_read: Callable[[LedgerEntry], bool]
) -> Iterator[bytes]:
    for entry, proof in prove_entries(head, entries):
        yield encode_line(proof | read_content(entry, is_visible=may_read(entry)))


def read_content(entry: LedgerEntry, *, is_visible: bool) -> dict[str, str | None]:
    """Return salt and body as a proof holds them; null where they are missing or may not be read."""
    stored = getattr(entry, "body", None) if is_visible else None
    if stored is None:
        return {"salt": None, "body": None}
    return {"salt": bytes(stored.salt).hex(), "body": bytes(stored.body).decode()}


def encode_line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _sign_seal(head: Checkpoint, query: str, count: int, digest: bytes) -> str:
    origin = log_origin(head.workspace_id)
    return sign_note(
        origin, f"evidence of {origin}\n{query or 'everything'}\n{count}\n{encode_base64(digest)}\n"
    )


class _Sink(io.RawIOBase):
    """A file that is only written: what it got is taken away piece by piece."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._parts.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        parts, self._parts = self._parts, []
        return b"".join(parts)
