"""Rebuild the tables that pages read from the entries of the ledger."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from traces.management.workspace_argument import select_workspaces
from traces.verification.repair import rebuild_projections


class Command(BaseCommand):
    help = (
        "Rebuild the rows and counts of trace entries from their bodies. For what verify_ledger reports as "
        "PROJECTION_CHANGED; the ledger itself is not touched."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--workspace", metavar="SLUG", help="only this one (default: all)")

    def handle(self, *, workspace: str | None, **_: Any) -> None:
        for selected in select_workspaces(workspace):
            count = rebuild_projections(selected.pk)
            self.stdout.write(f"{selected.slug}: {count} entries rebuilt")
