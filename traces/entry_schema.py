"""Validate and parse a trace entry, one line of `agent_trace.jsonl`.

    {"id", "timestamp", "vcs": {"revision_id"}, "files": [{"relative_path", "conversations": [{"url",
    "contributor": {"entity_type", "model_identifier"}, "ranges": [{"start_line", "end_line",
    "content_hash"}], "related": [{"type", "value"}]}]}]}

`mutation_class` and `intent_id` are optional, next to `files`. Unknown fields are stored as they were sent.

The server adds what it knows of a live change: `computed_mutation_class` next to `mutation_class`, and in a
file `"new": true` where neither the ledger nor the disk knew it before, and the `symbols` of its text. Where
the text before is known, a file has its `previous_hash` and `line_changes`: [{"start_line", "line_count",
"content_hash", "previous_line_count", "previous_hash"}], with a `line_count` of 0 for what was only deleted.
Then these are the lines that the entry wrote, whatever its ranges cover.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from controlplane.policy.paths.canonical import InvalidPath, canonicalize
from traces.change_fields import LINE_CHANGES_FIELD, parse_line_changes

MAX_ID_LENGTH = 200
MAX_PATH_LENGTH = 1000
MAX_TEXT_LENGTH = 200
MAX_LINE_LENGTH = 2**31
CACHE_SIZE = 16_384  # an entry is validated first and parsed later, so every path and time is parsed twice
INTENT_TYPE = "specification"
DELETED = "DELETED"
EVOLUTION_CLASS = "INTENT_EVOLUTION"
REFACTOR_CLASS = "AST_REFACTOR"
MUTATION_CLASSES = (REFACTOR_CLASS, EVOLUTION_CLASS)
COMPUTED_CLASS_FIELD = "computed_mutation_class"  # of an entry, next to the agent's own `mutation_class`
NEW_FIELD = "new"  # of a file
SYMBOLS_FIELD = "symbols"  # of a file: [{"name", "kind", "start_line", "end_line"}]
SYMBOL_KINDS = ("function", "class", "method")
MAX_SYMBOLS = 200  # of a file

_INSTANT = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)")
_HASH = re.compile(r"[A-Za-z0-9-]{1,30}:\S{1,160}")
_BARE_SHA256 = re.compile(r"[0-9a-fA-F]{64}")

FieldErrors = Iterator[tuple[str, str]]  # (JSON path, problem)


class ParsedRange(NamedTuple):
    start_line: int
    end_line: int
    content_hash: str
    contributor: str
    model: str


class ParsedFile(NamedTuple):
    """One file of an entry. `content_hash` is "" where the entry has none for the complete file."""

    path: str
    session_id: str
    intents: tuple[str, ...]
    content_hash: str
    deleted: bool
    ranges: tuple[ParsedRange, ...]
    is_new: bool = False
    symbols: str = ""  # JSON, "" where they are not known


class ParsedEntry(NamedTuple):
    """The fields of an entry that projections and queries need."""

    changed_at: datetime
    revision_id: str
    mutation_class: str
    session_id: str
    intent_id: str
    model: str
    files: tuple[ParsedFile, ...]
    computed_class: str = ""

    def get_effective_class(self, file: ParsedFile) -> str:
        """Return the class that counts for a file: computed, an evolution if it is new, else claimed."""
        return self.computed_class or (EVOLUTION_CLASS if file.is_new else self.mutation_class)


def find_field_errors(entry: dict[str, Any]) -> list[tuple[str, str]]:
    """Return (JSON path, error) for every field that is missing or invalid."""
    return list(_check_entry(entry))


def parse_entry(entry: dict[str, Any]) -> ParsedEntry:
    """Parse an entry that has no field errors."""
    intent_id = _text(entry.get("intent_id"))
    files = tuple(_parse_file(file, intent_id) for file in entry["files"])
    revision = _text((entry.get("vcs") or {}).get("revision_id"))
    parsed = build_parsed_entry(
        entry["timestamp"], revision, _text(entry.get("mutation_class")), intent_id, files
    )
    computed = entry.get(COMPUTED_CLASS_FIELD)
    return parsed._replace(computed_class=computed) if computed in MUTATION_CLASSES else parsed


def build_parsed_entry(
    timestamp: str, revision_id: str, mutation_class: str, intent_id: str, files: tuple[ParsedFile, ...]
) -> ParsedEntry:
    """Build an entry of these files; session, intent and model are the first ones named.

    Raise ValueError for a timestamp that is not RFC 3339.
    """
    return ParsedEntry(
        changed_at=parse_timestamp(timestamp),
        revision_id=revision_id,
        mutation_class=mutation_class,
        session_id=next((file.session_id for file in files if file.session_id), ""),
        intent_id=intent_id or next((file.intents[0] for file in files if file.intents), ""),
        model=next(
            (line_range.model for file in files for line_range in file.ranges if line_range.model), ""
        ),
        files=files,
    )


@lru_cache(maxsize=CACHE_SIZE)
def parse_timestamp(text: str) -> datetime:
    """Parse an RFC 3339 text, to UTC. Raise ValueError."""
    if not _INSTANT.fullmatch(text):
        raise ValueError(f"{text!r} is not a time like 2026-02-21T12:00:00Z")
    return datetime.fromisoformat(text.upper()).astimezone(UTC)


@lru_cache(maxsize=CACHE_SIZE)
def to_canonical_path(raw: str) -> str:
    """Return the workspace-relative path. Raise ValueError with the reason for the sender."""
    result = canonicalize(raw, root=None, cwd=None, writing=True)
    if isinstance(result, InvalidPath):
        raise ValueError(result.message)  # noqa: TRY004 - the text is of the right type and says the wrong thing
    if not result.path or len(result.path) > MAX_PATH_LENGTH:
        raise ValueError(f"a path has 1 to {MAX_PATH_LENGTH} characters and names a file")
    return result.path


@lru_cache(maxsize=CACHE_SIZE)
def normalize_hash(text: str | None) -> str:
    """Return `algorithm:value`: a bare SHA-256 gets its prefix, a placeholder becomes ""."""
    stripped = (text or "").strip()
    if _BARE_SHA256.fullmatch(stripped):
        return f"sha256:{stripped.lower()}"
    return stripped if _HASH.fullmatch(stripped) else ""


def parse_session_id(url: str | None) -> str:
    """Return the session id in a conversation's url: the last part of a web link or URN, else all of it."""
    text = (url or "").strip()
    if text.startswith("urn:"):
        return text.rsplit(":", 1)[-1][:MAX_TEXT_LENGTH]
    if text.startswith(("http://", "https://")):
        return urlsplit(text).path.rstrip("/").rsplit("/", 1)[-1][:MAX_TEXT_LENGTH]
    return text[:MAX_TEXT_LENGTH]


def _check_entry(entry: dict[str, Any]) -> FieldErrors:
    yield from _required(entry, "$", "id", _check_id)
    yield from _required(entry, "$", "timestamp", _check_time)
    yield from _optional(entry, "$", "mutation_class", _check_text)
    yield from _optional(entry, "$", "intent_id", _check_text)
    vcs = entry.get("vcs")
    if vcs is not None:
        if isinstance(vcs, dict):
            yield from _optional(vcs, "$.vcs", "revision_id", _check_text)
        else:
            yield "$.vcs", "must be an object"
    if "files" not in entry:
        yield "$.files", "is missing"
    yield from _each(entry, "$", "files", _check_file)


def _check_file(file: dict[str, Any], at: str) -> FieldErrors:
    yield from _required(file, at, "relative_path", _check_path)
    yield from _optional(file, at, "content_hash", _check_text)
    yield from _each(file, at, "conversations", _check_conversation)


def _check_conversation(conversation: dict[str, Any], at: str) -> FieldErrors:
    yield from _optional(conversation, at, "url", _check_text)
    contributor = conversation.get("contributor")
    if isinstance(contributor, dict):
        yield from _optional(contributor, f"{at}.contributor", "entity_type", _check_text)
        yield from _optional(contributor, f"{at}.contributor", "model_identifier", _check_text)
    elif contributor is not None:
        yield f"{at}.contributor", "must be an object"
    yield from _each(conversation, at, "ranges", _check_range)
    yield from _each(conversation, at, "related", _check_related)


def _check_range(lines: dict[str, Any], at: str) -> FieldErrors:
    for name in ("start_line", "end_line"):
        yield from _required(lines, at, name, _check_line)
    yield from _optional(lines, at, "content_hash", _check_text)
    start, end = lines.get("start_line"), lines.get("end_line")
    if isinstance(start, int) and isinstance(end, int) and end < start:
        yield f"{at}.end_line", "is before start_line"


def _check_related(related: dict[str, Any], at: str) -> FieldErrors:
    yield from _required(related, at, "type", _check_text)
    yield from _required(related, at, "value", _check_text)


def _required(holder: dict[str, Any], at: str, name: str, rule: Callable[[Any], str]) -> FieldErrors:
    problem = rule(holder[name]) if name in holder else "is missing"
    if problem:
        yield f"{at}.{name}", problem


def _optional(holder: dict[str, Any], at: str, name: str, rule: Callable[[Any], str]) -> FieldErrors:
    if holder.get(name) is not None:
        yield from _required(holder, at, name, rule)


def _each(
    holder: dict[str, Any], at: str, name: str, rule: Callable[[dict[str, Any], str], FieldErrors]
) -> FieldErrors:
    items = holder.get(name, [])
    if not isinstance(items, list):
        yield f"{at}.{name}", "must be a list"
        return
    for index, item in enumerate(items):
        where = f"{at}.{name}[{index}]"
        if isinstance(item, dict):
            yield from rule(item, where)
        else:
            yield where, "must be an object"


def _check_id(value: Any) -> str:
    if (
        not isinstance(value, str)
        or not value.strip()
        or len(value) > MAX_ID_LENGTH
        or not value.isprintable()
    ):
        return f"must be a text of 1 to {MAX_ID_LENGTH} printable characters"
    return ""


def _check_time(value: Any) -> str:
    try:
        parse_timestamp(value if isinstance(value, str) else repr(value))
    except (ValueError, OverflowError) as error:
        return str(error)
    return ""


def _check_path(value: Any) -> str:
    if not isinstance(value, str):
        return "must be a text"
    try:
        to_canonical_path(value)
    except ValueError as error:
        return str(error)
    return ""


def _check_text(value: Any) -> str:
    return "" if isinstance(value, str) else "must be a text"


def _check_line(value: Any) -> str:
    return "" if _is_line(value) else "must be a line number"


def _is_line(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MAX_LINE_LENGTH


def _parse_file(file: dict[str, Any], entry_intent_id: str) -> ParsedFile:
    """Parse one file. `entry_intent_id` is the intent of the entry, for files that name none."""
    conversations = file.get("conversations") or []
    file_hash = file.get("content_hash")
    hashes = [file_hash] if file_hash else []
    session, intents, ranges = "", [], []
    for conversation in conversations:
        session = session or parse_session_id(conversation.get("url"))
        intents += _parse_intents(conversation)
        ranges += _parse_ranges(conversation, hashes)
    changes = parse_line_changes(file.get(LINE_CHANGES_FIELD))
    if changes is not None:
        ranges = _to_ranges(changes, conversations)
    path = to_canonical_path(file["relative_path"])
    parsed = build_parsed_file(
        path,
        session,
        tuple(dict.fromkeys(intents)) or ((entry_intent_id,) if entry_intent_id else ()),
        hashes,
        ranges,
    )
    return parsed._replace(
        is_new=file.get(NEW_FIELD) is True, symbols=_parse_symbols(file.get(SYMBOLS_FIELD))
    )


def _to_ranges(changes: list[dict[str, Any]], conversations: list[dict[str, Any]]) -> list[ParsedRange]:
    """Return the lines that each change brought, as the contributor of the first conversation."""
    contributor = (conversations[0].get("contributor") or {}) if conversations else {}
    kind = _text(contributor.get("entity_type"))[:20]
    model = _text(contributor.get("model_identifier"))
    return [
        ParsedRange(
            change["start_line"],
            change["start_line"] + change["line_count"] - 1,
            change["content_hash"],
            kind,
            model,
        )
        for change in changes
        if change["line_count"]
    ]


def _parse_symbols(value: Any) -> str:
    """Return well-formed symbols as JSON; "" for none and for anything else: others may have written it."""
    if not isinstance(value, list) or not 0 < len(value) <= MAX_SYMBOLS:
        return ""
    symbols = []
    for item in value:
        if not isinstance(item, dict) or not _is_symbol(item):
            return ""
        symbols.append({name: item[name] for name in ("name", "kind", "start_line", "end_line")})
    return json.dumps(symbols, ensure_ascii=True, separators=(",", ":"))


def _is_symbol(item: dict[str, Any]) -> bool:
    name, lines = item.get("name"), (item.get("start_line"), item.get("end_line"))
    is_named = isinstance(name, str) and 0 < len(name) <= MAX_TEXT_LENGTH and name.isprintable()
    return is_named and item.get("kind") in SYMBOL_KINDS and all(map(_is_line, lines))


def build_parsed_file(
    path: str, session_id: str, intents: tuple[str, ...], hashes: list[str], ranges: list[ParsedRange]
) -> ParsedFile:
    """Build a file from the hashes of the file and of its ranges. It gets a hash where all of them agree."""
    normalized = {normalize_hash(text) for text in hashes}
    content_hash = normalized.pop() if len(normalized) == 1 else ""
    deleted = bool(hashes) and all(text.upper() == DELETED for text in hashes)
    return ParsedFile(path, session_id, intents, content_hash, deleted, tuple(ranges))


def _parse_ranges(conversation: dict[str, Any], hashes: list[str]) -> list[ParsedRange]:
    """Parse the ranges of a conversation; append their raw hashes to `hashes`."""
    contributor = conversation.get("contributor") or {}
    kind = _text(contributor.get("entity_type"))[:20]
    model = _text(contributor.get("model_identifier"))
    ranges = []
    for item in conversation.get("ranges", []):
        raw = item.get("content_hash")
        if raw:
            hashes.append(raw)
        ranges.append(ParsedRange(item["start_line"], item["end_line"], normalize_hash(raw), kind, model))
    return ranges


def _parse_intents(conversation: dict[str, Any]) -> list[str]:
    return [
        related["value"][:MAX_TEXT_LENGTH]
        for related in conversation.get("related", [])
        if related["type"] == INTENT_TYPE and related["value"]
    ]


def _text(value: Any) -> str:
    return value[:MAX_TEXT_LENGTH] if isinstance(value, str) else ""
