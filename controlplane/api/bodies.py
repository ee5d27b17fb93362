"""Requests and answers that are not one JSON value."""

from __future__ import annotations

from typing import Any

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class SingleRenderer(DefaultContentNegotiation):
    """Each view has one form of answer, whatever the client says it takes; `?format=` belongs to the view."""

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        return renderers[0], renderers[0].media_type


def read_media_type(request: Request) -> str:
    """The media type without its parameters, lower case; "" when there is none."""
    return (request.content_type or "").partition(";")[0].strip().lower()
