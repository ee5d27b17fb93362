"""Reading an entry of the ordinary shape, checked on the way, without naming what is wrong with another.

Nearly every entry is ordinary, and one walk through it costs a third of what `shape.problems` and
`shape.read_entry` do. The rules stand there; None here only means that they have to be asked (a test compares
both).
"""

from __future__ import annotations

from typing import Any

from traces.entry_schema import (
    INTENT_TYPE,
    MAX_ID_LENGTH,
    MAX_LINE_LENGTH,
    MAX_TEXT_LENGTH,
    FileChange,
    LineRange,
    Reading,
    canonical_path,
    changed,
    comparable_hash,
    read_as,
    session_of,
)


def reading_of(entry: dict[str, Any]) -> Reading | None:
    """What `shape.read_entry` gives, where `shape.problems` finds nothing and the shape is the usual one."""
    try:
        return _read(entry)
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError):
        return None


def _read(entry: dict[str, Any]) -> Reading:
    entry_id = _text(entry["id"])
    if not 0 < len(entry_id) <= MAX_ID_LENGTH or not entry_id.isprintable() or entry_id.isspace():
        raise ValueError
    revision = entry["vcs"]["revision_id"] if "vcs" in entry else None
    named = _text(entry.get("intent_id", ""))[:MAX_TEXT_LENGTH]
    return read_as(
        _text(entry["timestamp"]),
        "" if revision is None else _text(revision)[:MAX_TEXT_LENGTH],
        _text(entry.get("mutation_class", ""))[:MAX_TEXT_LENGTH],
        named,
        tuple([_file(file, named) for file in _list(entry["files"])]),
    )


def _file(file: dict[str, Any], named: str) -> FileChange:
    path = canonical_path(_text(file["relative_path"]))
    whole = _text(file.get("content_hash", ""))
    told = [whole] if whole else []
    session = ""
    intents: list[str] = []
    ranges: list[LineRange] = []
    for talk in _list(file["conversations"]):
        url = _text(talk.get("url", ""))
        session = session or session_of(url)
        _ranges(talk, told, ranges)
        for related in _list(talk["related"]):
            value = _text(related["value"])
            if _text(related["type"]) == INTENT_TYPE and value:
                intents.append(value[:MAX_TEXT_LENGTH])
    return changed(path, session, tuple(dict.fromkeys(intents)) or ((named,) if named else ()), told, ranges)


def _ranges(talk: dict[str, Any], told: list[str], ranges: list[LineRange]) -> None:
    contributor = talk["contributor"]
    if type(contributor) is not dict:
        raise TypeError
    kind = _text(contributor.get("entity_type", ""))[:20]
    model = _text(contributor.get("model_identifier", ""))[:MAX_TEXT_LENGTH]
    for one in _list(talk["ranges"]):
        start, end = one["start_line"], one["end_line"]
        if type(start) is not int or type(end) is not int or not 0 <= start <= end < MAX_LINE_LENGTH:
            raise ValueError
        raw = _text(one.get("content_hash", ""))
        if raw:
            told.append(raw)
        ranges.append(LineRange(start, end, comparable_hash(raw), kind, model))


def _text(value: Any) -> str:
    if type(value) is not str:
        raise TypeError
    return value


def _list(value: Any) -> list[Any]:
    if type(value) is not list:
        raise TypeError
    return value
