"""Traces that a git repository on disk carries: its `.agent-trace/` folder and the notes of its commits.

Everything read here was written by others: files are never followed through links, and git runs without
the repository's hooks or programs, only to list and read objects, or to write notes when asked to.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from traces.entries.deduplicate import Submitted, field_errors
from traces.interchange.export import json_line
from traces.interchange.formats import git_ai
from traces.interchange.formats.agent_trace import to_record
from traces.interchange.formats.json_lines import MAX_LINE_LENGTH
from traces.interchange.imports.prepare import entries_of
from traces.interchange.imports.report import ImportReport, Remark
from traces.ledger import canonical_json
from traces.ledger.append import body_of
from traces.ledger.checkpoints import origin_of
from traces.models import Kind, LedgerEntry
from traces.safe_git import GIT, git_environment

FOLDER = ".agent-trace"
NOTES = "refs/notes/agent-trace"
GIT_AI_NOTES = "refs/notes/ai"
SUFFIXES = (".json", ".jsonl")
WRITER = (
    "-c",
    "user.name=Intent Control Plane",
    "-c",
    "user.email=icp@localhost",
    "-c",
    "commit.gpgSign=false",
)


class RepositoryError(Exception):
    """What git said, for whoever runs the command."""


@dataclass(frozen=True, slots=True)
class Repository:
    path: Path

    def git(self, *words: str, given: bytes | None = None) -> bytes:
        done = subprocess.run(  # noqa: S603 - fixed program; refs and commits were checked by git itself
            [*GIT, "-C", str(self.path), *words],
            input=given if given is not None else b"",
            capture_output=True,
            env=git_environment(),
            check=False,
        )
        if done.returncode:
            raise RepositoryError(done.stderr.decode("utf-8", "replace").strip() or f"git {words[0]} failed")
        return done.stdout

    def note_refs(self) -> list[str]:
        """Those of the two known refs that are there."""
        told = self.git("for-each-ref", "--format=%(refname)", NOTES, GIT_AI_NOTES).decode()
        return [ref for ref in told.split("\n") if ref]

    def named_refs(self, refs: Sequence[str]) -> Sequence[str]:
        """The refs. Raises RepositoryError where one is not there: a misspelt name reads nothing."""
        for ref in refs:
            if not self.has(ref):
                raise RepositoryError(f"it has no {ref} (a whole name, such as {NOTES})")
        return refs

    def has(self, ref: str) -> bool:
        return bool(self.git("for-each-ref", "--format=%(refname)", ref))

    def notes(self, ref: str) -> Iterator[tuple[str, bytes]]:
        """(commit, note), by commit. A note of any size is read whole, one at a time."""
        listed = self.git("notes", f"--ref={ref}", "list").decode().split()
        for blob, commit in sorted(zip(listed[::2], listed[1::2], strict=True), key=lambda pair: pair[1]):
            yield commit, self.git("cat-file", "blob", blob)

    def committed_at(self, commit: str) -> str:
        """RFC 3339. Raises RepositoryError for what is no commit of this repository."""
        return self.git("show", "-s", "--format=%cI", f"{commit}^{{commit}}").decode().strip()


def entries_in_folder(repository: Repository, report: ImportReport, *, lenient: bool) -> Iterator[Submitted]:
    """The entries of all JSON files below `.agent-trace/`, by path."""
    root = repository.path / FOLDER
    for folder, folders, files in os.walk(root, followlinks=False):
        folders.sort()
        for name in sorted(files):
            file = Path(folder) / name
            if file.suffix in SUFFIXES and file.is_file() and not file.is_symlink():
                found = ImportReport()
                with file.open("rb") as opened:
                    yield from entries_of(opened.read, lenient or file.suffix == ".json", found)
                _move(found, report, str(file.relative_to(repository.path)))


def entries_in_notes(repository: Repository, ref: str, report: ImportReport) -> Iterator[Submitted]:
    """The entries of a ref's notes, git-ai's or Agent Trace records. What cannot be read is a warning."""
    for commit, note in repository.notes(ref):
        found = ImportReport()
        if len(note) > MAX_LINE_LENGTH:
            found.warn(Remark("LINE_TOO_LONG", "A note of more than 1 MiB was left out."))
        elif note.lstrip().startswith((b"{", b"[")):
            yield from (_at(commit, entry) for entry in entries_of(_once(note), True, found))
        else:
            yield from _authorship(repository, commit, note, found)
        _move(found, report, f"{ref} {commit}")


def write_notes(repository: Repository, ref: str, workspace_id: int) -> int:
    """Write the records of every commit of the repository as its note; the number of notes written.

    What others wrote into a note stays, and a record is never written twice. Entries that name no whole
    commit, or one that is not there, are left out. 1 query.
    """
    log, written = origin_of(workspace_id), 0
    rows = LedgerEntry.objects.for_workspace(workspace_id).of_kind(Kind.TRACE).filter(trace__isnull=False)
    rows = rows.exclude(trace__revision_id="").select_related("body", "trace")
    ordered = rows.order_by("trace__revision_id", "pk").iterator(chunk_size=500)
    there = dict(repository.notes(ref)) if repository.has(ref) else {}
    for commit, entries in groupby(ordered, key=lambda row: row.trace.revision_id):
        records = [to_record(body, log) for row in entries if (body := body_of(row)) is not None]
        if not _is_commit(repository, commit):
            continue
        before = there.get(commit, b"")
        fresh = [line for record in records if (line := json_line(record)) not in _lines(before)]
        if fresh:
            _write(repository, ref, commit, before, fresh)
            written += 1
    return written


def _write(repository: Repository, ref: str, commit: str, before: bytes, fresh: list[bytes]) -> None:
    joined = before + (b"" if not before or before.endswith(b"\n") else b"\n") + b"".join(fresh)
    words = ("notes", f"--ref={ref}", "add", "--force", "--file=-", commit)
    repository.git(*WRITER, *words, given=joined)


def _lines(note: bytes) -> frozenset[bytes]:
    return frozenset(line + b"\n" for line in note.split(b"\n"))


def _is_commit(repository: Repository, revision: str) -> bool:
    if len(revision) not in {40, 64} or not set(revision) <= set("0123456789abcdef"):
        return False
    try:
        repository.git("cat-file", "-e", f"{revision}^{{commit}}")
    except RepositoryError:
        return False
    return True


def _at(commit: str, entry: Submitted) -> Submitted:
    """An Agent Trace record that names no revision belongs to the commit that it is a note of."""
    if (entry.value.get("vcs") or {}).get("revision_id"):
        return entry
    return Submitted(entry.value | {"vcs": {"type": "git", "revision_id": commit}}, entry.line)


def _authorship(repository: Repository, commit: str, note: bytes, found: ImportReport) -> Iterator[Submitted]:
    try:
        entry = Submitted(git_ai.to_entry(note.decode(), commit, repository.committed_at(commit)))
        canonical_json.check(entry.value)
    except (ValueError, RepositoryError) as error:
        found.warn(Remark("INVALID_NOTE", f"It was left out: {error}."))
        return
    errors = field_errors(entry)
    for error_found in errors:
        found.warn(Remark("INVALID_NOTE", f"It was left out: {error_found.message}."))
    if not errors:
        yield entry


def _once(raw: bytes) -> Any:
    parts = iter([raw])
    return lambda _size: next(parts, b"")


def _move(found: ImportReport, report: ImportReport, where: str) -> None:
    """Into the report of the whole, with the name of the part."""
    for remarks, add in ((found.errors, report.error), (found.warnings, report.warn)):
        for remark in remarks:
            add(replace(remark, message=f"{where}: {remark.message}"))


def entries_in(
    repository: Repository, refs: Iterable[str], report: ImportReport, *, folder: bool, lenient: bool
) -> Iterator[Submitted]:
    """All that was asked for: the folder, then the refs."""
    if folder:
        yield from entries_in_folder(repository, report, lenient=lenient)
    for ref in refs:
        yield from entries_in_notes(repository, ref, report)
