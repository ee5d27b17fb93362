"""Files as a commit of a repository on disk holds them.

The repository is its agent's as well, so its settings may be hostile: git only reads one object, and may
reach nothing else for it.
"""

from __future__ import annotations

import os
import re
import subprocess

SECONDS = 2.0
BYTES_MOST = 1024 * 1024
COMMIT = re.compile(r"[0-9a-f]{7,64}")
SETTINGS = ("core.hooksPath=/dev/null", "core.fsmonitor=false", "safe.directory=*")
GIT = ("git", *(word for setting in SETTINGS for word in ("-c", setting)))


def committed_text(root: str, revision: str, path: str) -> str | None:
    """The text of a file in a commit; None where there is none, or git does not say. `path` is canonical."""
    if not root or not COMMIT.fullmatch(revision):
        return None
    try:
        done = subprocess.run(  # noqa: S603 - fixed words, a commit in hex, and a path behind a colon
            [*GIT, "-C", root, "cat-file", "blob", f"{revision}:./{path}"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=True,
            env=_environment(),
        )
        return done.stdout.decode() if len(done.stdout) <= BYTES_MOST else None
    except (OSError, subprocess.SubprocessError, ValueError):
        return None


def _environment() -> dict[str, str]:
    """A missing object is not fetched: a repository's own settings could name a program for that."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return kept | {
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "LC_ALL": "C",
    }
