"""Lists of names, written as text."""

from __future__ import annotations


def to_names(*lines: str) -> frozenset[str]:
    """Return the names that the lines hold, parted by blanks."""
    return frozenset(name for line in lines for name in line.split())
