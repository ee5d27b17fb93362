"""Write a bundle of evidence: entries with what proves them, and the program that checks it."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.http import QueryDict
from django.utils import timezone

from traces.browser.export import stream_evidence
from traces.browser.filters import parse_filters
from traces.errors import EvidenceError
from traces.evidence.bundle import EvidenceRequest
from traces.management.workspace_argument import select_workspaces


class Command(BaseCommand):
    help = "Write a zip with entries, their proofs, the signed head and the stand-alone verifier."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="a new file")
        parser.add_argument("--workspace", required=True, metavar="SLUG")
        parser.add_argument(
            "--query", default="", metavar="QUERY", help="as in the address of the page of traces"
        )
        parser.add_argument(
            "--from",
            type=int,
            dest="old_size",
            metavar="SIZE",
            help="prove that it continues a head of SIZE",
        )

    def handle(self, *, file: Path, workspace: str, query: str, old_size: int | None, **_: Any) -> None:
        [selected] = select_workspaces(workspace)
        filters = parse_filters(QueryDict(query.removeprefix("?")), timezone.now())
        if filters.errors:
            raise CommandError(filters.errors[0])
        request = EvidenceRequest(filters.to_query_string(), old_size=old_size)
        try:
            parts = stream_evidence(selected.pk, filters, request)
            with file.open("xb") as target:
                target.writelines(parts)
        except (EvidenceError, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{file}: check it with `python3 verify.py bundle {file.name} --key KEY`.")
