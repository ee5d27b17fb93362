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
        parser.add_argument(
            "--mode", choices=IMPORT_MODES, default="merge",
            help="merge adds and changes; replace also deletes intents missing from the file.",
        )  # fmt: skip
        parser.add_argument("--lenient", action="store_true", help="Fix common mistakes and list every fix.")
        parser.add_argument("--dry-run", action="store_true", help="Report and plan only.")
        parser.add_argument("--json", action="store_true", help="Print one JSON object.")

    def handle(self, *_: Any, **options: Any) -> None:
        workspace = find_workspace(options["workspace"])
        import_options = ImportOptions(options["mode"], lenient=options["lenient"])
        data = _read_file(options["file"])
        if options["dry_run"]:
            result = preview_import(workspace.pk, data, import_options)
        else:
            result = import_registry(workspace, data, import_options, actor="command import_intents")
        if options["json"]:
            self.stdout.write(json.dumps(_to_json(result), ensure_ascii=False))
        else:
            self._print(result)
        if not result.report.valid:
            raise CommandError(f"{len(result.report.errors)} error(s). Nothing was changed.")

    def _print(self, result: ImportResult) -> None:
        for label, diagnostics in (("error", result.report.errors), ("warning", result.report.warnings)):
            for item in diagnostics:
                self.stdout.write(f"{label:8}{_locate(item):12}{item.type:28}{item.message}")
        plan = result.plan
        for label, changes in (("add", plan.added), ("change", plan.changed), ("remove", plan.removed)):
            for change in changes:
                self.stdout.write(f"{label:8}{change.intent_id:12}{', '.join(change.fields)}".rstrip())
        if result.report.valid:
            outcome = "imported" if result.applied else "nothing was changed (dry run)"
            counts = f"{len(plan.added)} to add, {len(plan.changed)} to change, {len(plan.removed)} to remove"
            self.stdout.write(f"{counts}, {len(plan.unchanged)} unchanged: {outcome}.")


def _read_file(name: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise CommandError(f"{name} cannot be read: {error.strerror}.") from error


def _locate(diagnostic: Diagnostic) -> str:
    return f"line {diagnostic.line}" if diagnostic.line else diagnostic.intent_id or ""


def _to_json(result: ImportResult) -> dict[str, Any]:
    details = {"mode": result.options.mode, "applied": result.applied, "plan": result.plan.to_json()}
    return result.report.to_json() | details
