"""Write times in query strings."""

from __future__ import annotations

from datetime import UTC, datetime


def format_url_time(time: datetime | None) -> str:
    """Return RFC 3339 in UTC with whole seconds, "" for None."""
    return "" if time is None else time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
