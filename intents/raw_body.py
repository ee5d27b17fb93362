"""Requests and answers that are text rather than JSON."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import IO, Any

from django.http import HttpResponse
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.parsers import BaseParser
from rest_framework.request import Request

from controlplane.api.bodies import content_type

YAML_TYPES = ("application/yaml", "text/yaml", "application/x-yaml", "text/plain", "application/json")
TEXT_TYPES = ("text/plain",)


class RawBodyParser(BaseParser):
    """Takes any body as bytes; the view says with `raw_body` which types it reads."""

    media_type = "*/*"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        return bytes(stream.read())


def raw_body(request: Request, types: Collection[str]) -> bytes:
    """The body's bytes. Raises UnsupportedMediaType (415) for a type that is not among `types`."""
    kind = content_type(request)
    if kind not in types:
        raise UnsupportedMediaType(kind or "none", f"Send one of: {', '.join(types)}.")
    data = request.data
    return data if isinstance(data, bytes) else b""


def yaml_download(text: str) -> HttpResponse:
    headers = {"Content-Disposition": 'attachment; filename="active_intents.yaml"'}
    return HttpResponse(text.encode(), content_type="application/yaml; charset=utf-8", headers=headers)
