"""Describe errors for messages that name the file already."""

from __future__ import annotations


def describe_error(error: Exception) -> str:
    """Return the message of an OSError without its number and file name, or the text of another error."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
