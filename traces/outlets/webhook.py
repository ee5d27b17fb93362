"""Entries as a signed webhook, by the Standard Webhooks specification: any of its libraries verifies ours.

A receiver answers 2xx once it has kept them. The same entries may come twice, so it looks at `seq`.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Sequence

from django.utils import timezone

from traces.ledger.checkpoints import origin_of
from traces.models import Outlet
from traces.outlets.records import Record

PREFIX = "whsec_"


def new_secret() -> str:
    return PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def message(outlet: Outlet, records: Sequence[Record]) -> tuple[bytes, dict[str, str]]:
    """Body and headers of one post."""
    document = {
        "type": "icp.ledger.entries",
        "log": origin_of(outlet.workspace_id),
        "entries": [record.document() for record in records],
    }
    body = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    named = f"icp-{outlet.pk}-{records[0].seq}-{records[-1].seq}" if records else f"icp-{outlet.pk}-test"
    at = str(int(timezone.now().timestamp()))
    return body, {
        "Content-Type": "application/json",
        "User-Agent": "intent-control-plane",
        "webhook-id": named,
        "webhook-timestamp": at,
        "webhook-signature": f"v1,{signature(outlet.secret, named, at, body)}",
    }


def signature(secret: str, named: str, at: str, body: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    signed = hmac.digest(key, f"{named}.{at}.".encode() + body, hashlib.sha256)
    return base64.b64encode(signed).decode()
