"""What a repository's `.git/config` says that git runs by itself: a folder of hooks, a file-system monitor.

Only what lies in the work tree is told: an agent may write there. The file itself is protected.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from controlplane.policy.paths.canonical import CanonicalPath, canonicalize
from controlplane.policy.paths.filesystem import Filesystem

CONFIG = ".git/config"
MAX_LENGTH = 256 * 1024
_SECTION = re.compile(r"\s*\[\s*([\w.-]+)(?:\s+\"((?:[^\"\\]|\\.)*)\")?\s*\]\s*(.*)")
_ENTRY = re.compile(r"\s*([\w-]+)\s*=\s*(.*)")
_SWITCHES = frozenset({"", "true", "false", "yes", "no", "on", "off", "1", "0"})


@dataclass(frozen=True, slots=True)
class GitPrograms:
    """Workspace-relative; "" where there is none. `included` are further files of settings."""

    hooks: str = ""
    monitor: str = ""
    included: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.hooks, self.monitor, *self.included)))


NO_PROGRAMS = GitPrograms()


def find_programs(filesystem: Filesystem, root: str | None) -> GitPrograms:
    """Return what the settings of a workspace's repository name in its own work tree."""
    text = filesystem.read_text(CONFIG)
    if text is None:
        return NO_PROGRAMS
    entries = _parse(text[:MAX_LENGTH])
    included = tuple(
        filter(None, (_locate(value, root, ".git") for key, value in entries if key == "include.path"))
    )
    for name in included:
        entries += _parse((filesystem.read_text(name) or "")[:MAX_LENGTH])
    values = dict(entries)  # the last one counts
    monitor = values.get("core.fsmonitor", "")
    command = "" if monitor.lower() in _SWITCHES else monitor.split()[0]
    return GitPrograms(
        _locate(values.get("core.hookspath", ""), root, ""), _locate(command, root, ""), included
    )


@lru_cache(maxsize=64)  # each write of a call asks, and settings seldom change
def _parse(text: str) -> tuple[tuple[str, str], ...]:
    """Return keys, in lower case with their section, and values. A sub-section counts as the same one."""
    entries, section = [], ""
    for line in text.splitlines():
        body = line
        header = _SECTION.fullmatch(line)
        if header is not None:
            section = "include" if header[1].lower() == "includeif" else header[1].lower()
            body = header[3]
        entry = _ENTRY.fullmatch(body)
        if entry is not None:
            value = re.split(r"\s[#;]", entry[2], maxsplit=1)[0].strip().strip('"')
            entries.append((f"{section}.{entry[1].lower()}", value))
    return tuple(entries)


def _locate(value: str, root: str | None, base: str) -> str:
    """Return where a path of the settings lies in the work tree; "" for elsewhere, and for git's own."""
    if not value or value.startswith("~"):
        return ""
    found = canonicalize(value, root=root, cwd=base or None, writing=False)
    is_own = isinstance(found, CanonicalPath) and (found.path == ".git" or found.path.startswith(".git/"))
    return found.path if isinstance(found, CanonicalPath) and not is_own else ""
