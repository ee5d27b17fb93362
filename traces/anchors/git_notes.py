"""Store signed heads as git notes on a repository's HEAD, under a separate ref."""

from __future__ import annotations

import subprocess

from traces.safe_git import GIT, git_environment

REF = "refs/notes/icp-checkpoints"
NAME, EMAIL = "Intent Control Plane", "icp@localhost"
TIMEOUT_SECONDS = 20
MAX_MESSAGE_LENGTH = 200


class GitNoteError(Exception):
    """git failed. The message is its last line of output."""


def append_note(root: str, text: str) -> str:
    """Append a text to the note on HEAD. Return the id of the commit."""
    head = _run_git(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}").decode().strip()
    _run_git(root, "notes", "--ref", REF, "append", "--file", "-", head, stdin=text.encode())
    return head


def read_notes(root: str) -> list[str]:
    """Return the notes of all commits, as text. Empty while the ref does not exist."""
    lines = _run_git(root, "notes", "--ref", REF, "list").decode().split("\n")
    blobs = [line.split(" ")[0] for line in lines if line]
    stdin = "".join(f"{blob}\n" for blob in blobs).encode()
    answer = _run_git(root, "cat-file", "--batch", stdin=stdin) if blobs else b""
    notes: list[str] = []
    while answer:
        head, _, remainder = answer.partition(b"\n")
        size = int(head.rsplit(b" ", 1)[-1])
        notes.append(remainder[:size].decode("utf-8", "replace"))
        answer = remainder[size + 1 :]
    return notes


def _run_git(root: str, *args: str, stdin: bytes = b"") -> bytes:
    try:
        completed = subprocess.run(  # noqa: S603 - fixed words; the folder is the operator's
            [*GIT, "-C", root, *args],
            input=stdin,
            capture_output=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
            env=_environment(),
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitNoteError(f"git could not be run: {type(error).__name__}") from error
    if completed.returncode:
        message = completed.stderr.decode("utf-8", "replace").strip().split("\n")[-1]
        raise GitNoteError(message[:MAX_MESSAGE_LENGTH] or "the repository has no commit yet")
    return completed.stdout


def _environment() -> dict[str, str]:
    who = {
        f"GIT_{role}_{field}": value
        for role in ("AUTHOR", "COMMITTER")
        for field, value in (("NAME", NAME), ("EMAIL", EMAIL))
    }
    return git_environment() | who
