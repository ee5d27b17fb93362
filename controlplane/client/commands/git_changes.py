"""List the files that differ between two commits, with content hashes. File names are untrusted text."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

MAX_FILES = 10_000
CHUNK_SIZE = 1024 * 1024  # bytes
SUBMODULE = "160000"
SHALLOW = (
    "This clone is shallow, so the commits before are not here: `git fetch --unshallow`, or in CI a "
    "checkout with the whole history (fetch-depth: 0, GIT_DEPTH: 0)."
)


class GitRangeError(Exception):
    """The range cannot be resolved or read; the message says what to do."""


def run_git(root: str, *arguments: str, stdin: bytes = b"") -> bytes:
    """Return git's output. Replacements are ignored: `git replace` could hide a change."""
    import subprocess

    command = ["git", "-C", root, "--no-replace-objects", *arguments]
    completed = subprocess.run(command, input=stdin, capture_output=True, check=False)  # noqa: S603  a fixed program
    if completed.returncode:
        message = completed.stderr.decode("utf-8", "backslashreplace").strip()
        raise GitRangeError(f"git {arguments[0]}: {message or f'ended with {completed.returncode}'}")
    return completed.stdout


def resolve_range(root: str, text: str, base: str, head: str) -> tuple[str, str]:
    """Return (tree or commit before, commit after) for `A..B`, `A...B`, `A`, or for --base and --head.

    Three dots and --base compare with the merge base; without a range the upstream branch is the base.
    """
    if base:
        return resolve_merge_base(root, base, head or "HEAD")
    before, dots, after = text.partition("...") if "..." in text else text.partition("..")
    if dots == "..":
        return resolve_commit(root, before or "HEAD"), resolve_commit(root, after or "HEAD")
    if text:
        return (
            resolve_merge_base(root, before or "HEAD", after or "HEAD")
            if dots
            else (resolve_commit(root, text), resolve_commit(root, "HEAD"))
        )
    return resolve_merge_base(root, "@{upstream}", head or "HEAD")


def resolve_merge_base(root: str, before: str, after: str) -> tuple[str, str]:
    if before and not before.strip("0"):  # all zeros: a new branch, in CI services
        return empty_tree(root), resolve_commit(root, after)
    before_id, after_id = resolve_commit(root, before), resolve_commit(root, after)
    try:
        return run_git(root, "merge-base", before_id, after_id).decode().strip(), after_id
    except GitRangeError as problem:
        text = SHALLOW if is_shallow(root) else f"{before} and {after} have no commit in common."
        raise GitRangeError(text) from problem


def resolve_commit(root: str, name: str) -> str:
    """Return the full id of a commit."""
    if name.startswith("-"):
        raise GitRangeError(f"{name!r} is not a commit.")
    try:
        return run_git(root, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}").decode().strip()
    except GitRangeError as problem:
        advice = f" {SHALLOW}" if is_shallow(root) else ""
        raise GitRangeError(f"There is no commit {name!r} here.{advice}") from problem


def is_shallow(root: str) -> bool:
    return run_git(root, "rev-parse", "--is-shallow-repository").strip() == b"true"


def empty_tree(root: str) -> str:
    return run_git(root, "hash-object", "-t", "tree", "--stdin").decode().strip()


def list_changed_files(root: str, base: str, head: str) -> list[dict[str, Any]]:
    """Return the differing files for `POST /api/v1/reconciliations`. Reads blobs, not the worktree."""
    arguments = ("-r", "-z", "--raw", "--no-abbrev", "-M", "--no-commit-id", "--ignore-submodules=none")
    raw = run_git(root, "diff-tree", *arguments, base, head)
    changes = list(parse_raw_diff(raw.split(b"\0")))
    if len(changes) > MAX_FILES:
        raise GitRangeError(f"{len(changes)} files differ, {MAX_FILES} can be checked: name a shorter range.")
    contents = hash_blobs(root, [blob for _, blob, _ in changes if blob])
    # The server says more where it knows the content before, and a partial clone may lack it.
    contents |= hash_blobs(root, [old for _, _, old in changes if old and old not in contents], optional=True)
    times = read_commit_times(root, base, head)
    for file, blob, old in changes:
        file["content_hash"] = contents[blob] if blob else None
        if file["readable"] and file["path"] in times:
            file["committed_at"] = times[file["path"]]
        if old in contents:
            file["old_content_hash"] = contents[old]
    return [file for file, _, _ in changes]


def read_commit_times(root: str, base: str, head: str) -> dict[str, str]:
    """Return when each path was committed last in a range, by the clock of who committed it."""
    is_tree = run_git(root, "cat-file", "-t", base).strip() == b"tree"
    revisions = [head] if is_tree else [head, f"^{base}"]
    arguments = ("-z", "--name-only", "--no-renames", "--format=%x01%cI")
    times: dict[str, str] = {}
    time = ""
    for part in run_git(root, "log", *arguments, *revisions, "--").split(b"\0"):
        text = part.decode("utf-8", "backslashreplace").lstrip("\n")
        if text.startswith("\x01"):
            time = text[1:]
        elif text:
            times.setdefault(text, time)
    return times


def parse_raw_diff(parts: list[bytes]) -> Iterator[tuple[dict[str, Any], str, str]]:
    """Yield (file, blob or "", blob before or "") for each record of `git diff --raw -z`."""
    fields = iter(parts)
    for head in fields:
        if not head:
            continue
        old_mode, mode, old, new, status = head[1:].decode().split(" ")
        names = [next(fields)] + ([next(fields)] if status[0] in "RC" else [])
        texts = [name.decode("utf-8", "backslashreplace") for name in names]
        file: dict[str, Any] = {"path": texts[-1], "status": status[0]}
        if len(texts) > 1:
            file["old_path"] = texts[0]
        file["mode_only"] = old == new and old_mode != mode
        file["old_mode"], file["new_mode"] = old_mode, mode
        file["readable"] = all(is_utf8(name) for name in names)
        yield file, name_blob(mode, new), name_blob(old_mode, old)


def name_blob(mode: str, blob: str) -> str:
    return "" if mode == SUBMODULE or not blob.strip("0") else blob


def is_utf8(name: bytes) -> bool:
    try:
        name.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def hash_blobs(root: str, blobs: list[str], *, optional: bool = False) -> dict[str, str]:
    """Return `sha256:…` of each blob, read from one `git cat-file --batch`.

    Raise GitRangeError for one that is not here, or leave it out where they are `optional`.
    """
    import hashlib
    import subprocess

    command = ["git", "-C", root, "--no-replace-objects", "cat-file", "--batch"]
    hashes: dict[str, str] = {}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as reader:  # noqa: S603  a fixed program
        assert reader.stdin is not None
        assert reader.stdout is not None
        for blob in dict.fromkeys(blobs):
            reader.stdin.write(f"{blob}\n".encode())
            reader.stdin.flush()
            header = reader.stdout.readline().split()
            if len(header) != 3 and optional:
                continue
            if len(header) != 3:
                raise GitRangeError(f"The content {blob} is not in this clone.")
            digest, remaining = hashlib.sha256(), int(header[2])
            while remaining:
                chunk = reader.stdout.read(min(remaining, CHUNK_SIZE))
                if not chunk:
                    raise GitRangeError(f"git ended within the content {blob}.")
                digest.update(chunk)
                remaining -= len(chunk)
            reader.stdout.read(1)
            hashes[blob] = f"sha256:{digest.hexdigest()}"
    return hashes


def escape_unprintable(name: str) -> str:
    """Escape control, bidirectional and line-breaking characters for terminals and logs."""
    return name if name.isprintable() else name.encode("unicode_escape").decode("ascii")


def find_worktree_root() -> str:
    try:
        return run_git(os.getcwd(), "rev-parse", "--show-toplevel").decode().rstrip("\n")
    except OSError as problem:
        raise GitRangeError(f"git cannot be run: {problem}") from problem
