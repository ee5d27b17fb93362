"""Hosts that commands may read from (policy `hosts`)."""

from __future__ import annotations

import re
from collections.abc import Iterable

MAX_HOST_LENGTH = 253  # RFC 1035
_HOST = re.compile(r"(?:\*\.)?[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[0-9]{1,5})?", re.IGNORECASE)

_URL = re.compile(
    r"(?:https?://)?([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?\.?)(?::([0-9]{1,5}))?(?=[/?#]|\Z)", re.IGNORECASE
)


def find_host_problem(pattern: str) -> str | None:
    """Return why a text is no pattern of hosts; None when it is one."""
    host = pattern.removeprefix("*.")
    if len(pattern) > MAX_HOST_LENGTH or not _HOST.fullmatch(pattern) or ".." in host:
        return f"{pattern[:MAX_HOST_LENGTH]!r} is not a host name."
    if pattern.startswith("*.") and "." not in host:
        return f"{pattern!r} would list every host of a top-level domain."
    return None


def is_listed(host: str, patterns: Iterable[str]) -> bool:
    """Return whether a pattern names a host. `*.example.org` names what is below, not `example.org`.

    A pattern without a port names the host with its usual ports only, as `host` has one only where it is
    unusual.
    """
    name = host.lower().rstrip(".")
    for pattern in patterns:
        normalized = pattern.lower()
        if name == normalized or (normalized.startswith("*.") and name.endswith(normalized[1:])):
            return True
    return False


def find_host(url: str) -> str:
    """Return the host of a URL, with its port where that is unusual; "" for any URL that is not plain.

    A user name, a backslash or a letter of another script may stand for another host than it seems: such a
    URL names none that could be listed.
    """
    match = _URL.match(url)
    if match is None:
        return ""
    host, port = match[1].lower().rstrip("."), match[2]
    return host if port in {None, "80", "443"} else f"{host}:{port}"
