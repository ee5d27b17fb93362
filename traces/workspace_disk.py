"""The files that are there, where a workspace is on this machine's disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

SKIPPED_FOLDERS = frozenset({".git", "node_modules", ".venv", "__pycache__"})


def files_below(root: str) -> Iterator[str]:
    """Workspace-relative paths; links are not followed, folders of installed packages not entered."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(set(folders) - SKIPPED_FOLDERS)
        inside = Path(folder).relative_to(root)
        yield from ((inside / name).as_posix() for name in sorted(files))
