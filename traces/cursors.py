"""Row numbers in addresses, where a page of a list begins."""

from __future__ import annotations

from django.http import HttpRequest


def cursor_in(request: HttpRequest, name: str) -> int | None:
    """None for what is no row number."""
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None
