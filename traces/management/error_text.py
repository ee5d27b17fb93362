"""Why something could not be used, for a line that has named it already."""

from __future__ import annotations


def describe_error(error: Exception) -> str:
    """An operating system's own words without its number and the name of the file; any other error's text."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
