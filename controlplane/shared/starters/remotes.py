"""Find the hosts of a repository's remotes, and its other work trees, without running git."""

from __future__ import annotations

import re
from pathlib import Path

from controlplane.policy.hosts import find_host_problem

MAX_CONFIG_BYTES = 256 * 1024
MAX_HOSTS = 20
MAX_WORK_TREES = 50
MAX_PATH_BYTES = 4096
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


def find_work_trees(root: Path) -> tuple[str, ...]:
    """Return the folders of the other work trees, none where git's list of them is unreadable."""
    try:
        entries = sorted((root / ".git" / "worktrees").iterdir())[:MAX_WORK_TREES]
    except OSError:
        return ()
    return tuple(directory for directory in map(_read_work_tree, entries) if directory)


def _read_work_tree(entry: Path) -> str:
    try:
        with (entry / "gitdir").open("rb") as file:
            text = file.read(MAX_PATH_BYTES).decode("utf-8", "replace").strip()
    except OSError:
        return ""
    return text.removesuffix("/.git") if text.endswith("/.git") and text.isprintable() else ""
