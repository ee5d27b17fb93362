"""URL path converter for session ids, which clients choose: any character may be in one, a line feed too."""

from __future__ import annotations


class AnyTextConverter:
    """Match as `path` does, line feeds too: an id that no URL takes would break each page that links it."""

    regex = r"[\s\S]+"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value
