"""Files that a workspace is known to have: those of its ledger, and those under its local root.

Bounded: a list that stops early says so.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from controlplane.models import Workspace
from controlplane.policy.scopes import Scope
from traces.models import TraceFile

MOST = 20_000
SKIPPED_FOLDERS = frozenset({".git", "node_modules", ".venv", "__pycache__"})


@dataclass(frozen=True, slots=True)
class KnownFiles:
    paths: tuple[str, ...]  # sorted
    whole: bool  # False: there are more than were looked at

    def added_by(self, patterns: Iterable[str], scope: Scope) -> list[str]:
        """What these patterns let through that the scope does not."""
        new = Scope.of(tuple(patterns))
        return [path for path in self.paths if new.matches(path) and not scope.matches(path)]


def known_files(workspace: Workspace) -> KnownFiles:
    """1 query, and one walk through the local root where there is one."""
    rows = TraceFile.objects.filter(workspace_id=workspace.pk, deleted=False)
    recorded = list(rows.order_by().values_list("path", flat=True).distinct()[: MOST + 1])
    listed = list(islice(_below(workspace.local_root), MOST + 1)) if workspace.local_root else []
    paths = sorted({*recorded[:MOST], *listed[:MOST]})
    return KnownFiles(tuple(paths), whole=max(len(recorded), len(listed)) <= MOST)


def _below(root: str) -> Iterator[str]:
    """Workspace-relative paths; links are not followed, folders of installed packages not entered."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(set(folders) - SKIPPED_FOLDERS)
        inside = Path(folder).relative_to(root)
        yield from ((inside / name).as_posix() for name in sorted(files))
