"""Making entries of what real people's ledgers hold; every change is a remark, the original is kept.

Names of fields are tables: what stood there in files of some fifty repositories, first that is present.
A record that needs no repair stays as it is; a repaired one carries the whole of it under `original`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from traces.entry_schema import INTENT_TYPE, canonical_path, comparable_hash, moment_of, problems, read_entry
from traces.ledger import canonical_json

IDS = ("id", "trace_id", "req_id", "call_id")
TIMES = ("timestamp", "ts", "time", "created_at")
CLASSES = ("mutation_class", "mutationClass", "classification")
INTENTS = ("intent_id", "intentId", "active_intent_id", "spec_id")
PATHS = ("relative_path", "relativePath", "path", "file", "filePath", "file_path")
HASHES = ("content_hash", "contentHash", "sha256", "hash", "after_hash")
SESSIONS = ("url", "session_id", "taskId", "task_id")
MODELS = ("model_identifier", "model_id", "actor_id")
REVISIONS = ("revision_id", "revision", "commit")
INTENT_TYPES = ("intent", "specification", "requirement")
NO_INTENT = frozenset({"", "UNSPECIFIED", "N/A", "NONE", "NULL", "UNKNOWN"})
READING_TOOLS = frozenset({"read_file", "list_files", "search_files", "select_active_intent"})
UNKNOWN_TIME = "1970-01-01T00:00:00Z"

_ZONELESS = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?")
_WINDOWS_DRIVE = re.compile(r"[A-Za-z]:/")


@dataclass(slots=True)
class Repaired:
    """The entry and what was done to get it: (remark type, message)."""

    entry: dict[str, Any] = field(default_factory=dict)
    remarks: list[tuple[str, str]] = field(default_factory=list)

    def note(self, kind: str, message: str) -> None:
        self.remarks.append((kind, message))


def repair(record: dict[str, Any]) -> Repaired:
    """An entry without `problems` from any JSON object."""
    made = Repaired()
    mutation_class = _mutation_class(record)
    entry: dict[str, Any] = {
        "id": _id(record, made),
        "timestamp": _timestamp(record, made),
        "vcs": {"revision_id": _revision(record)},
        "files": [entry_file for file in _files(record) if (entry_file := _file(file, record, made))],
    }
    entry |= {"mutation_class": mutation_class} if mutation_class else {}
    intent = _intent(record)
    entry |= {"intent_id": intent} if intent else {}
    if not problems(record) and read_entry(record) == read_entry(entry):
        return Repaired(record)  # it says the same as it stands
    made.entry = entry | {"original": record}
    made.note("REPAIRED", "Fields were renamed or moved to the form of an entry; the original is kept.")
    return made


def _id(record: dict[str, Any], made: Repaired) -> str:
    told = _first_text(record, IDS)
    if told and told.isprintable() and len(told) <= 200:
        return told
    derived = f"imported-{hashlib.sha256(canonical_json.encode(record)).hexdigest()[:32]}"
    made.note("ID_ASSIGNED", f"It had no usable id and got {derived}, made from its content.")
    return derived


def _timestamp(record: dict[str, Any], made: Repaired) -> str:
    told = _first_text(record, TIMES)
    for text in (told, f"{told}Z" if _ZONELESS.fullmatch(told) else told):
        try:
            moment_of(text)
        except (ValueError, OverflowError):
            continue
        if text != told:
            made.note("TIME_ZONE_ASSUMED", f"{told} names no zone and was taken as UTC.")
        return text
    made.note("TIME_UNKNOWN", f"It had no usable time; {UNKNOWN_TIME} stands for that.")
    return UNKNOWN_TIME


def _revision(record: dict[str, Any]) -> str | None:
    vcs = record.get("vcs")
    return (
        _first_text(vcs if isinstance(vcs, dict) else {}, REVISIONS) or _first_text(record, REVISIONS) or None
    )


def _mutation_class(record: dict[str, Any]) -> str:
    """The class wherever it stands: beside the files, in one of them, in a conversation, among related."""
    holders: list[Any] = [record, record.get("mutation")]
    for file in _dicts(record.get("files")):
        holders.append(file)
        for talk in _dicts(file.get("conversations")):
            holders += [talk, talk.get("meta")]
            holders += [
                {"mutation_class": one.get("value")}
                for one in _dicts(talk.get("related"))
                if one.get("type") == "mutation_class"
            ]
    return next((text for holder in _dicts(holders) if (text := _first_text(holder, CLASSES))), "")


def _files(record: dict[str, Any]) -> list[dict[str, Any]]:
    """The files of a record: a list of them, a list of changed ranges, or the record itself."""
    named = record.get("files")
    if isinstance(named, list):
        return [
            {"relative_path": one} if isinstance(one, str) else one
            for one in named
            if isinstance(one, (str, dict))
        ]
    changed = _dicts(record.get("modified_ranges"))
    if changed:
        return [{**one, "ranges": [{**(_dict(one.get("new_range"))), **_hash_of(one)}]} for one in changed]
    if _first_text(record, PATHS) and record.get("tool") not in READING_TOOLS:
        return [record]
    return []


def _file(file: dict[str, Any], record: dict[str, Any], made: Repaired) -> dict[str, Any] | None:
    told = _first_text(file, PATHS)
    path = told.replace("\\", "/")
    if _WINDOWS_DRIVE.match(path) or path.startswith("/"):
        made.note("FILE_LEFT_OUT", f"{told!r} is an absolute path.")
        return None
    try:
        canonical_path(path)
    except ValueError as error:
        made.note("FILE_LEFT_OUT", f"{told!r}: {error}")
        return None
    if path != told:
        made.note("PATH_FORM", f"{told!r} became {path!r}.")
    talks = _dicts(file.get("conversations")) or [file]
    return {
        "relative_path": path,
        **_hash_of(file),
        "conversations": [_conversation(talk, [talk, file, record], made) for talk in talks],
    }


def _conversation(talk: dict[str, Any], holders: list[dict[str, Any]], made: Repaired) -> dict[str, Any]:
    contributors = [_dict(holder.get("contributor")) for holder in holders]
    words = [holder.get("contributor") for holder in holders if isinstance(holder.get("contributor"), str)]
    kind = _first_of(contributors, ("entity_type", "type")) or next(iter(words), None)
    return {
        "url": _first_of([*holders, *contributors], SESSIONS),
        "contributor": {
            "entity_type": kind,
            "model_identifier": _first_of([*contributors, *holders], MODELS) or None,
        },
        "ranges": list(_ranges(talk.get("ranges"), made)),
        "related": _related(holders),
    }


def _ranges(told: Any, made: Repaired) -> Iterable[dict[str, Any]]:
    for one in [told] if isinstance(told, dict) else _dicts(told):
        lines = {name: one.get(name) for name in ("start_line", "end_line")}
        start, end = lines.values()
        if isinstance(start, int) and isinstance(end, int) and 0 <= start <= end:
            yield lines | _hash_of(one)
        elif any(value is not None for value in lines.values()):
            made.note("RANGE_LEFT_OUT", f"Lines {start} to {end} are no range.")


def _related(holders: list[dict[str, Any]]) -> list[dict[str, str]]:
    """The intents of a conversation, its own first; other relations as they are."""
    found: list[dict[str, str]] = []
    for holder in holders:
        told = holder.get("related")
        for one in told if isinstance(told, list) else []:
            related = {"type": "intent", "value": one} if isinstance(one, str) else _dict(one)
            kind, value = related.get("type"), related.get("value")
            if isinstance(kind, str) and isinstance(value, str):
                found.append({"type": INTENT_TYPE if kind in INTENT_TYPES else kind, "value": value})
        if named := _intent(holder):
            found.insert(0, {"type": INTENT_TYPE, "value": named})
    return [one for at, one in enumerate(found) if one not in found[:at]]


def _intent(holder: dict[str, Any]) -> str:
    named = _first_text(holder, INTENTS)
    return "" if named.upper() in NO_INTENT else named


def _hash_of(holder: dict[str, Any]) -> dict[str, str]:
    told = _first_text(holder, HASHES)
    return {"content_hash": comparable_hash(told) or told} if told else {}


def _first_of(holders: Sequence[dict[str, Any]], names: Sequence[str]) -> str:
    return next((text for holder in holders if (text := _first_text(holder, names))), "")


def _first_text(holder: dict[str, Any], names: Sequence[str]) -> str:
    return next(
        (value.strip() for name in names if isinstance(value := holder.get(name), str) and value.strip()), ""
    )


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
