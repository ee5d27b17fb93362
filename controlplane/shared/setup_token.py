"""The one-time token of the set-up page: it counts until the first account exists, and is stored nowhere."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.utils.crypto import constant_time_compare, salted_hmac

LENGTH = 32  # hexadecimal characters, 128 bits


def find_setup_token() -> str:
    """Return the token, "" once there is an account. 1 query."""
    return "" if User.objects.exists() else _derive()


def is_setup_token(text: str) -> bool:
    """Return whether the text is the token, and whether that still counts. 1 query."""
    return constant_time_compare(text, _derive()) and not User.objects.exists()


def _derive() -> str:
    """Derive it from the server's secret, so that all processes know the same one."""
    return salted_hmac("icp.setup", "first account", algorithm="sha256").hexdigest()[:LENGTH]
