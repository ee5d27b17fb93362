"""Record trace entries: complete ones in batches, or one mutation as a hook reports it."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Generic

from django.db import IntegrityError, connection, transaction

from controlplane.shared.database.sqlite_lock import write_transaction
from traces.change_fields import LINE_CHANGES_FIELD, PREVIOUS_HASH_FIELD
from traces.entries.deduplicate import ConflictingEntry, EntryT, SubmittedEntry, classify_entries
from traces.entries.mutation_class_check import check_claimed_class
from traces.entries.projections import SealedRows, seal_rows, write_rows
from traces.entry_schema import (
    COMPUTED_CLASS_FIELD,
    DELETED,
    INTENT_TYPE,
    NEW_FIELD,
    SYMBOLS_FIELD,
    ParsedEntry,
    normalize_hash,
    parse_entry,
    to_canonical_path,
)
from traces.errors import DuplicateIdError, MutationFieldError
from traces.ledger import canonical_json
from traces.ledger.append import AppendedEntry, NewEntry, append, append_many, find_by_key, read_body
from traces.lessons.store import NewLesson, record_lesson
from traces.models import EntryKind, TraceFile
from traces.mutation_class.symbols import Symbol

GENERATED_FIELDS = ("id", "timestamp", "tool", COMPUTED_CLASS_FIELD)
GENERATED_FILE_FIELDS = (NEW_FIELD, SYMBOLS_FIELD, LINE_CHANGES_FIELD, PREVIOUS_HASH_FIELD)
MAX_PATHS = 500  # paths a query: SQLite allows a limited number of parameters
NEWEST_HASHES = f"""
    WITH wanted(path) AS (VALUES {{paths}})
    SELECT wanted.path, (
        SELECT CASE WHEN file.deleted THEN 'gone' ELSE file.content_hash END
        FROM {TraceFile._meta.db_table} file
        WHERE file.workspace_id = %s AND file.path = wanted.path
        ORDER BY file.imported, file.id DESC LIMIT 1
    ) FROM wanted
"""  # noqa: S608 - names of tables


@dataclass(frozen=True, slots=True)
class StoreResult:
    """How many of a batch are new or duplicates, and which conflict with recorded ones. `appended` lists the
    new ones, in order, unless they were written as a packed batch."""

    new: int
    duplicates: int
    conflicts: tuple[ConflictingEntry, ...]
    appended: tuple[AppendedEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class ClassifiedBatch(Generic[EntryT]):
    """A batch compared with the ledger. `renamed` are conflicting entries to store under alternate ids."""

    new: list[EntryT]
    renamed: list[SubmittedEntry]
    duplicates: int
    conflicts: tuple[ConflictingEntry, ...]


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """On whose behalf entries are stored. `source` names the file that an import reads.

    With `keep_conflicts` an entry that contradicts a stored one is stored too, under an alternate id.
    """

    actor: str
    imported: bool = False
    source: str = ""
    keep_conflicts: bool = False


@dataclass(frozen=True, slots=True)
class Mutation:
    """One change of one file, as an agent's hook reports it after a tool has run.

    Either `content` (the whole text afterwards) or `content_hash` (`DELETED` for a file that is gone).
    Lines are 1-based and inclusive; without them the whole of `content` is meant, and with a hash alone no
    range is claimed. `computed_class` is what
    the texts before and after say themselves, beside the agent's own `mutation_class`; `is_new_file` says
    that neither the ledger nor the disk knew the file before. `line_changes` are None where the text before
    is not known, and empty for a change that changed nothing.
    """

    path: str
    content: str | None = None
    content_hash: str | None = None
    start_line: int | None = None
    end_line: int | None = None
    mutation_class: str | None = None
    revision_id: str | None = None
    tool_use_id: str | None = None
    problems: str | None = None
    computed_class: str | None = None
    is_new_file: bool = False
    symbols: Sequence[Symbol] = ()
    line_changes: Sequence[dict[str, Any]] | None = None
    previous_hash: str = ""


@dataclass(frozen=True, slots=True)
class MutationAuthor:
    """On whose behalf a mutation is recorded."""

    session_id: str
    intent_id: str = ""
    agent: str = ""
    model: str = ""
    actor: str = ""
    agent_version: str = ""


@dataclass(frozen=True, slots=True)
class RecordedMutation:
    """`entry` is the trace entry in full; `new` is False when the same call was reported before."""

    id: int
    entry: dict[str, Any]
    received_at: datetime
    leaf_hash: bytes
    new: bool


def store_entries(workspace_id: int, batch: Sequence[SubmittedEntry], options: StoreOptions) -> StoreResult:
    """Append new entries, inside the caller's transaction. No id is stored twice.

    An id with the same content counts as a duplicate, with other content as a conflict. The caller decides
    whether a conflict undoes the rest.
    2 queries and 5 statements, whatever the size of the batch (up to a few hundred); 1 query more for
    conflicts that are stored.
    """
    classified = classify_batch(workspace_id, batch, options)
    new = [*classified.new, *classified.renamed]
    appended = _append_entries(workspace_id, new, options) if new else ()
    return StoreResult(len(new), classified.duplicates, classified.conflicts, appended)


def store_with_retry(store: Callable[[], StoreResult]) -> StoreResult:
    """Store; retry once when somebody else recorded one of the ids meanwhile, which is a duplicate then."""
    try:
        with transaction.atomic():
            return store()
    except IntegrityError:
        return store()


def classify_batch(
    workspace_id: int, batch: Sequence[EntryT], options: StoreOptions
) -> ClassifiedBatch[EntryT]:
    """Compare a batch with the ledger. 1 query, 1 more for conflicts that are stored."""
    new, duplicates, conflicts = classify_entries(workspace_id, batch)
    renamed: list[SubmittedEntry] = []
    if conflicts and options.keep_conflicts:
        renamed, known_renamed, _ = classify_entries(
            workspace_id, [conflict.to_renamed() for conflict in conflicts]
        )
        renamed_ids = {entry.entry_id for entry in renamed}
        conflicts = [replace(conflict, new=conflict.alternate_id in renamed_ids) for conflict in conflicts]
        duplicates += known_renamed
    return ClassifiedBatch(new, renamed, duplicates, tuple(conflicts))


def find_conflicts(workspace_id: int, batch: Sequence[SubmittedEntry]) -> list[ConflictingEntry]:
    """Return entries that contradict each other or recorded ones. 1 query; changes nothing."""
    return classify_entries(workspace_id, batch)[2]


def _append_entries(
    workspace_id: int, new: Sequence[SubmittedEntry], options: StoreOptions
) -> tuple[AppendedEntry, ...]:
    parsed_entries = [entry.parse() for entry in new]
    sealed_rows = [seal_rows(workspace_id, parsed, imported=options.imported) for parsed in parsed_entries]
    appended = append_many(
        to_ledger_entry(workspace_id, entry, parsed, sealed, options)
        for entry, parsed, sealed in zip(new, parsed_entries, sealed_rows, strict=True)
    )
    write_rows((entry.id, sealed.rows) for entry, sealed in zip(appended, sealed_rows, strict=True))
    return tuple(appended)


def record_mutation(workspace_id: int, mutation: Mutation, author: MutationAuthor) -> RecordedMutation:
    """Record one mutation as a trace entry, once for each (session, tool_use_id, path).

    `problems` become a lesson. Raise `MutationFieldError`, or `DuplicateIdError` when the same call was
    reported with other content.
    """
    entry = build_trace_entry(mutation, author)
    key = _build_call_key(mutation, author, entry)
    parsed = parse_entry(entry)
    with write_transaction():
        class_check = check_claimed_class(mutation.mutation_class, mutation.computed_class)
        sealed = seal_rows(workspace_id, parsed, imported=False)
        new = to_ledger_entry(workspace_id, SubmittedEntry(entry), parsed, sealed, StoreOptions(author.actor))
        appended = append(
            replace(new, idempotency_key=key, agent=author.agent or new.agent, reason=class_check)
        )
        if appended is None:
            return _find_earlier_report(workspace_id, key or "", entry)
        write_rows([(appended.id, sealed.rows)])
        if mutation.problems:
            file = entry["files"][0]["relative_path"]
            lesson = NewLesson(file, mutation.problems, None, author.session_id, author.intent_id)
            record_lesson(workspace_id, lesson, author.actor)
    return RecordedMutation(appended.id, entry, appended.received_at, appended.leaf_hash, new=True)


def build_trace_entry(mutation: Mutation, author: MutationAuthor) -> dict[str, Any]:
    """Return the trace entry for a mutation. Raise `MutationFieldError`."""
    try:
        path = to_canonical_path(mutation.path)
    except ValueError as error:
        raise MutationFieldError(f"path: {error}") from error
    content_hash, lines = _choose_content_hash(mutation), _choose_lines(mutation)
    conversation = _build_conversation(author, content_hash, lines)
    file = {"relative_path": path, "conversations": [conversation]} | _describe_file(mutation)
    if lines is None:
        file["content_hash"] = content_hash  # no range holds it
    entry: dict[str, Any] = {
        "id": str(uuid.uuid4()),
        "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "vcs": {"revision_id": mutation.revision_id},
        "files": [file],
    }
    if author.agent:
        entry["tool"] = {"name": author.agent} | (
            {"version": author.agent_version} if author.agent_version else {}
        )
    if mutation.mutation_class:
        entry["mutation_class"] = mutation.mutation_class
    if mutation.computed_class:
        entry[COMPUTED_CLASS_FIELD] = mutation.computed_class
    return entry


def _describe_file(mutation: Mutation) -> dict[str, Any]:
    symbols = [symbol._asdict() for symbol in mutation.symbols]
    fields = {
        NEW_FIELD: mutation.is_new_file or None,
        SYMBOLS_FIELD: symbols or None,
        LINE_CHANGES_FIELD: None if mutation.line_changes is None else list(mutation.line_changes),
        PREVIOUS_HASH_FIELD: mutation.previous_hash or None,
    }
    return {name: value for name, value in fields.items() if value is not None}


def find_newest_hashes(workspace_id: int, paths: Iterable[str]) -> dict[str, str]:
    """Return the newest known hash of each canonical path: "" for a deleted file, absent when not known.

    An entry that changed a file without giving its complete hash makes the hash unknown. Imported entries
    count only for files that nobody has reported live. 1 query for 500 paths.
    """
    unique_paths = list(dict.fromkeys(paths))
    hashes: dict[str, str] = {}
    for at in range(0, len(unique_paths), MAX_PATHS):
        hashes |= _find_newest_hashes(workspace_id, unique_paths[at : at + MAX_PATHS])
    return hashes


def _find_newest_hashes(workspace_id: int, paths: list[str]) -> dict[str, str]:
    values = ", ".join(["(%s)"] * len(paths))
    with connection.cursor() as cursor:
        cursor.execute(NEWEST_HASHES.replace("{paths}", values), [*paths, workspace_id])
        rows = cursor.fetchall()
    return {
        path: "" if content_hash == "gone" else content_hash for path, content_hash in rows if content_hash
    }


def to_ledger_entry(
    workspace_id: int, entry: SubmittedEntry, parsed: ParsedEntry, sealed: SealedRows, options: StoreOptions
) -> NewEntry:
    """Convert a parsed trace entry to a ledger entry that seals the digest of its rows."""
    return NewEntry(
        workspace_id=workspace_id,
        kind=EntryKind.TRACE,
        body=entry.value,
        encoded=entry.encoded,
        entry_id=entry.value["id"],
        session_id=parsed.session_id,
        intent_id=parsed.intent_id,
        outcome=parsed.mutation_class,
        agent=parsed.model,
        reason=options.source,
        actor=options.actor,
        rows_digest=sealed.digest,
        salt=sealed.body_salt,
    )


def _build_call_key(mutation: Mutation, author: MutationAuthor, entry: dict[str, Any]) -> str | None:
    if not mutation.tool_use_id:
        return None
    parts = [author.session_id, mutation.tool_use_id, entry["files"][0]["relative_path"]]
    return f"mutation:{hashlib.sha256(canonical_json.encode(parts)).hexdigest()}"


def _find_earlier_report(workspace_id: int, key: str, entry: dict[str, Any]) -> RecordedMutation:
    earlier = find_by_key(workspace_id, key)
    assert earlier is not None  # the append met it in this very transaction
    stored = read_body(earlier)
    if stored is not None and _to_reported(entry) != _to_reported(stored):
        text = "This tool_use_id was already reported for this path, with other content."
        raise DuplicateIdError(text, id=earlier.entry_id)
    return RecordedMutation(
        earlier.pk, stored or {}, earlier.received_at, bytes(earlier.leaf_hash), new=False
    )


def _to_reported(entry: dict[str, Any]) -> dict[str, Any]:
    """Return the entry without what the server generates, since that differs in every report."""
    files = [_without(file, GENERATED_FILE_FIELDS) for file in entry["files"]]
    return _without(entry, GENERATED_FIELDS) | {"files": files}


def _without(entry: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name not in names}


def _build_conversation(
    author: MutationAuthor, content_hash: str, lines: tuple[int, int] | None
) -> dict[str, Any]:
    """Return the conversation. A model or a range that is not known is absent, never made up."""
    related = [{"type": INTENT_TYPE, "value": author.intent_id}] if author.intent_id else []
    return {
        "url": author.session_id,
        "contributor": {"entity_type": "AI"} | ({"model_identifier": author.model} if author.model else {}),
        "ranges": [{"start_line": lines[0], "end_line": lines[1], "content_hash": content_hash}]
        if lines
        else [],
        "related": related,
    }


def _choose_content_hash(mutation: Mutation) -> str:
    if mutation.content is None:
        claimed = (mutation.content_hash or "").strip()
        content_hash = DELETED if claimed.upper() == DELETED else normalize_hash(claimed)
        if not content_hash:
            raise MutationFieldError(
                "Send content, or content_hash as sha256:… (DELETED for a deleted file)."
            )
        return content_hash
    computed = f"sha256:{hashlib.sha256(mutation.content.encode()).hexdigest()}"
    if mutation.content_hash and normalize_hash(mutation.content_hash) != computed:
        raise MutationFieldError(f"content_hash: does not match the content, which has {computed}.")
    return computed


def _choose_lines(mutation: Mutation) -> tuple[int, int] | None:
    """Return the first and last line, None where they are not known.

    A final line feed ends a line and begins none.
    """
    if mutation.content is None and mutation.start_line is None and mutation.end_line is None:
        return None
    line_count = 1
    if mutation.content is not None:
        line_count = max(1, mutation.content.count("\n") + (not mutation.content.endswith("\n")))
    start = mutation.start_line or 1
    end = mutation.end_line or max(start, line_count)
    if not 1 <= start <= end:
        raise MutationFieldError("end_line: lines count from 1, and end_line must not be before start_line.")
    return start, end
