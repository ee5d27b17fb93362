"""Read .orchestration/active_intents.yaml under a workspace's local root into its registry."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from controlplane.policy.model import Registry
from intents.management.workspaces import workspace_named
from intents.sync import stop, sync


class Command(BaseCommand):
    help = (
        "Folder to registry, one way. While the file is missing or corrupt, the gate denies (exit status 1)."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--workspace", required=True, metavar="SLUG")
        parser.add_argument("--lenient", action="store_true", help="Repair what real files hold.")
        parser.add_argument("--stop", action="store_true", help="Sync no longer; the registry rules again.")

    def handle(self, *_: Any, **options: Any) -> None:
        workspace = workspace_named(options["workspace"])
        if options["stop"]:
            stop(workspace)
            self.stdout.write(f"{workspace.slug} is not synced any more.")
            return
        if not workspace.local_root:
            raise CommandError(f"{workspace.slug} has no local root: nothing can be synced.")
        found = sync(workspace, actor="command sync_orchestration", lenient=options["lenient"])
        if found.state is not Registry.OK:
            raise CommandError(f"{found.state}: {found.error}")
        plan = found.imported.plan if found.imported else None
        counts = (
            f"{len(plan.added)} added, {len(plan.changed)} changed, {len(plan.removed)} removed"
            if plan
            else ""
        )
        self.stdout.write(f"ok: {counts}")
