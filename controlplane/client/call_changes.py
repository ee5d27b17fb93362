"""What the hook adds to a payload after a tool has run: lines that changed, and files that a command left."""

from __future__ import annotations

import os
import time

from controlplane.client.call_context import (
    MAX_HASHED,
    MAX_NAMES,
    PATH_KEYS,
    hash_file,
    list_command_words,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

OLD_KEYS = ("old_string", "oldString", "old_str", "old_text", "oldText")
NEW_KEYS = ("new_string", "newString", "new_str", "new_text", "newText")
EVERYWHERE_KEYS = ("replace_all", "replaceAll", "allow_multiple")
FAILURE_KEYS = ("error", "error_message")  # in a payload after a tool that failed
DURATION_KEYS = ("duration_ms", "duration")  # milliseconds
HOOK_SECONDS = 5.0  # at most from the end of a command to here
MAX_DIRECTORIES = 5  # of one command, in which its words may lie


def hash_command_words(payload: dict[str, Any], root: str) -> dict[str, str]:
    """Return `sha256:…` of each file of the repository that the words of a command name.

    A word counts in the client's folder, and in each folder that the command names too, as in `cd src && …`.
    The control plane takes those that it reads as written. Of a command that failed nobody knows how far it
    came, so only files count that were changed since it began.
    """
    base = payload.get("cwd")
    base = base if isinstance(base, str) else root
    words = list_command_words(payload)[:MAX_NAMES]
    named = [os.path.join(base, word) for word in words]
    directories = [path for path in named if os.path.isdir(path)][:MAX_DIRECTORIES]
    named += [os.path.join(directory, word) for directory in directories for word in words]
    top = os.path.realpath(root)
    paths = {path for name in named if (path := os.path.realpath(name)).startswith(top + os.sep)}
    since = find_start(payload) if any(payload.get(key) for key in FAILURE_KEYS) else None
    if since is not None:
        paths = {path for path in paths if was_changed(path, since)}
    hashes = {os.path.relpath(path, top): hash_file(path) for path in sorted(paths)[:MAX_NAMES]}
    return {path: digest for path, digest in hashes.items() if digest}


def find_start(payload: dict[str, Any]) -> float:
    """Return when the tool began, at the earliest; now where the client does not say how long it ran."""
    durations = [payload[key] for key in DURATION_KEYS if isinstance(payload.get(key), (int, float))]
    return time.time() - durations[0] / 1000 - HOOK_SECONDS if durations else time.time()


def was_changed(path: str, since: float) -> bool:
    try:
        return os.lstat(path).st_ctime > since
    except OSError:
        return False


def find_changed_lines(payload: dict[str, Any], root: str) -> dict[str, list[int]]:
    """Return [first, last] changed line of each file of the repository that the payload's edits changed.

    A file is left out where an edit may have been made in more than one place, and where it only deleted.
    """
    base = payload.get("cwd")
    base = base if isinstance(base, str) else root
    top = os.path.realpath(root)
    lines_by_path: dict[str, list[int]] = {}
    for name, edits in list_edits(payload):
        path = os.path.realpath(os.path.join(base, name))
        text = read_edited_text(path) if path.startswith(top + os.sep) else None
        changed = _compare(revert(text, edits), text) if text is not None else None
        if changed:
            lines_by_path[os.path.relpath(path, top)] = changed
    return lines_by_path


def list_edits(value: Any) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield (path, edits) of each object in the payload that names a file and what is replaced in it."""
    if isinstance(value, list):
        for inner in value:
            yield from list_edits(inner)
    if not isinstance(value, dict):
        return
    path = next((value[key] for key in PATH_KEYS if isinstance(value.get(key), str)), "")
    several = value.get("edits")
    edits = [one for one in several if isinstance(one, dict)] if isinstance(several, list) else [value]
    if path and "\0" not in path and all(_find_text(edit, NEW_KEYS) is not None for edit in edits):
        yield path, edits
        return
    for inner in value.values():
        yield from list_edits(inner)


def _find_text(edit: dict[str, Any], keys: tuple[str, ...]) -> str | None:
    return next((edit[key] for key in keys if isinstance(edit.get(key), str)), None)


def read_edited_text(path: str) -> str | None:
    """Return the text of a file; None for a large one, and for what is no text."""
    try:
        if os.path.getsize(path) > MAX_HASHED:
            return None
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except (OSError, ValueError):
        return None


def revert(text: str, edits: list[dict[str, Any]]) -> str | None:
    """Return the text before the edits; None where one may have been made in more than one place."""
    for edit in reversed(edits):
        old, new = _find_text(edit, OLD_KEYS) or "", _find_text(edit, NEW_KEYS) or ""
        at = text.find(new) if new and not any(edit.get(key) for key in EVERYWHERE_KEYS) else -1
        if at < 0 or text.find(new, at + 1) >= 0:
            return None
        text = text[:at] + old + text[at + len(new) :]
    return text


def _compare(before: str | None, after: str) -> list[int] | None:
    """Return the first and the last line of `after` that differ; None where it has no such line."""
    if before is None:
        return None
    old, new = before.splitlines(), after.splitlines()
    head = count_common(old, new)
    tail = count_common(old[head:][::-1], new[head:][::-1])
    return [head + 1, len(new) - tail] if head < len(new) - tail else None


def count_common(one: list[str], other: list[str]) -> int:
    """Count the equal lines at the start of both."""
    count = 0
    for left, right in zip(one, other):  # noqa: B905  Python 3.9 has no strict
        if left != right:
            break
        count += 1
    return count
