"""Sync .orchestration/active_intents.yaml under a workspace's local root with its registry."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from controlplane.models import Workspace
from controlplane.policy.model import Registry
from intents.management.workspaces import find_workspace
from intents.registry_file.import_export import ImportPlan
from intents.registry_file.local_file_sync import (
    InvalidSyncStateError,
    stop_sync,
    sync_from_file,
    sync_two_way,
)
from intents.registry_file.three_way_merge import PREFERENCES


class Command(BaseCommand):
    help = (
        "Folder to registry. While the file is missing or corrupt, the gate denies (exit status 1). With "
        "--two-way what changed on one side only flows to the other, and conflicts are shown (exit status 1)."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--workspace", required=True, metavar="SLUG")
        parser.add_argument("--lenient", action="store_true", help="Repair what real files hold.")
        parser.add_argument("--stop", action="store_true", help="Sync no longer; the registry rules again.")

        parser.add_argument(
            "--two-way", action="store_true", help="Both ways; each side keeps its conflicts."
        )
        parser.add_argument("--prefer", choices=PREFERENCES, default="", help="Who wins conflicts (two-way).")
        parser.add_argument("--dry-run", action="store_true", help="Say what would be done (two-way).")

    def handle(self, *_: Any, **options: Any) -> None:
        workspace = find_workspace(options["workspace"])
        if options["stop"]:
            stop_sync(workspace)
            self.stdout.write(f"{workspace.slug} is not synced any more.")
            return
        if not workspace.local_root:
            raise CommandError(f"{workspace.slug} has no local root: nothing can be synced.")
        if options["two_way"]:
            self._both(workspace, options["prefer"], dry_run=options["dry_run"])
            return
        found = sync_from_file(workspace, actor="command sync_orchestration", lenient=options["lenient"])
        if found.state is not Registry.OK:
            raise CommandError(f"{found.state}: {found.error}")
        self.stdout.write(f"ok: {counted(found.imported.plan) if found.imported else ''}")

    def _both(self, workspace: Workspace, prefer: str, *, dry_run: bool) -> None:
        try:
            found = sync_two_way(
                workspace, actor="command sync_orchestration", prefer=prefer, dry_run=dry_run
            )
        except (OSError, InvalidSyncStateError) as error:
            raise CommandError(str(error)) from error
        if found.base is None:
            first = found.report.errors[0]
            raise CommandError(f"{f'Line {first.line}: ' if first.line else ''}{first.message}")
        file = "as it is" if found.file is None else "to be written" if dry_run else "written"
        self.stdout.write(f"registry: {counted(found.plan)}; file {file}")
        for one in found.conflicts:
            sides = f"base {one.base!r}, registry {one.registry!r}, folder {one.folder!r}"
            self.stderr.write(f"{one.key or 'metadata'} {one.field}: {sides}")
        if found.conflicts:
            raise CommandError(f"{len(found.conflicts)} conflicts; --prefer says who wins.")


def counted(plan: ImportPlan) -> str:
    return f"{len(plan.added)} added, {len(plan.changed)} changed, {len(plan.removed)} removed"
