"""Find the hosts of a repository's remotes."""

from __future__ import annotations

import re
from pathlib import Path

from controlplane.policy.hosts import find_host_problem

MAX_CONFIG_BYTES = 256 * 1024
MAX_HOSTS = 20
# `https://host/…`, `ssh://git@host:22/…` and `git@host:owner/name`.
_URL = re.compile(
    r"^[ \t]*url[ \t]*=[ \t]*\"?(?:[a-z+]+://(?:[^@/\s]*@)?|[^@/\s:]+@)([a-z0-9.-]+)",
    re.IGNORECASE | re.MULTILINE,
)


def find_remote_hosts(root: Path) -> tuple[str, ...]:
    """Return the hosts that `.git/config` names, without running git; none where it cannot be read."""
    try:
        with (root / ".git" / "config").open("rb") as file:
            text = file.read(MAX_CONFIG_BYTES).decode("utf-8", "replace")
    except OSError:
        return ()
    hosts = dict.fromkeys(host.lower() for host in _URL.findall(text))
    return tuple(host for host in hosts if find_host_problem(host) is None)[:MAX_HOSTS]
