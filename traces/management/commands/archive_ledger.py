"""Write old entries of a ledger into a signed file, and let go of their bodies when asked to."""

from __future__ import annotations

import re
from argparse import ArgumentParser, ArgumentTypeError
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from controlplane.models import Workspace
from traces.archives import archive
from traces.archives.archive_format import ArchiveError
from traces.management.workspace_argument import select_workspaces

ACTOR = "command:archive_ledger"
DAYS = re.compile(r"(\d{1,5})d")
COUNT = re.compile(r"\d{1,15}")


class Command(BaseCommand):
    help = "Archive whole tiles (256 entries) of a ledger; the file is verified before anything else happens."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--workspace", metavar="SLUG", required=True)
        parser.add_argument(
            "--before",
            type=_parse_bound,
            required=True,
            help="what was received before this: 2026-01-31, a moment with its zone, 90d (days ago), "
            "or a number of entries from the first",
        )
        parser.add_argument(
            "--to", metavar="DIR", type=Path, required=True, help="the folder of the archives"
        )
        parser.add_argument(
            "--release", action="store_true", help="delete the bodies that archives in DIR hold"
        )
        parser.add_argument(
            "--renew", action="store_true", help="write archives in DIR anew without what was redacted since"
        )

    def handle(
        self, *, workspace: str, before: datetime | int, to: Path, release: bool, renew: bool, **_: Any
    ) -> None:
        (chosen,) = select_workspaces(workspace)
        if not to.is_dir():
            raise CommandError(f"{to} is no folder. Make it first.")
        try:
            self._archive(chosen, before, to)
            if renew:
                self._renew(chosen, to)
            if release:
                self._release(chosen, to)
        except (OSError, ArchiveError) as error:
            raise CommandError(f"Nothing was let go of that is not safe: {error}") from error

    def _archive(self, workspace: Workspace, before: datetime | int, to: Path) -> None:
        end = before if isinstance(before, int) else archive.count_entries_before(workspace.pk, before)
        created = archive.create_archive(workspace.pk, workspace.slug, end, to, actor=ACTOR)
        if created is None:
            self.stdout.write(f"{workspace.slug}: no whole tile to archive")
        else:
            self.stdout.write(
                f"{workspace.slug}: entries {created.first_seq} to {created.end_seq - 1} in {created.name}"
            )

    def _renew(self, workspace: Workspace, to: Path) -> None:
        for old in archive.list_newest_archives(workspace.pk):
            created = archive.rewrite_archive(old, to / old.name, actor=ACTOR)
            if created is not None:
                self.stdout.write(
                    f"{workspace.slug}: {created.name} replaces {old.name}, which you should destroy"
                )

    def _release(self, workspace: Workspace, to: Path) -> None:
        for candidate in archive.list_unreleased_archives(workspace.pk):
            deleted = archive.release_bodies(candidate, to / candidate.name, actor=ACTOR)
            self.stdout.write(f"{workspace.slug}: let go of {deleted} bodies, archived in {candidate.name}")


def _parse_bound(text: str) -> datetime | int:
    """A moment, or a number of entries."""
    if days := DAYS.fullmatch(text):
        return timezone.now() - timedelta(days=int(days[1]))
    if COUNT.fullmatch(text):
        return int(text)
    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} is no date, number of days (90d) or of entries") from error
    return time if time.tzinfo else time.replace(tzinfo=UTC)
