"""Where a relative path leads, as text: the shell's own `cd` also counts `..` on names."""

from __future__ import annotations

from dataclasses import dataclass


def is_inside(folder: str) -> bool:
    """Whether a folder, as `enter` returns it, lies in the workspace."""
    return not folder.startswith(("/", "~")) and folder.split("/", 1)[0] != ".."


def change_directory(folder: str, raw: str, root: str | None) -> str:
    """The folder after `cd raw` in `folder`.

    "" is the workspace, `src/auth` lies in it; `../x`, `/etc` and `~/x` lie outside. An absolute path
    below `root` becomes workspace-relative, and one that leaves a POSIX root absolute; from a root of Windows
    it stays `../x`.
    """
    joined = raw if raw.startswith(("/", "~")) else f"{folder}/{raw}" if folder else raw
    if joined.startswith("~"):
        return joined
    found = _normalise(joined)
    if found.split("/", 1)[0] == ".." and root and root.startswith("/"):
        found = _normalise(f"{root}/{found}")
    return _below_root(found, root) if found.startswith("/") else found


def _normalise(path: str) -> str:
    kept: list[str] = []
    absolute = path.startswith("/")
    for segment in path.split("/"):
        if segment == ".." and kept and kept[-1] != "..":
            kept.pop()
        elif (segment == ".." and not absolute) or segment not in ("", ".", ".."):
            kept.append(segment)
    return "/" * absolute + "/".join(kept)


def _below_root(path: str, root: str | None) -> str:
    base = _normalise(root).rstrip("/") if root and root.startswith("/") else None
    if base is None:
        return path
    if path == base:
        return ""
    return path[len(base) + 1 :] if path.startswith(base + "/") else path


@dataclass(frozen=True, slots=True)
class CommandPath:
    """A path of a command, as `ShellPath` wants it, and normalised for comparing."""

    raw: str
    cwd: str
    key: str


def resolve_lexically(folder: str, raw: str, root: str | None) -> CommandPath:
    """Resolve `raw` against `folder` without losing its `..`, which links may turn elsewhere."""
    trimmed = raw.rstrip("/") or "/"
    key = change_directory(folder, trimmed, root)
    if trimmed.startswith(("/", "~")):
        return CommandPath(trimmed, "", key)
    if is_inside(folder):
        return CommandPath(trimmed, folder, key)
    return CommandPath(f"{folder.rstrip('/')}/{trimmed}", "", key)
