"""Read one file of a commit from a repository on disk, or ask whether HEAD has it."""

from __future__ import annotations

import re
import subprocess

from traces.safe_git import GIT, git_environment

TIMEOUT_SECONDS = 2.0
MAX_BYTES = 1024 * 1024
COMMIT_ID = re.compile(r"[0-9a-f]{7,64}")


def read_committed_text(root: str, revision: str | None, path: str) -> str | None:
    """Return the text of a file in a commit, HEAD where none is named; None without one, or when git fails.

    `path` is canonical.
    """
    if not root or (revision and not COMMIT_ID.fullmatch(revision)):
        return None
    try:
        completed = subprocess.run(  # noqa: S603 - fixed words, a commit in hex, and a path behind a colon
            [*GIT, "-C", root, "cat-file", "blob", f"{revision or 'HEAD'}:./{path}"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_SECONDS,
            check=True,
            env=git_environment(),
        )
        return completed.stdout.decode() if len(completed.stdout) <= MAX_BYTES else None
    except (OSError, subprocess.SubprocessError, ValueError):
        return None


def is_committed(root: str, path: str) -> bool:
    """Return whether HEAD has the file; True as well when git gives no answer in time.

    False without a root, and for a root that is no repository or has no commit. `path` is canonical.
    """
    if not root:
        return False
    try:
        completed = subprocess.run(  # noqa: S603 - fixed words, and a path behind a colon
            [*GIT, "-C", root, "cat-file", "-e", f"HEAD:./{path}"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
            env=git_environment(),
        )
    except (OSError, subprocess.SubprocessError, ValueError):
        return True
    return completed.returncode == 0
