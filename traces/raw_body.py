"""Requests and answers of the ledger's API that are not one JSON value."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.request import Request

from controlplane.api.bodies import content_type
from controlplane.api.errors import ApiError

JSON_TYPE = "application/json"
LINES_TYPES = ("application/x-ndjson", "application/jsonl", "application/x-jsonlines", "text/plain")
RECORD_TYPE = "application/vnd.agent-trace.record+json"
ENTRY_TYPES = (JSON_TYPE, *LINES_TYPES, RECORD_TYPE, "application/octet-stream")
MARKDOWN_TYPES = ("text/markdown", "text/plain")


def body_reader(request: Request, types: tuple[str, ...]) -> Callable[[int], bytes]:
    """`read(size)` over the body. Raises 415 for another content type, 413 for a body over the limit."""
    kind = content_type(request)
    if kind and kind not in types:
        raise UnsupportedMediaType(kind, f"Send one of: {', '.join(types)}.")
    most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    if int(request.META.get("CONTENT_LENGTH") or 0) > most:
        raise ApiError(413, "TOO_LARGE", f"The body is over {most:,} bytes. Send it in parts.")
    read: Callable[[int], bytes] = request._request.read  # noqa: SLF001 - DRF has no public way to stream
    return read


def body_bytes(request: Request, types: tuple[str, ...]) -> bytes:
    read = body_reader(request, types)
    return b"".join(iter(lambda: read(64 * 1024), b""))
