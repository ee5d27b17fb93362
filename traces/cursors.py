"""Cursors of list pages: row ids in query parameters."""

from __future__ import annotations

from django.http import HttpRequest


def cursor_in(request: HttpRequest, name: str) -> int | None:
    """Return the row id in a query parameter, None where it is not one."""
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None
