"""Read the traces of a git repository on disk: its `.agent-trace/` directories and the notes of its commits.

Everything read here was written by others: links are never followed, and git runs without the repository's
hooks or programs, only to list and read objects, or to write notes when asked to.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from traces.entries.deduplicate import SubmittedEntry, validate_fields
from traces.errors import RepositoryError
from traces.interchange.export import encode_json_line
from traces.interchange.formats import git_ai
from traces.interchange.formats.agent_trace import to_record
from traces.interchange.imports.prepare import ReadFunction, read_entries
from traces.interchange.imports.report import ImportReport, Remark
from traces.ledger import canonical_json
from traces.ledger.append import read_body
from traces.ledger.log_name import log_origin
from traces.models import EntryKind, LedgerEntry
from traces.safe_git import GIT, git_environment

TRACE_DIRECTORY = ".agent-trace"
NOTES_REF = "refs/notes/agent-trace"
GIT_AI_NOTES_REF = "refs/notes/ai"
SUFFIXES = (".json", ".jsonl")
SIDECARS = frozenset({"prompts.jsonl", "ui-hooks.jsonl"})  # logs that stand beside traces
UNSEARCHED = frozenset({".git", "node_modules", ".venv"})
MAX_NOTE = 64 * 1024 * 1024
COMMITTER_OPTIONS = (
    "-c",
    "user.name=Intent Control Plane",
    "-c",
    "user.email=icp@localhost",
    "-c",
    "commit.gpgSign=false",
)


@dataclass(frozen=True, slots=True)
class Repository:
    path: Path

    def run_git(self, *arguments: str, stdin: bytes | None = None) -> bytes:
        completed = subprocess.run(  # noqa: S603 - fixed program; refs and commits were checked by git itself
            [*GIT, "-C", str(self.path), *arguments],
            input=stdin if stdin is not None else b"",
            capture_output=True,
            env=git_environment(),
            check=False,
        )
        if completed.returncode:
            raise RepositoryError(
                completed.stderr.decode("utf-8", "replace").strip() or f"git {arguments[0]} failed"
            )
        return completed.stdout

    def list_note_refs(self) -> list[str]:
        """Return which of the two known refs exist."""
        output = self.run_git("for-each-ref", "--format=%(refname)", NOTES_REF, GIT_AI_NOTES_REF).decode()
        return [ref for ref in output.split("\n") if ref]

    def require_refs(self, refs: Sequence[str]) -> Sequence[str]:
        """Return the refs. Raises RepositoryError for a missing one: a misspelt name would read nothing."""
        for ref in refs:
            if not self.has_ref(ref):
                raise RepositoryError(f"ref {ref} does not exist; give its full name, such as {NOTES_REF}")
        return refs

    def has_ref(self, ref: str) -> bool:
        return bool(self.run_git("for-each-ref", "--format=%(refname)", ref))

    def read_notes(self, ref: str) -> Iterator[tuple[str, bytes]]:
        """Yield (commit, note) by commit. Notes are read one at a time, whatever their size."""
        words = self.run_git("notes", f"--ref={ref}", "list").decode().split()
        for blob, commit in sorted(zip(words[::2], words[1::2], strict=True), key=lambda pair: pair[1]):
            yield commit, self.run_git("cat-file", "blob", blob)

    def find_commit_time(self, commit: str) -> str | None:
        """Return RFC 3339; None for a commit that is not there: squashed, rebased, or not fetched."""
        try:
            return self.run_git("show", "-s", "--format=%cI", f"{commit}^{{commit}}").decode().strip()
        except RepositoryError:
            return None

    def is_bare(self) -> bool:
        return self.run_git("rev-parse", "--is-bare-repository").strip() == b"true"

    def list_committed_files(self) -> Iterator[tuple[str, str]]:
        """Yield (path, blob) of the regular files of HEAD; none before the first commit."""
        if not self.run_git("for-each-ref", "--count=1"):
            return
        for line in self.run_git("ls-tree", "-r", "-z", "HEAD").split(b"\0"):
            details, _, path = line.partition(b"\t")
            if details.startswith(b"100"):
                yield path.decode("utf-8", "replace"), details.split()[2].decode()


def read_trace_directories(
    repository: Repository, report: ImportReport, *, lenient: bool
) -> Iterator[SubmittedEntry]:
    """Yield the entries of the JSON files below each `.agent-trace/`, of a bare repository those in HEAD."""
    files = _list_committed_traces(repository) if repository.is_bare() else _list_trace_files(repository)
    for name, read in files:
        file_report = ImportReport()
        if Path(name).name in SIDECARS:
            file_report.warn(Remark("SIDECAR_LEFT_OUT", "Skipped: a log of prompts or pages, no traces."))
        else:
            yield from read_entries(read, lenient or name.endswith(".json"), file_report)
        _merge_report(file_report, report, name)


def _list_trace_files(repository: Repository) -> Iterator[tuple[str, ReadFunction]]:
    """Yield (name, how to read it) of the files in the worktree, by path."""
    for directory, subdirectories, files in os.walk(repository.path, followlinks=False):
        subdirectories[:] = sorted(set(subdirectories) - UNSEARCHED)
        for name in sorted(files):
            file = (Path(directory) / name).relative_to(repository.path)
            path = repository.path / file
            if _is_trace_file(file) and path.is_file() and not path.is_symlink():
                with path.open("rb") as stream:
                    yield str(file), stream.read


def _list_committed_traces(repository: Repository) -> Iterator[tuple[str, ReadFunction]]:
    for name, blob in repository.list_committed_files():
        if _is_trace_file(Path(name)):
            yield name, _make_reader(repository.run_git("cat-file", "blob", blob))


def _is_trace_file(file: Path) -> bool:
    return file.suffix in SUFFIXES and TRACE_DIRECTORY in file.parts[:-1]


def read_note_entries(repository: Repository, ref: str, report: ImportReport) -> Iterator[SubmittedEntry]:
    """Yield the entries of a ref's notes, git-ai's or Agent Trace records. Unreadable notes are warnings."""
    for commit, note in repository.read_notes(ref):
        note_report = ImportReport()
        if len(note) > MAX_NOTE:
            note_report.leave_out(Remark("NOTE_TOO_LARGE", "Skipped a note larger than 64 MiB."))
        elif note.lstrip().startswith((b"{", b"[")):
            yield from (
                _with_revision(commit, entry) for entry in read_entries(_make_reader(note), True, note_report)
            )
        else:
            yield from _read_authorship_log(repository, commit, note, note_report)
        _merge_report(note_report, report, f"{ref} {commit}")


def write_notes(repository: Repository, ref: str, workspace_id: int) -> int:
    """Write the records of every commit of the repository as its note; return the number of notes written.

    Notes of others are preserved, and no record is written twice. Entries without a full commit hash, or with
    one that does not exist, are skipped. 1 query.
    """
    log, written = log_origin(workspace_id), 0
    rows = (
        LedgerEntry.objects.for_workspace(workspace_id).of_kind(EntryKind.TRACE).filter(trace__isnull=False)
    )
    rows = rows.exclude(trace__revision_id="").select_related("body", "trace")
    ordered = rows.order_by("trace__revision_id", "pk").iterator(chunk_size=500)
    existing = dict(repository.read_notes(ref)) if repository.has_ref(ref) else {}
    for commit, entries in groupby(ordered, key=lambda row: row.trace.revision_id):
        records = [to_record(body, log) for row in entries if (body := read_body(row)) is not None]
        if not _is_commit(repository, commit):
            continue
        previous = existing.get(commit, b"")
        new_lines = [
            line for record in records if (line := encode_json_line(record)) not in _split_lines(previous)
        ]
        if new_lines:
            _write_note(repository, ref, commit, previous, new_lines)
            written += 1
    return written


def _write_note(
    repository: Repository, ref: str, commit: str, previous: bytes, new_lines: list[bytes]
) -> None:
    content = previous + (b"" if not previous or previous.endswith(b"\n") else b"\n") + b"".join(new_lines)
    arguments = ("notes", f"--ref={ref}", "add", "--force", "--file=-", commit)
    repository.run_git(*COMMITTER_OPTIONS, *arguments, stdin=content)


def _split_lines(note: bytes) -> frozenset[bytes]:
    return frozenset(line + b"\n" for line in note.split(b"\n"))


def _is_commit(repository: Repository, revision: str) -> bool:
    if len(revision) not in {40, 64} or not set(revision) <= set("0123456789abcdef"):
        return False
    try:
        repository.run_git("cat-file", "-e", f"{revision}^{{commit}}")
    except RepositoryError:
        return False
    return True


def _with_revision(commit: str, entry: SubmittedEntry) -> SubmittedEntry:
    """Return the entry; one without a revision belongs to the commit that its note is attached to."""
    if (entry.value.get("vcs") or {}).get("revision_id"):
        return entry
    return SubmittedEntry(entry.value | {"vcs": {"type": "git", "revision_id": commit}}, entry.line)


def _read_authorship_log(
    repository: Repository, commit: str, note: bytes, report: ImportReport
) -> Iterator[SubmittedEntry]:
    committed_at = repository.find_commit_time(commit)
    try:
        entry = SubmittedEntry(git_ai.to_entry(note.decode(), commit, committed_at))
        canonical_json.check(entry.value)
    except ValueError as error:
        report.leave_out(Remark("INVALID_NOTE", f"Skipped: {error}."))
        return
    errors = validate_fields(entry)
    if errors:
        report.leave_out(Remark("INVALID_NOTE", f"Skipped: {errors[0].message}."))
        return
    report.absent_revisions += committed_at is None
    yield entry


def _make_reader(raw: bytes) -> ReadFunction:
    parts = iter([raw])
    return lambda _size: next(parts, b"")


def _merge_report(part: ImportReport, report: ImportReport, origin: str) -> None:
    """Add the remarks of one part to the report, with the name of the part."""
    for remarks, add in ((part.errors, report.error), (part.warnings, report.warn)):
        for remark in remarks:
            add(replace(remark, message=f"{origin}: {remark.message}"))
    report.absent_revisions += part.absent_revisions
    report.left_out += part.left_out


def read_repository(
    repository: Repository,
    refs: Iterable[str],
    report: ImportReport,
    *,
    include_directory: bool,
    lenient: bool,
) -> Iterator[SubmittedEntry]:
    """Yield everything requested: the directories, then the refs."""
    if include_directory:
        yield from read_trace_directories(repository, report, lenient=lenient)
    for ref in refs:
        yield from read_note_entries(repository, ref, report)
