"""Have a time-stamping authority (RFC 3161) say when a head existed: the server's own clock proves nothing.

The authority's signature is checked by whoever trusts its certificate (`openssl ts -verify`). Here is checked
that the token is about our head and answers our request.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import UTC, datetime

from controlplane.shared import http_post
from traces.models import Checkpoint, HeadTimestamp

SEQUENCE, INTEGER, OCTETS, BOOLEAN = 0x30, 0x02, 0x04, 0x01
SHA256 = bytes.fromhex("300d06096086480165030402010500")  # AlgorithmIdentifier, with NULL
TIME = 0x18  # GeneralizedTime
GRANTED = (b"\x00", b"\x01")
MAX_BYTES = 64 * 1024
HEADERS = {"Content-Type": "application/timestamp-query", "User-Agent": "intent-control-plane"}


def request_timestamp(url: str, head: Checkpoint) -> str:
    """Have a head stamped and keep the answer. Return what the page shows. Raise TargetError."""
    digest = hashlib.sha256(head.note.encode()).digest()
    request = build_request(digest, secrets.token_bytes(8))
    response = http_post.post(url, request, HEADERS, max_bytes=MAX_BYTES)
    if not response.is_success:
        raise http_post.TargetError(f"The authority answered {response.status}: {response.text[:200]}")
    time = read_time(response.content, digest)
    HeadTimestamp.objects.create(
        workspace_id=head.workspace_id,
        size=head.size,
        authority=url,
        token=response.content,
        stamped_at=time,
    )
    return f"Stamped the head of {head.size} entries at {time:%Y-%m-%d %H:%M:%S} UTC."


def build_request(digest: bytes, nonce: bytes) -> bytes:
    """Return a TimeStampReq that asks for the authority's certificate too."""
    imprint = encode(SEQUENCE, SHA256 + encode(OCTETS, digest))
    number = encode(INTEGER, b"\x01" + nonce)  # positive, whatever the nonce begins with
    return encode(SEQUENCE, encode(INTEGER, b"\x01") + imprint + number + encode(BOOLEAN, b"\xff"))


def read_time(response: bytes, digest: bytes) -> datetime:
    """Return the time that a TimeStampResp states for the digest. Raise TargetError."""
    try:
        status, token = split(split(response)[0][1])
        if split(status[1])[0][1] not in GRANTED:
            raise http_post.TargetError("The authority refused to stamp the head.")
        signed_data = split(split(split(token[1])[1][1])[0][1])
        content = split(split(signed_data[2][1])[1][1])[0][1]
        fields = split(split(content)[0][1])
        if split(fields[2][1])[1][1] != digest:
            raise http_post.TargetError("The authority stamped something else.")
        text = next(value for tag, value in fields if tag == TIME).decode("ascii")
        return datetime.strptime(text[:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except (ValueError, IndexError, StopIteration) as error:
        raise http_post.TargetError("What answers is no time-stamping authority (RFC 3161).") from error


def encode(tag: int, value: bytes) -> bytes:
    """Return a DER element of less than 128 bytes, as all of a request are."""
    return bytes([tag, len(value)]) + value


def split(data: bytes) -> list[tuple[int, bytes]]:
    """Return (tag, value) of the DER elements that follow one another. Raise ValueError or IndexError."""
    elements: list[tuple[int, bytes]] = []
    at = 0
    while at < len(data):
        tag, size, at = data[at], data[at + 1], at + 2
        if size & 0x80:
            length = size & 0x7F
            size, at = int.from_bytes(data[at : at + length], "big"), at + length
        if at + size > len(data):
            raise ValueError("an element is cut off")
        elements.append((tag, data[at : at + size]))
        at += size
    return elements
