"""Write old entries of a ledger to a signed file, and delete their bodies with --release."""

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
    help = "Archive the oldest entries of a ledger. The file is verified before anything is deleted."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--workspace", metavar="SLUG", required=True)
        parser.add_argument(
            "--before",
            type=_parse_bound,
            required=True,
            help="entries received before this: 2026-01-31, a time with its zone, 90d (days ago), "
            "or a number of entries from the first",
        )
        parser.add_argument(
            "--to", metavar="DIR", type=Path, required=True, help="the directory of the archives"
        )
        parser.add_argument(
            "--every-entry",
            action="store_true",
            help="also those that do not fill a tile of 256 entries: for a small ledger, or the end of one",
        )
        parser.add_argument(
            "--release", action="store_true", help="delete the bodies that archives in DIR hold"
        )
        parser.add_argument(
            "--renew", action="store_true", help="rewrite archives in DIR without what was redacted since"
        )

    def handle(
        self, *, workspace: str, before: datetime | int, to: Path, release: bool, renew: bool, **options: Any
    ) -> None:
        (selected,) = select_workspaces(workspace)
        if not to.is_dir():
            raise CommandError(f"{to} is not a directory. Create it first.")
        try:
            self._archive(selected, before, to, full_tiles=not options["every_entry"])
            if renew:
                self._renew(selected, to)
            if release:
                self._release(selected, to)
        except (OSError, ArchiveError) as error:
            raise CommandError(
                f"Stopped; no body was deleted that is not in a verified archive: {error}"
            ) from error

    def _archive(self, workspace: Workspace, before: datetime | int, to: Path, *, full_tiles: bool) -> None:
        end = before if isinstance(before, int) else archive.count_entries_before(workspace.pk, before)
        create = archive.create_archive if full_tiles else archive.create_exact_archive
        created = create(workspace.pk, workspace.slug, end, to, actor=ACTOR)
        if created is None:
            self.stdout.write(f"{workspace.slug}: no {'full tile' if full_tiles else 'entry'} to archive")
        else:
            self.stdout.write(
                f"{workspace.slug}: entries {created.first_seq} to {created.end_seq - 1} in {created.name}"
            )

    def _renew(self, workspace: Workspace, to: Path) -> None:
        for old in archive.list_newest_archives(workspace.pk):
            created = archive.rewrite_archive(old, to / old.name, actor=ACTOR)
            if created is not None:
                self.stdout.write(f"{workspace.slug}: {created.name} replaces {old.name}; delete that file")

    def _release(self, workspace: Workspace, to: Path) -> None:
        for candidate in archive.list_unreleased_archives(workspace.pk):
            deleted = archive.release_bodies(candidate, to / candidate.name, actor=ACTOR)
            self.stdout.write(f"{workspace.slug}: deleted {deleted} bodies, archived in {candidate.name}")


def _parse_bound(text: str) -> datetime | int:
    """Parse a time, or a number of entries."""
    if days := DAYS.fullmatch(text):
        return timezone.now() - timedelta(days=int(days[1]))
    if COUNT.fullmatch(text):
        return int(text)
    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        raise ArgumentTypeError(
            f"{text!r} is not a date, a number of days (90d) or a number of entries"
        ) from error
    return time if time.tzinfo else time.replace(tzinfo=UTC)
