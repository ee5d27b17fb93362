"""Export trace entries to standard output, or as git notes of a repository's commits."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from traces.entries.filters import TraceFilter, filter_traces
from traces.errors import RepositoryError
from traces.interchange.export import stream_agent_trace, stream_orchestration
from traces.interchange.repository import NOTES_REF, Repository, write_notes
from traces.management.workspace_argument import select_workspaces


class Command(BaseCommand):
    help = "Write trace entries, oldest first, to standard output, or as notes of the commits they name."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--workspace", required=True, metavar="SLUG")
        parser.add_argument("--format", choices=("orchestration", "agent-trace"), default="orchestration")
        parser.add_argument("--repository", type=Path, metavar="PATH", help="Write Agent Trace notes there.")
        parser.add_argument("--ref", default=NOTES_REF, help="The ref of the notes (default: %(default)s).")

    def handle(self, *, workspace: str, repository: Path | None, ref: str, **options: Any) -> None:
        [selected] = select_workspaces(workspace)
        if repository:
            self._note(selected.pk, repository, ref)
            return
        rows = filter_traces(selected.pk, TraceFilter())
        agent_trace = options["format"] == "agent-trace"
        for line in stream_agent_trace(rows, selected.pk) if agent_trace else stream_orchestration(rows):
            sys.stdout.buffer.write(line)

    def _note(self, workspace_id: int, path: Path, ref: str) -> None:
        try:
            written = write_notes(Repository(path), ref, workspace_id)
        except (RepositoryError, OSError) as error:
            raise CommandError(f"{path}: {error}") from error
        self.stdout.write(f"{written} notes written under {ref}.")
