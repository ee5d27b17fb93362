"""Describe changes for the control plane, and sort out those that no reviewer has to see."""

from __future__ import annotations

import os

from controlplane.client.runs.changes import Change
from controlplane.client.runs.run_folder import make_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

MAX_DIFF = 64 * 1024  # characters of one file
MAX_TEXT = 256 * 1024  # bytes of a file that is sent or compared as text
MAX_TEXTS = 600 * 1024  # characters of all texts and diffs of a report: a request has at most 1 MiB
GIT_SECONDS = 20
EXECUTABLE = 0o111
PROGRAM_FOLDERS = "/usr/local/bin:/usr/bin:/bin"  # never those of an environment that the agent may have set
NOISE = (".git/index", ".git/index.lock", ".git/COMMIT_EDITMSG", ".git/FETCH_HEAD", ".git/ORIG_HEAD")


def is_landable(change: Change) -> bool:
    """Return whether a change can land at all: no special file made or deleted, no name that is not text."""
    try:
        change.path.encode()
        (change.target or "").encode()
    except UnicodeEncodeError:
        return False
    return bool(change.kind != "special" and (change.before or change.after))


def drop_noise(changes: Sequence[Change]) -> list[Change]:
    """Leave out what git rewrites when it only looks: without objects or refs nothing was recorded."""
    git = [change for change in changes if change.path.startswith(".git/")]
    if all(change.path in NOISE for change in git):
        return [change for change in changes if change not in git]
    return list(changes)


def find_outputs(root: str, directory: str, changes: Sequence[Change]) -> set[str]:
    """Return the paths that the .gitignore files of the repository ignore: builds, caches, logs.

    Git reads them with an empty repository of ours, never with the configuration of this one, which the agent
    may have written. Without git nothing is an output.
    """
    paths = [change.path for change in changes if not change.path.startswith(".git/")]
    if not paths:
        return set()
    import subprocess

    git_directory = make_folder(f"{directory}/git")
    names = b"".join(os.fsencode(path) + b"\0" for path in paths)
    try:
        run_git(root, git_directory, ["init", "-q", "--bare", git_directory])
        options = [f"--work-tree={root}", "-c", "core.bare=false"]
        command = [*options, "check-ignore", "--no-index", "-z", "--stdin"]
        ignored = run_git(root, git_directory, command, names)
    except (OSError, subprocess.SubprocessError):
        return set()
    return {os.fsdecode(name) for name in ignored.split(b"\0") if name}


def run_git(root: str, git_directory: str, arguments: list[str], data: bytes = b"") -> bytes:
    """Return what git prints. Its exit status says only whether any name matched."""
    import subprocess

    environment = {
        "PATH": PROGRAM_FOLDERS,
        "GIT_DIR": git_directory,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
    }
    done = subprocess.run(
        ["git", *arguments], input=data, cwd=root, env=environment, capture_output=True, check=False,
        timeout=GIT_SECONDS,
    )  # fmt: skip
    return done.stdout


def describe_changes(root: str, changes: Sequence[Change], outputs: set[str]) -> list[dict[str, Any]]:
    """Return the `files` of the report (contract 8)."""
    budget, files = MAX_TEXTS, []
    for change in changes:
        kind = "modified" if change.kind == "link" and change.before else change.kind
        kind = "link" if change.target is not None else kind
        row: dict[str, Any] = {
            "path": change.path, "change": kind, "before": change.before, "after": change.after,
            "size": change.size,
        }  # fmt: skip
        row |= describe_flags(change)
        if change.path in outputs:
            row["ignored"] = True
        elif not change.stale:  # it does not land, so nobody reads what it would have been
            texts = read_texts(root, change)
            if texts is not None and len(texts["diff"]) + len(texts.get("content") or "") <= budget:
                budget -= len(texts["diff"]) + len(texts.get("content") or "")
                row |= texts
        files.append(row)
    return files


def describe_flags(change: Change) -> dict[str, Any]:
    """Return what is said of some changes only. Of new contents, only executables have a mode to tell."""
    flags: dict[str, Any] = {"stale": True} if change.stale else {}
    if change.target is not None:
        flags["target"] = change.target
    if change.kind == "mode" or change.mode & EXECUTABLE:
        flags["mode"] = f"{change.mode:o}"
    return flags


def read_texts(root: str, change: Change) -> dict[str, str] | None:
    """Return the unified diff and the new content of a text file; None for others and for git's own."""
    import difflib

    if change.kind not in {"created", "modified", "deleted"} or change.path.startswith(".git/"):
        return None
    before = read_text_file(os.path.join(root, change.path)) if change.before else ""
    after = read_text_file(change.source) if change.source else ""
    if before is None or after is None:
        return None
    name = change.path.replace("\n", "\\n")  # a name has one line of the diff
    lines = difflib.unified_diff(
        split_lines(before), split_lines(after),
        f"a/{name}" if change.before else "/dev/null",
        f"b/{name}" if change.after else "/dev/null",
    )  # fmt: skip
    diff = "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
    texts = {"diff": diff} if len(diff) <= MAX_DIFF else None
    return {**texts, "content": after} if texts and change.source else texts


def split_lines(text: str) -> list[str]:
    """Split a text after each line feed. Other signs that `splitlines` takes for an end belong to a line."""
    *lines, rest = text.split("\n")
    return [*(f"{line}\n" for line in lines), *([rest] if rest else [])]


def read_text_file(path: str) -> str | None:
    """Return the text of a small UTF-8 file; None for any other."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            data = file.read(MAX_TEXT + 1)
    except OSError:
        return None
    if len(data) > MAX_TEXT or b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
