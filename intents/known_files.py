"""List the files that a workspace is known to have: those of its ledger and those under its local root."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from controlplane.models import Workspace
from controlplane.policy.globs.scope import Scope
from controlplane.policy.rules import policy_document
from traces.local_files import walk_files
from traces.models import TraceFile

MAX_FILES = 20_000


@dataclass(frozen=True, slots=True)
class KnownFiles:
    paths: tuple[str, ...]  # sorted
    complete: bool  # False: the workspace has more than MAX_FILES
    ignore_case: bool = False

    def find_matches(self, scope: Scope) -> list[str]:
        """Return the paths that a scope owns."""
        return [path for path in self.paths if scope.matches(path)]

    def find_added(self, patterns: Iterable[str], owned: Iterable[str]) -> list[str]:
        """Return the paths that these patterns match and the owned scope does not."""
        new, scope = (
            Scope.from_patterns(tuple(each), case_insensitive=self.ignore_case) for each in (patterns, owned)
        )
        return [path for path in self.paths if new.matches(path) and not scope.matches(path)]


def load_known_files(workspace: Workspace) -> KnownFiles:
    """Read both lists, each up to `MAX_FILES`: 1 query, and one walk where the workspace has a local root."""
    rows = TraceFile.objects.filter(workspace_id=workspace.pk, deleted=False)
    recorded = list(rows.order_by().values_list("path", flat=True).distinct()[: MAX_FILES + 1])
    on_disk = list(islice(walk_files(workspace.local_root), MAX_FILES + 1)) if workspace.local_root else []
    paths = sorted({*recorded[:MAX_FILES], *on_disk[:MAX_FILES]})
    complete = max(len(recorded), len(on_disk)) <= MAX_FILES
    return KnownFiles(tuple(paths), complete, policy_document.parse(workspace.policy).case_insensitive_paths)
