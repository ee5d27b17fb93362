"""Sync .orchestration/active_intents.yaml under a workspace's local root with its registry."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from controlplane.models import Workspace
from controlplane.policy.model import Registry
from intents.errors import InvalidSyncStateError
from intents.management.workspaces import find_workspace
from intents.registry_file.import_export import ImportPlan
from intents.registry_file.local_file_sync import stop_sync, sync_from_file, sync_two_way
from intents.registry_file.three_way_merge import PREFERENCES

ACTOR = "command sync_orchestration"


class Command(BaseCommand):
    help = (
        "Bring the registry to what the folder's file says. While the file is missing or corrupt, the gate "
        "denies (exit status 1). With --two-way, a change of one side flows to the other, and conflicts are "
        "listed (exit status 1)."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--workspace", required=True, metavar="SLUG")
        parser.add_argument("--lenient", action="store_true", help="Fix common mistakes and list every fix.")
        parser.add_argument("--stop", action="store_true", help="Stop syncing and rely on the registry.")

        parser.add_argument(
            "--two-way", action="store_true", help="Merge both sides; in a conflict each keeps its version."
        )
        parser.add_argument("--prefer", choices=PREFERENCES, default="", help="Who wins conflicts (two-way).")
        parser.add_argument("--dry-run", action="store_true", help="Print what would be done (two-way).")

    def handle(self, *_: Any, **options: Any) -> None:
        workspace = find_workspace(options["workspace"])
        if options["stop"]:
            stop_sync(workspace)
            self.stdout.write(f"{workspace.slug} is not synced any more.")
            return
        if not workspace.local_root:
            raise CommandError(f"{workspace.slug} has no local root: nothing can be synced.")
        if options["two_way"]:
            self._sync_two_way(workspace, options["prefer"], dry_run=options["dry_run"])
            return
        result = sync_from_file(workspace, actor=ACTOR, lenient=options["lenient"])
        if result.state is not Registry.OK:
            raise CommandError(f"{result.state}: {result.error}")
        self.stdout.write(f"ok: {count_changes(result.imported.plan) if result.imported else ''}")

    def _sync_two_way(self, workspace: Workspace, prefer: str, *, dry_run: bool) -> None:
        try:
            result = sync_two_way(workspace, actor=ACTOR, prefer=prefer, dry_run=dry_run)
        except (OSError, InvalidSyncStateError) as error:
            raise CommandError(str(error)) from error
        if result.base is None:
            first = result.report.errors[0]
            raise CommandError(f"{f'Line {first.line}: ' if first.line else ''}{first.message}")
        file = "as it is" if result.file is None else "to be written" if dry_run else "written"
        self.stdout.write(f"registry: {count_changes(result.plan)}; file {file}")
        for conflict in result.conflicts:
            versions = f"base {conflict.base!r}, registry {conflict.registry!r}, folder {conflict.folder!r}"
            self.stderr.write(f"{conflict.key or 'metadata'} {conflict.field}: {versions}")
        if result.conflicts:
            raise CommandError(f"{len(result.conflicts)} conflicts; --prefer says who wins.")


def count_changes(plan: ImportPlan) -> str:
    return f"{len(plan.added)} added, {len(plan.changed)} changed, {len(plan.removed)} removed"
