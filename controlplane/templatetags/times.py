"""Format times: remaining time is rounded down, elapsed time up."""

from __future__ import annotations

from datetime import datetime, timedelta

_STEPS = ((60, 1, "s"), (3600, 60, "min"), (86_400, 3600, "h"))  # below, divide by, unit


def format_since(then: datetime, now: datetime, suffix: str = "") -> str:
    """Format elapsed time: `now`, `48 s`, `4 min`, `6 h`, `16 d`, followed by the suffix."""
    seconds = int((now - then).total_seconds())
    if seconds < 1:
        return "now"
    for below, unit, name in _STEPS:
        amount = -(-seconds // unit)
        if seconds < below and amount * unit < below:
            return f"{amount} {name}{suffix}"
    return f"{-(-seconds // 86_400)} d{suffix}"


def format_remaining(until: datetime, now: datetime) -> str:
    """Format remaining time: `3 min left`, `40 s left`, at the end `0 s left`."""
    seconds = max(0, int((until - now).total_seconds()))
    for below, unit, name in _STEPS:
        if seconds < below:
            return f"{seconds // unit} {name} left"
    return f"{seconds // 86_400} d left"


def format_expiry(until: datetime, now: datetime) -> str:
    """Format a deadline in a list, where the last minute stands out: `expires in 40 s`, `time is over`."""
    seconds = int((until - now).total_seconds())
    if seconds <= 0:
        return "time is over"
    return f"expires in {seconds} s" if seconds < 60 else format_remaining(until, now)


def format_duration(milliseconds: int) -> str:
    """Format a duration: `22 ms`, `8.4 s`, `2 min`."""
    if milliseconds < 1000:
        return f"{milliseconds} ms"
    seconds = milliseconds / 1000
    return f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds // 60)} min"


def format_timestamp(then: datetime, now: datetime) -> str:
    """Format today as `10:30:12`, this week as `Tue 10:30`, older as `12 Nov 2025`."""
    if then.date() == now.date():
        return then.strftime("%H:%M:%S")
    if timedelta(0) <= now - then < timedelta(days=7):
        return then.strftime("%a %H:%M")
    return f"{then.day} {then.strftime('%b %Y')}"
