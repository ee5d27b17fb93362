"""Resolve paths by their text alone, as the shell's own `cd` does: `..` removes the name in front of it."""

from __future__ import annotations

from dataclasses import dataclass


def is_inside(directory: str) -> bool:
    """Return whether a directory, as `change_directory` returns it, lies in the workspace."""
    return not directory.startswith(("/", "~")) and directory.split("/", 1)[0] != ".."


def change_directory(directory: str, raw: str, root: str | None) -> str:
    """Return the directory after `cd raw` in `directory`.

    "" is the workspace, `src/auth` lies in it; `../x`, `/etc` and `~/x` lie outside. An absolute path
    below `root` becomes workspace-relative, and one that leaves a POSIX root absolute; from a Windows root
    it stays `../x`.
    """
    joined = raw if raw.startswith(("/", "~")) else f"{directory}/{raw}" if directory else raw
    if joined.startswith("~"):
        return joined
    result = _normalise(joined)
    if result.split("/", 1)[0] == ".." and root and root.startswith("/"):
        result = _normalise(f"{root}/{result}")
    return _below_root(result, root) if result.startswith("/") else result


def _normalise(path: str) -> str:
    segments: list[str] = []
    absolute = path.startswith("/")
    for segment in path.split("/"):
        if segment == ".." and segments and segments[-1] != "..":
            segments.pop()
        elif (segment == ".." and not absolute) or segment not in ("", ".", ".."):
            segments.append(segment)
    return "/" * absolute + "/".join(segments)


def _below_root(path: str, root: str | None) -> str:
    base = _normalise(root).rstrip("/") if root and root.startswith("/") else None
    if base is None:
        return path
    if path == base:
        return ""
    return path[len(base) + 1 :] if path.startswith(base + "/") else path


@dataclass(frozen=True, slots=True)
class CommandPath:
    """A path that a command names: `raw` and `cwd` as in `ShellPath`, `key` normalised for comparing."""

    raw: str
    cwd: str
    key: str


def resolve_lexically(directory: str, raw: str, root: str | None) -> CommandPath:
    """Resolve `raw` against `directory`. Its `..` stay in the result: behind a link they lead elsewhere."""
    trimmed = raw.rstrip("/") or "/"
    key = change_directory(directory, trimmed, root)
    if trimmed.startswith(("/", "~")):
        return CommandPath(trimmed, "", key)
    if is_inside(directory):
        return CommandPath(trimmed, directory, key)
    return CommandPath(f"{directory.rstrip('/')}/{trimmed}", "", key)
