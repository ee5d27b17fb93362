"""What git says has changed between two commits, with hashes of the contents. Names are hostile text."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

MAX_FILES = 10_000
PIECE = 1024 * 1024  # bytes
SUBMODULE = "160000"
SHALLOW = (
    "This clone is shallow, so the commits before are not here: `git fetch --unshallow`, or in CI a "
    "checkout with the whole history (fetch-depth: 0, GIT_DEPTH: 0)."
)


class CannotCheckError(Exception):
    """The change could not be held against anything; the message says what to do."""


def git(root: str, *arguments: str, given: bytes = b"") -> bytes:
    """What git prints. Objects count as they are, whatever `git replace` says of them."""
    import subprocess

    command = ["git", "-C", root, "--no-replace-objects", *arguments]
    done = subprocess.run(command, input=given, capture_output=True, check=False)  # noqa: S603  a fixed program
    if done.returncode:
        said = done.stderr.decode("utf-8", "backslashreplace").strip()
        raise CannotCheckError(f"git {arguments[0]}: {said or f'ended with {done.returncode}'}")
    return done.stdout


def span(root: str, text: str, base: str, head: str) -> tuple[str, str]:
    """(tree or commit before, commit after) of `A..B`, `A...B`, `A`, or of --base and --head.

    With three dots, and with --base, what B adds since both parted; nothing named: since the upstream.
    """
    if base:
        return parted(root, base, head or "HEAD")
    before, dots, after = text.partition("...") if "..." in text else text.partition("..")
    if dots == "..":
        return commit(root, before or "HEAD"), commit(root, after or "HEAD")
    if text:
        return (
            parted(root, before or "HEAD", after or "HEAD")
            if dots
            else (commit(root, text), commit(root, "HEAD"))
        )
    return parted(root, "@{upstream}", head or "HEAD")


def parted(root: str, before: str, after: str) -> tuple[str, str]:
    if before and not before.strip("0"):  # a new branch, as CI services say it
        return empty_tree(root), commit(root, after)
    one, other = commit(root, before), commit(root, after)
    try:
        return git(root, "merge-base", one, other).decode().strip(), other
    except CannotCheckError as problem:
        text = SHALLOW if is_shallow(root) else f"{before} and {after} have no commit in common."
        raise CannotCheckError(text) from problem


def commit(root: str, name: str) -> str:
    """The full id of a commit."""
    if name.startswith("-"):
        raise CannotCheckError(f"{name!r} is no name of a commit.")
    try:
        return git(root, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}").decode().strip()
    except CannotCheckError as problem:
        more = f" {SHALLOW}" if is_shallow(root) else ""
        raise CannotCheckError(f"There is no commit {name!r} here.{more}") from problem


def is_shallow(root: str) -> bool:
    return git(root, "rev-parse", "--is-shallow-repository").strip() == b"true"


def empty_tree(root: str) -> str:
    return git(root, "hash-object", "-t", "tree", "--stdin").decode().strip()


def changed_files(root: str, base: str, head: str) -> list[dict[str, Any]]:
    """The files that differ, as `POST /api/v1/reconciliations` takes them. Reads blobs, not the worktree."""
    arguments = ("-r", "-z", "--raw", "--no-abbrev", "-M", "--no-commit-id", "--ignore-submodules=none")
    raw = git(root, "diff-tree", *arguments, base, head)
    found = list(raw_changes(raw.split(b"\0")))
    if len(found) > MAX_FILES:
        raise CannotCheckError(
            f"{len(found)} files differ, {MAX_FILES} can be checked: name a shorter range."
        )
    contents = hashes_of_blobs(root, [blob for _, blob in found if blob])
    for file, blob in found:
        file["content_hash"] = contents[blob] if blob else None
    return [file for file, _ in found]


def raw_changes(parts: list[bytes]) -> Iterator[tuple[dict[str, Any], str]]:
    """(file, blob of its content or "") of each record of `git diff --raw -z`."""
    left = iter(parts)
    for head in left:
        if not head:
            continue
        old_mode, mode, old, new, status = head[1:].decode().split(" ")
        names = [next(left)] + ([next(left)] if status[0] in "RC" else [])
        texts = [name.decode("utf-8", "backslashreplace") for name in names]
        file: dict[str, Any] = {"path": texts[-1], "status": status[0]}
        if len(texts) > 1:
            file["old_path"] = texts[0]
        file["mode_only"] = old == new and old_mode != mode
        file["readable"] = all(is_utf8(name) for name in names)
        yield file, "" if mode == SUBMODULE or not new.strip("0") else new


def is_utf8(name: bytes) -> bool:
    try:
        name.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def hashes_of_blobs(root: str, blobs: list[str]) -> dict[str, str]:
    """`sha256:…` of the contents, read one after the other from one git."""
    import hashlib
    import subprocess

    command = ["git", "-C", root, "--no-replace-objects", "cat-file", "--batch"]
    found: dict[str, str] = {}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as reader:  # noqa: S603  a fixed program
        assert reader.stdin is not None
        assert reader.stdout is not None
        for blob in dict.fromkeys(blobs):
            reader.stdin.write(f"{blob}\n".encode())
            reader.stdin.flush()
            told = reader.stdout.readline().split()
            if len(told) != 3:
                raise CannotCheckError(f"The content {blob} is not in this clone.")
            digest, left = hashlib.sha256(), int(told[2])
            while left:
                piece = reader.stdout.read(min(left, PIECE))
                if not piece:
                    raise CannotCheckError(f"git ended within the content {blob}.")
                digest.update(piece)
                left -= len(piece)
            reader.stdout.read(1)
            found[blob] = f"sha256:{digest.hexdigest()}"
    return found


def only_text(name: str) -> str:
    """Fit for a terminal and a log: no control, bidirectional or line-breaking characters."""
    return name if name.isprintable() else name.encode("unicode_escape").decode("ascii")


def current_repository() -> str:
    try:
        return git(os.getcwd(), "rev-parse", "--show-toplevel").decode().rstrip("\n")
    except OSError as problem:
        raise CannotCheckError(f"git cannot be run: {problem}") from problem
