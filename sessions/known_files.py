"""Files that a workspace is known to have: those of its ledger, and those under its local root.

Bounded: a list that stops early says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from controlplane.models import Workspace
from controlplane.policy.globs.scope import Scope
from sessions.gate.snapshot import policy_of
from traces.local_files import walk_files
from traces.models import TraceFile

MAX_FILES = 20_000


@dataclass(frozen=True, slots=True)
class KnownFiles:
    paths: tuple[str, ...]  # sorted
    whole: bool  # False: there are more than were looked at
    ignore_case: bool = False

    def added_by(self, patterns: Iterable[str], owned: Iterable[str]) -> list[str]:
        """What these patterns let through that the owned scope does not."""
        new, scope = (Scope.of(tuple(each), case_insensitive=self.ignore_case) for each in (patterns, owned))
        return [path for path in self.paths if new.matches(path) and not scope.matches(path)]


def known_files(workspace: Workspace) -> KnownFiles:
    """1 query, and one walk through the local root where there is one."""
    rows = TraceFile.objects.filter(workspace_id=workspace.pk, deleted=False)
    recorded = list(rows.order_by().values_list("path", flat=True).distinct()[: MAX_FILES + 1])
    listed = list(islice(walk_files(workspace.local_root), MAX_FILES + 1)) if workspace.local_root else []
    paths = sorted({*recorded[:MAX_FILES], *listed[:MAX_FILES]})
    whole = max(len(recorded), len(listed)) <= MAX_FILES
    return KnownFiles(tuple(paths), whole, policy_of(workspace).case_insensitive_paths)
