"""Read request bodies that are not one JSON value: YAML, JSON lines, plain text, Markdown."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from typing import IO, Any

from django.conf import settings
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.parsers import BaseParser
from rest_framework.request import Request

from controlplane.api.bodies import read_media_type
from controlplane.api.errors import ApiError
from controlplane.shared.errors import UnavailableError

JSON_TYPE = "application/json"
YAML_TYPES = ("application/yaml", "text/yaml", "application/x-yaml", "text/plain", JSON_TYPE)
TEXT_TYPES = ("text/plain",)
MARKDOWN_TYPES = ("text/markdown", "text/plain")
JSON_LINES_TYPES = ("application/x-ndjson", "application/jsonl", "application/x-jsonlines", "text/plain")

CHUNK_BYTES = 64 * 1024
# The body has arrived: whoever reads it for longer works on what it says, and holds a thread.
MAX_READ_SECONDS = 30
TOO_SLOW = (
    f"This body takes longer than {MAX_READ_SECONDS} seconds, so nothing of it was stored. Send it in parts, "
    "or use the command on the server."
)


class RawBodyParser(BaseParser):
    """Parse a body of any media type to its bytes; the view checks the type with `read_parsed_body`."""

    media_type = "*/*"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        return bytes(stream.read())


def read_parsed_body(request: Request, media_types: Collection[str]) -> bytes:
    """Return the bytes that `RawBodyParser` read.

    Raises UnsupportedMediaType (415) for a type that is not in `media_types`; a missing one counts as such.
    """
    media_type = read_media_type(request)
    if media_type not in media_types:
        raise _unsupported(media_type or "none", media_types)
    data = request.data
    return data if isinstance(data, bytes) else b""


def open_body(request: Request, media_types: Collection[str]) -> Callable[[int], bytes]:
    """Return `read(size)` over a body that is streamed past DRF's parsers.

    Raises UnsupportedMediaType (415) for a type that is not in `media_types`, `ApiError` (413) for a body
    over the upload limit. `read` raises UnavailableError (503) once its reader has worked on the body for
    `MAX_READ_SECONDS`. A request without a content type passes.
    """
    media_type = read_media_type(request)
    if media_type and media_type not in media_types:
        raise _unsupported(media_type, media_types)
    limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    if int(request.META.get("CONTENT_LENGTH") or 0) > limit:
        raise ApiError(413, "TOO_LARGE", f"The body is over {limit:,} bytes. Send it in parts.")
    read: Callable[[int], bytes] = request._request.read  # noqa: SLF001 - DRF has no public way to stream
    ends = time.monotonic() + MAX_READ_SECONDS

    def read_in_time(size: int) -> bytes:
        if time.monotonic() > ends:
            raise UnavailableError(TOO_SLOW)
        return read(size)

    return read_in_time


def read_body(request: Request, media_types: Collection[str]) -> bytes:
    """Return the complete body. Raises as `open_body` does."""
    read = open_body(request, media_types)
    return b"".join(iter(lambda: read(CHUNK_BYTES), b""))


def _unsupported(media_type: str, media_types: Collection[str]) -> UnsupportedMediaType:
    return UnsupportedMediaType(media_type, f"Send one of: {', '.join(media_types)}.")
