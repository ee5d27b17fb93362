"""Answer with a text that browsers save as a file."""

from __future__ import annotations

from django.http import HttpResponse


def text_download(text: str, filename: str, content_type: str) -> HttpResponse:
    """`content_type` is without a charset: the text goes out as UTF-8."""
    headers = {"Content-Disposition": f'attachment; filename="{filename}"'}
    return HttpResponse(text.encode(), content_type=f"{content_type}; charset=utf-8", headers=headers)
