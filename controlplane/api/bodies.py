"""Content negotiation and media types."""

from __future__ import annotations

from typing import Any

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class SingleRenderer(DefaultContentNegotiation):
    """Answer in a view's one format whatever the Accept header says; `?format=` belongs to the view."""

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        return renderers[0], renderers[0].media_type


def read_media_type(request: Request) -> str:
    """Return the request's media type in lower case, without parameters; "" without one."""
    return (request.content_type or "").partition(";")[0].strip().lower()
