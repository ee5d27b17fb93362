"""Import an active_intents.yaml into a workspace."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from intents.file_format.report import Diagnostic
from intents.management.workspaces import find_workspace
from intents.registry_file.import_export import (
    IMPORT_MODES,
    ImportOptions,
    ImportResult,
    import_registry,
    preview_import,
)


class Command(BaseCommand):
    help = (
        "Import active_intents.yaml: report, plan, result. An invalid file changes nothing (exit status 1)."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", help="The file, or - for standard input.")
        parser.add_argument("--workspace", required=True, metavar="SLUG")
        parser.add_argument("--mode", choices=IMPORT_MODES, default="merge", help="replace also removes.")
        parser.add_argument("--lenient", action="store_true", help="Repair what real files hold.")
        parser.add_argument("--dry-run", action="store_true", help="Report and plan only.")
        parser.add_argument("--json", action="store_true", help="Print one JSON object.")

    def handle(self, *_: Any, **options: Any) -> None:
        workspace = find_workspace(options["workspace"])
        how = ImportOptions(options["mode"], lenient=options["lenient"])
        data = _read(options["file"])
        if options["dry_run"]:
            found = preview_import(workspace.pk, data, how)
        else:
            found = import_registry(workspace, data, how, actor="command import_intents")
        if options["json"]:
            self.stdout.write(json.dumps(_facts(found), ensure_ascii=False))
        else:
            self._tell(found)
        if not found.report.valid:
            raise CommandError(f"{len(found.report.errors)} error(s). Nothing was changed.")

    def _tell(self, found: ImportResult) -> None:
        for word, problems in (("error", found.report.errors), ("warning", found.report.warnings)):
            for problem in problems:
                self.stdout.write(f"{word:8}{_place(problem):12}{problem.type:28}{problem.message}")
        plan = found.plan
        for word, changes in (("add", plan.added), ("change", plan.changed), ("remove", plan.removed)):
            for change in changes:
                self.stdout.write(f"{word:8}{change.intent_id:12}{', '.join(change.fields)}".rstrip())
        if found.report.valid:
            done = "imported" if found.applied else "nothing was changed (dry run)"
            counts = f"{len(plan.added)} to add, {len(plan.changed)} to change, {len(plan.removed)} to remove"
            self.stdout.write(f"{counts}, {len(plan.unchanged)} unchanged: {done}.")


def _read(name: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise CommandError(f"{name} cannot be read: {error.strerror}.") from error


def _place(problem: Diagnostic) -> str:
    return f"line {problem.line}" if problem.line else problem.intent_id or ""


def _facts(found: ImportResult) -> dict[str, Any]:
    facts = {"mode": found.options.mode, "applied": found.applied, "plan": found.plan.to_json()}
    return found.report.to_json() | facts
