"""Import trace entries from a file or a git repository, in chunks that survive an interruption."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, BinaryIO

from django.core.management.base import BaseCommand, CommandError

from traces.entries.mutation_class_check import RESERVED_REASONS
from traces.errors import RepositoryError, WorkerStoppedError
from traces.interchange.formats import foreign_chain
from traces.interchange.imports import rewrite_check
from traces.interchange.imports.import_file import TraceImportOptions, check_file, import_entries, import_file
from traces.interchange.imports.report import ImportReport
from traces.interchange.imports.rewrite_check import MAX_SOURCE_LENGTH
from traces.interchange.repository import (
    GIT_AI_NOTES_REF,
    NOTES_REF,
    TRACE_DIRECTORY,
    Repository,
    read_repository,
)
from traces.ledger import sealing
from traces.management.error_text import describe_error
from traces.management.progress import Progress
from traces.management.workspace_argument import select_workspaces

COMMIT_EVERY = 20 * sealing.BATCH_SIZE  # about a second, in which nobody else can write to SQLite
REWRITTEN, LEFT_OUT = 3, 4  # exit status
MAX_SHOWN = 20


class Command(BaseCommand):
    help = (
        "Import agent_trace.jsonl, Agent Trace records, or what a git repository carries of them and of "
        "git-ai. An invalid file changes nothing (exit status 1); one whose past was rewritten is "
        "distinguished from one that has grown, and both versions are kept (exit status 3). Of a "
        "repository, what cannot be read is counted (exit status 4). Started again after "
        "an interruption, it continues where it stopped."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", nargs="?", help="The file, or - for standard input.")
        parser.add_argument("--repository", type=Path, metavar="PATH", help="Read a git repository instead.")
        parser.add_argument(
            "--ref",
            action="append",
            help=f"Only these notes (default: {TRACE_DIRECTORY}/, {NOTES_REF} and {GIT_AI_NOTES_REF}).",
        )
        parser.add_argument("--workspace", required=True, metavar="SLUG")
        parser.add_argument("--source", help="What to remember the file as (default: its name).")
        parser.add_argument("--lenient", action="store_true", help="Recover what can be recovered.")
        parser.add_argument("--dry-run", action="store_true", help="Report only.")
        parser.add_argument("--json", action="store_true", help="Print one JSON object.")

    def handle(self, *_: Any, **options: Any) -> None:
        if (options["file"] is None) is (options["repository"] is None):
            raise CommandError("Name a file, or a repository with --repository.")
        [workspace] = select_workspaces(options["workspace"])
        name = options["file"] or f"repository {options['repository'].resolve().name}"
        import_options = TraceImportOptions(
            workspace.pk,
            "command import_traces",
            lenient=options["lenient"],
            dry_run=options["dry_run"],
            source=_validate_source(options["source"] or Path(name).name),
            commit_every=COMMIT_EVERY,
            is_ordered=options["repository"] is None,
            use_worker=True,
        )
        if options["repository"]:
            report = _import_repository(options["repository"], options["ref"], import_options)
        else:
            report = _import_path(options["file"], import_options)
        self._print_report(report, import_options, as_json=options["json"])

    def _print_report(self, report: ImportReport, options: TraceImportOptions, *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps(report.to_dict(), ensure_ascii=False))
        else:
            for line in _format_report(report):
                self.stdout.write(line)
        if not report.is_valid:
            consequence = (
                f"{report.entries} entries before them were kept" if report.entries else "Nothing was changed"
            )
            advice = "" if options.lenient else " With --lenient, what can be recovered is."
            raise CommandError(f"{report.error_count} error(s). {consequence}.{advice}")
        if report.rewrite:
            raise CommandError(_describe_rewrite(options), returncode=REWRITTEN)
        if report.left_out:
            message = f"{report.left_out} parts of the repository are not in the ledger: see the warnings."
            raise CommandError(message, returncode=LEFT_OUT)


def _import_path(name: str, options: TraceImportOptions) -> ImportReport:
    """Import a file. A file on disk is validated first; a stream is stored in one transaction."""
    try:
        if name == "-":
            return import_file(sys.stdin.buffer.read, options.in_one_commit())
        with Path(name).open("rb") as file:
            if not file.seekable():
                return import_file(file.read, options.in_one_commit())
            if not (options.lenient or options.dry_run):
                check = check_file(_with_progress(file, "checking").read, options)
                if not check.is_valid:
                    return check
                file.seek(0)
            return import_file(_with_progress(file, "importing").read, options)
    except OSError as error:
        raise CommandError(f"{name} cannot be read: {describe_error(error)}.") from error
    except WorkerStoppedError as error:
        raise CommandError(f"{error} Started again, the import continues where it stopped.") from error


def _describe_rewrite(options: TraceImportOptions) -> str:
    """Describe a rewritten history, which may also be another file of the same name."""
    message = (
        f"The file's past was rewritten since {options.source} was imported before; both versions are kept."
    )
    return f"{message} If it is another file, give it a name of its own with --source."


def _import_repository(path: Path, refs: list[str] | None, options: TraceImportOptions) -> ImportReport:
    repository = Repository(path)
    try:
        selected_refs = repository.require_refs(refs) if refs else repository.list_note_refs()
        return import_entries(
            lambda report: read_repository(
                repository, selected_refs, report, include_directory=not refs, lenient=options.lenient
            ),
            options.in_one_commit(),
        )
    except (RepositoryError, OSError) as error:
        raise CommandError(f"{path}: {error}") from error


def _with_progress(file: BinaryIO, label: str) -> Progress:
    return Progress(file, label, Path(file.name).stat().st_size, sys.stderr)


def _validate_source(name: str) -> str:
    if len(name) > MAX_SOURCE_LENGTH or not name.isprintable():
        raise CommandError(f"A source has at most {MAX_SOURCE_LENGTH} printable characters.")
    if name in RESERVED_REASONS:
        raise CommandError(f"{name} is a word of the ledger's own: name the source by --source.")
    return name


def _format_report(report: ImportReport) -> list[str]:
    lines = [
        f"{severity:8}{f'line {remark.line}' if remark.line else '':12}{remark.type:24}{remark.message}"
        for severity, remarks in (("error", report.errors), ("warning", report.warnings))
        for remark in remarks
    ]
    if report.foreign_chain:
        lines.append(foreign_chain.describe_chain(report.foreign_chain))
    if report.rewrite:
        answer = report.rewrite.to_dict()
        lines.append(rewrite_check.describe_rewrite(answer))
        lines += [f"{sort:12}{', '.join(of['ids'][:MAX_SHOWN])}" for sort, of in answer.items() if of["ids"]]
    hidden = report.warning_count - len(report.warnings)
    if hidden:
        lines.append(f"{hidden} more warnings.")
    if report.absent_revisions:
        lines.append(f"{report.absent_revisions} of a revision that is not in the repository.")
    lines.append(f"{report.entries} new, {report.duplicates} known before.")
    return lines
