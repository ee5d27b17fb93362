"""Ids of sessions in addresses. Clients choose their own: any character may be in one, a line feed too."""

from __future__ import annotations


class AnyId:
    """As `path`, but for line feeds too: an address that cannot be made breaks each page that has it."""

    regex = r"[\s\S]+"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value
