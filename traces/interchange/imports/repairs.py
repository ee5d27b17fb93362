"""Repair records of real ledgers into entries; every change is a remark, the original is stored.

Field names are tables: what files of some fifty repositories used; the first that is present counts. A record
that needs no repair stays as it is; a repaired one carries the complete original under `original`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from traces.entry_schema import (
    INTENT_TYPE,
    find_field_errors,
    normalize_hash,
    parse_entry,
    parse_timestamp,
    to_canonical_path,
)
from traces.ledger import canonical_json

ID_FIELDS = ("id", "trace_id", "req_id", "call_id")
TIME_FIELDS = ("timestamp", "ts", "time", "created_at")
CLASS_FIELDS = ("mutation_class", "mutationClass", "classification")
INTENT_FIELDS = ("intent_id", "intentId", "active_intent_id", "spec_id")
PATH_FIELDS = (
    "relative_path", "relativePath", "relative_file_path", "relativeFilePath", "path", "file", "filePath",
    "file_path", "target_file", "targetFile",
)  # fmt: skip
PATH_LIST_FIELDS = ("files", "target_files", "targetFiles", "affected_files", "affectedFiles")
HASH_FIELDS = ("content_hash", "contentHash", "sha256", "hash", "after_hash")
PARTIAL_HASH_FIELDS = ("partial_hash", "partialHash")  # of nobody knows how much
SESSION_FIELDS = ("url", "session_id", "sessionId", "taskId", "task_id")
MODEL_FIELDS = ("model_identifier", "modelIdentifier", "model_id", "modelId", "model", "actor_id")
LINE_FIELDS = (("start_line", "end_line"), ("startLine", "endLine"), ("start", "end"))
REVISION_FIELDS = ("revision_id", "revision", "commit")
INTENT_RELATION = "intent"
REFERENCE_RELATIONS = ("specification", "requirement")  # an intent only where the record names none
REFERENCE_TYPE = "reference"
HOLDER_FIELDS = ("payload", "metadata", "data")  # objects in a record that may hold what it is about
NO_INTENT_VALUES = frozenset({"", "UNSPECIFIED", "N/A", "NONE", "NULL", "UNKNOWN"})
READ_ONLY_TOOLS = frozenset({"read_file", "list_files", "search_files", "select_active_intent"})
UNKNOWN_TIME = "1970-01-01T00:00:00Z"

_TIME_WITHOUT_ZONE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?")
_WINDOWS_DRIVE = re.compile(r"[A-Za-z]:/")


@dataclass(slots=True)
class Repair:
    """An entry and what was done to get it: (remark type, message)."""

    entry: dict[str, Any] = field(default_factory=dict)
    remarks: list[tuple[str, str]] = field(default_factory=list)

    def add_remark(self, kind: str, message: str) -> None:
        self.remarks.append((kind, message))


def repair_record(record: dict[str, Any]) -> Repair:
    """Build a valid entry from any JSON object."""
    repair = Repair()
    mutation_class = _find_mutation_class(record)
    entry: dict[str, Any] = {
        "id": _repair_id(record, repair),
        "timestamp": _repair_timestamp(record, repair),
        "vcs": {"revision_id": _find_revision(record)},
        "files": [
            entry_file for file in _find_files(record) if (entry_file := _repair_file(file, record, repair))
        ],
    }
    entry |= {"mutation_class": mutation_class} if mutation_class else {}
    intent = _find_intent(record)
    entry |= {"intent_id": intent} if intent else {}
    if not find_field_errors(record) and parse_entry(record) == parse_entry(entry):
        return Repair(record)  # the original means the same
    repair.entry = entry | {"original": record}
    if not entry["files"] and not _is_read_only(record) and (name := _find_path_name(record)):
        repair.add_remark("FILE_NOT_UNDERSTOOD", f"Found no file, though {name!r} may name one.")
    repair.add_remark(
        "REPAIRED", "Renamed or moved fields to build an entry; the original is stored with it."
    )
    return repair


def _repair_id(record: dict[str, Any], repair: Repair) -> str:
    value = _first_text(record, ID_FIELDS)
    if value and value.isprintable() and len(value) <= 200:
        return value
    derived = f"imported-{hashlib.sha256(canonical_json.encode(record)).hexdigest()[:32]}"
    repair.add_remark(
        "ID_ASSIGNED", f"Assigned the id {derived}, derived from the content: there was no usable one."
    )
    return derived


def _repair_timestamp(record: dict[str, Any], repair: Repair) -> str:
    value = _first_text(record, TIME_FIELDS)
    for candidate in (value, f"{value}Z" if _TIME_WITHOUT_ZONE.fullmatch(value) else value):
        try:
            parse_timestamp(candidate)
        except (ValueError, OverflowError):
            continue
        if candidate != value:
            repair.add_remark("TIME_ZONE_ASSUMED", f"Read {value} as UTC: it has no time zone.")
        return candidate
    repair.add_remark("TIME_UNKNOWN", f"Set the time to {UNKNOWN_TIME}: there was no usable one.")
    return UNKNOWN_TIME


def _find_revision(record: dict[str, Any]) -> str | None:
    vcs = record.get("vcs")
    return (
        _first_text(vcs if isinstance(vcs, dict) else {}, REVISION_FIELDS)
        or _first_text(record, REVISION_FIELDS)
        or None
    )


def _find_mutation_class(record: dict[str, Any]) -> str:
    """Return the class wherever it is: next to the files, in a file, in a conversation, or among related."""
    sources: list[Any] = [record, record.get("mutation")]
    for file in _dicts_in(record.get("files")):
        sources.append(file)
        for conversation in _dicts_in(file.get("conversations")):
            sources += [conversation, conversation.get("meta")]
            sources += [
                {"mutation_class": relation.get("value")}
                for relation in _dicts_in(conversation.get("related"))
                if relation.get("type") == "mutation_class"
            ]
    return next((text for source in _dicts_in(sources) if (text := _first_text(source, CLASS_FIELDS))), "")


def _find_files(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the files of a record: a list of them, a list of changed ranges, or the record itself."""
    if isinstance(record.get("files"), list):
        return _to_file_dicts(record["files"])
    if _is_read_only(record):
        return []
    for holder in (record, *(_dict_or_empty(record.get(name)) for name in HOLDER_FIELDS)):
        if files := _find_files_in(holder):
            return files
    return []


def _is_read_only(record: dict[str, Any]) -> bool:
    return _first_text(record, ("tool",)) in READ_ONLY_TOOLS


def _find_path_name(value: Any) -> str:
    """Return the first field at any depth that is called like one of a path; "" without any."""
    pending = [value]
    while pending:
        item = pending.pop(0)
        if isinstance(item, dict):
            found = next((name for name in (*PATH_FIELDS, *PATH_LIST_FIELDS) if item.get(name)), "")
            if found:
                return found
        pending += item.values() if isinstance(item, dict) else item if isinstance(item, list) else []
    return ""


def _to_file_dicts(files: list[Any]) -> list[dict[str, Any]]:
    return [
        {"relative_path": file} if isinstance(file, str) else file
        for file in files
        if isinstance(file, (str, dict))
    ]


def _find_files_in(record: dict[str, Any]) -> list[dict[str, Any]]:
    for name in PATH_LIST_FIELDS:
        if isinstance(files := record.get(name), list):
            return _to_file_dicts(files)
    changed_ranges = _dicts_in(record.get("modified_ranges"))
    if changed_ranges:
        return [
            {
                **changed_range,
                "ranges": [{**(_dict_or_empty(changed_range.get("new_range"))), **_find_hash(changed_range)}],
            }
            for changed_range in changed_ranges
        ]
    if _first_text(record, PATH_FIELDS):
        return [record]
    ranges = record.get("ranges")
    ranges = [ranges] if isinstance(ranges, dict) else _dicts_in(ranges)
    return [{**item, "ranges": [item]} for item in ranges if _first_text(item, PATH_FIELDS)]


def _repair_file(file: dict[str, Any], record: dict[str, Any], repair: Repair) -> dict[str, Any] | None:
    value = _first_text(file, PATH_FIELDS)
    path = value.replace("\\", "/")
    if value.startswith("\\") and not value.startswith("\\\\"):
        path = path.removeprefix("/")  # as an editor on Windows writes what is below its folder
    if _WINDOWS_DRIVE.match(path) or path.startswith("/"):
        repair.add_remark("FILE_LEFT_OUT", f"Skipped {value!r}: the path is absolute.")
        return None
    try:
        to_canonical_path(path)
    except ValueError as error:
        repair.add_remark("FILE_LEFT_OUT", f"Skipped {value!r}: {error}")
        return None
    if path != value:
        repair.add_remark("PATH_FORM", f"Changed {value!r} to {path!r}.")
    conversations = _dicts_in(file.get("conversations")) or [file]
    holders = [_dict_or_empty(record.get(name)) for name in HOLDER_FIELDS]
    return {
        "relative_path": path,
        **(_find_hash(file) or _find_lineless_hash(file)),
        "conversations": [
            _repair_conversation(conversation, [conversation, file, record, *holders], repair)
            for conversation in conversations
        ],
    }


def _repair_conversation(
    conversation: dict[str, Any], sources: list[dict[str, Any]], repair: Repair
) -> dict[str, Any]:
    contributors = [_dict_or_empty(source.get("contributor")) for source in sources]
    names = [source.get("contributor") for source in sources if isinstance(source.get("contributor"), str)]
    kind = _first_text_in(contributors, ("entity_type", "type")) or next(iter(names), None)
    return {
        "url": _first_text_in([*sources, *contributors], SESSION_FIELDS),
        "contributor": {
            "entity_type": kind,
            "model_identifier": _first_text_in([*contributors, *sources], MODEL_FIELDS) or None,
        },
        "ranges": list(_repair_ranges(conversation.get("ranges"), repair)),
        "related": _repair_related(sources),
    }


def _repair_ranges(value: Any, repair: Repair) -> Iterable[dict[str, Any]]:
    for item in [value] if isinstance(value, dict) else _dicts_in(value):
        start, end = next(
            ((item[first], item[last]) for first, last in LINE_FIELDS if first in item and last in item),
            (None, None),
        )
        if isinstance(start, int) and isinstance(end, int) and 0 <= start <= end:
            yield {"start_line": start, "end_line": end} | _find_hash(item)
        elif start is not None or end is not None:
            repair.add_remark("RANGE_LEFT_OUT", f"Skipped lines {start} to {end}: not a valid range.")


def _repair_related(sources: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Return the intents of a conversation, its own first; other relations as they are.

    A specification is an intent where the record names none otherwise; beside a named one it is a document
    that the work refers to.
    """
    named = [intent_id for source in reversed(sources) if (intent_id := _find_intent(source))]
    pairs = [pair for source in sources for pair in _list_relations(source)]
    named += [value for kind, value in pairs if kind == INTENT_RELATION]
    relations = [{"type": INTENT_TYPE, "value": intent_id} for intent_id in named]
    for kind, value in pairs:
        if kind in REFERENCE_RELATIONS and value not in named:
            relations.append({"type": REFERENCE_TYPE if named else INTENT_TYPE, "value": value})
        elif kind not in {INTENT_RELATION, *REFERENCE_RELATIONS}:
            relations.append({"type": kind, "value": value})
    return [relation for index, relation in enumerate(relations) if relation not in relations[:index]]


def _list_relations(source: dict[str, Any]) -> Iterable[tuple[str, str]]:
    """Yield (type, value) of what a source is related to; a bare text is an intent."""
    related = source.get("related")
    for item in related if isinstance(related, list) else []:
        relation = {"type": INTENT_RELATION, "value": item} if isinstance(item, str) else _dict_or_empty(item)
        kind, value = relation.get("type"), relation.get("value")
        if isinstance(kind, str) and isinstance(value, str):
            yield kind, value


def _find_intent(source: dict[str, Any]) -> str:
    intent_id = _first_text(source, INTENT_FIELDS)
    return "" if intent_id.upper() in NO_INTENT_VALUES else intent_id


def _find_hash(source: dict[str, Any]) -> dict[str, str]:
    value = _first_text(source, HASH_FIELDS)
    if value:
        return {"content_hash": normalize_hash(value) or value}
    partial = _first_text(source, PARTIAL_HASH_FIELDS).rpartition(":")[2]
    return {"content_hash": f"partial:{partial}"} if partial else {}


def _find_lineless_hash(file: dict[str, Any]) -> dict[str, str]:
    """Return the hash of a range that names no lines: it is that of the file."""
    ranges = file.get("ranges")
    for item in [ranges] if isinstance(ranges, dict) else _dicts_in(ranges):
        if not any(name in item for names in LINE_FIELDS for name in names):
            return _find_hash(item)
    return {}


def _first_text_in(sources: Sequence[dict[str, Any]], names: Sequence[str]) -> str:
    return next((text for source in sources if (text := _first_text(source, names))), "")


def _first_text(source: dict[str, Any], names: Sequence[str]) -> str:
    return next(
        (value.strip() for name in names if isinstance(value := source.get(name), str) and value.strip()), ""
    )


def _dicts_in(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _dict_or_empty(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
