"""Fast path: validate and parse a well-formed entry in one pass.

Nearly every entry is well-formed, and one pass costs a third of `entry_schema.find_field_errors` and
`parse_entry`. The rules are defined there: None here means that they must decide (a test compares both).
"""

from __future__ import annotations

from typing import Any

from traces.entry_schema import (
    COMPUTED_CLASS_FIELD,
    INTENT_TYPE,
    MAX_ID_LENGTH,
    MAX_LINE_LENGTH,
    MAX_TEXT_LENGTH,
    NEW_FIELD,
    SYMBOLS_FIELD,
    ParsedEntry,
    ParsedFile,
    ParsedRange,
    build_parsed_entry,
    build_parsed_file,
    normalize_hash,
    parse_session_id,
    to_canonical_path,
)


def parse_ordinary_entry(entry: dict[str, Any]) -> ParsedEntry | None:
    """Return what `entry_schema.parse_entry` would; None for an entry that it may reject."""
    try:
        return _parse_entry(entry)
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError):
        return None


def _parse_entry(entry: dict[str, Any]) -> ParsedEntry:
    entry_id = _require_text(entry["id"])
    if not 0 < len(entry_id) <= MAX_ID_LENGTH or not entry_id.isprintable() or entry_id.isspace():
        raise ValueError
    if COMPUTED_CLASS_FIELD in entry:  # only live entries, and exports of them, hold what the server adds
        raise ValueError
    revision = entry["vcs"]["revision_id"] if "vcs" in entry else None
    intent_id = _require_text(entry.get("intent_id", ""))[:MAX_TEXT_LENGTH]
    return build_parsed_entry(
        _require_text(entry["timestamp"]),
        "" if revision is None else _require_text(revision)[:MAX_TEXT_LENGTH],
        _require_text(entry.get("mutation_class", ""))[:MAX_TEXT_LENGTH],
        intent_id,
        tuple([_parse_file(file, intent_id) for file in _require_list(entry["files"])]),
    )


def _parse_file(file: dict[str, Any], entry_intent_id: str) -> ParsedFile:
    if NEW_FIELD in file or SYMBOLS_FIELD in file:
        raise ValueError
    path = to_canonical_path(_require_text(file["relative_path"]))
    file_hash = _require_text(file.get("content_hash", ""))
    hashes = [file_hash] if file_hash else []
    session = ""
    intents: list[str] = []
    ranges: list[ParsedRange] = []
    for conversation in _require_list(file["conversations"]):
        url = _require_text(conversation.get("url", ""))
        session = session or parse_session_id(url)
        _parse_ranges(conversation, hashes, ranges)
        for related in _require_list(conversation["related"]):
            value = _require_text(related["value"])
            if _require_text(related["type"]) == INTENT_TYPE and value:
                intents.append(value[:MAX_TEXT_LENGTH])
    return build_parsed_file(
        path,
        session,
        tuple(dict.fromkeys(intents)) or ((entry_intent_id,) if entry_intent_id else ()),
        hashes,
        ranges,
    )


def _parse_ranges(conversation: dict[str, Any], hashes: list[str], ranges: list[ParsedRange]) -> None:
    contributor = conversation["contributor"]
    if type(contributor) is not dict:
        raise TypeError
    kind = _require_text(contributor.get("entity_type", ""))[:20]
    model = _require_text(contributor.get("model_identifier", ""))[:MAX_TEXT_LENGTH]
    for item in _require_list(conversation["ranges"]):
        start, end = item["start_line"], item["end_line"]
        if type(start) is not int or type(end) is not int or not 0 <= start <= end < MAX_LINE_LENGTH:
            raise ValueError
        raw = _require_text(item.get("content_hash", ""))
        if raw:
            hashes.append(raw)
        ranges.append(ParsedRange(start, end, normalize_hash(raw), kind, model))


def _require_text(value: Any) -> str:
    if type(value) is not str:
        raise TypeError
    return value


def _require_list(value: Any) -> list[Any]:
    if type(value) is not list:
        raise TypeError
    return value
