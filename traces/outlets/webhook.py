"""Encode entries as signed webhooks (Standard Webhooks): any of its libraries verifies them.

A receiver answers 2xx once it has stored them. The same entries may arrive twice; `seq` tells.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Sequence

from django.utils import timezone

from traces.ledger.log_name import log_origin
from traces.models import Outlet
from traces.outlets.records import OutletRecord

SECRET_PREFIX = "whsec_"  # noqa: S105 - the scheme of the specification, not a secret


def generate_secret() -> str:
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def build_message(outlet: Outlet, records: Sequence[OutletRecord]) -> tuple[bytes, dict[str, str]]:
    """Return body and headers of one post."""
    document = {
        "type": "icp.ledger.entries",
        "log": log_origin(outlet.workspace_id),
        "entries": [record.to_document() for record in records],
    }
    body = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    message_id = f"icp-{outlet.pk}-{records[0].seq}-{records[-1].seq}" if records else f"icp-{outlet.pk}-test"
    timestamp = str(int(timezone.now().timestamp()))
    return body, {
        "Content-Type": "application/json",
        "User-Agent": "intent-control-plane",
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": f"v1,{sign(outlet.secret, message_id, timestamp, body)}",
    }


def sign(secret: str, message_id: str, timestamp: str, body: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    # The id and the time are signed too, so that a receiver can reject replays.
    digest = hmac.digest(key, f"{message_id}.{timestamp}.".encode() + body, hashlib.sha256)
    return base64.b64encode(digest).decode()
