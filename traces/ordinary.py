"""Whether an entry is of the ordinary shape, found without naming what is not.

Nearly every entry is ordinary, and to say so costs a third of what `shape.problems` does. The rules stand
there; a False here only means that they have to be asked (a test compares both).
"""

from __future__ import annotations

from typing import Any

from traces.shape import ID_MOST, LINE_MOST, canonical_path, moment_of


def is_ordinary(entry: dict[str, Any]) -> bool:
    """True only where `shape.problems` finds nothing."""
    try:
        return _head(entry) and all(map(_file, _list(entry["files"])))
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError):
        return False


def _head(entry: dict[str, Any]) -> bool:
    entry_id = _text(entry["id"])
    moment_of(_text(entry["timestamp"]))
    revision = entry["vcs"]["revision_id"] if "vcs" in entry else None
    return (
        0 < len(entry_id) <= ID_MOST
        and entry_id.isprintable()
        and not entry_id.isspace()
        and (revision is None or type(revision) is str)
        and type(entry.get("mutation_class", "")) is str
        and type(entry.get("intent_id", "")) is str
    )


def _file(file: dict[str, Any]) -> bool:
    canonical_path(_text(file["relative_path"]))
    return type(file.get("content_hash", "")) is str and all(map(_talk, _list(file["conversations"])))


def _talk(talk: dict[str, Any]) -> bool:
    contributor = talk["contributor"]
    return (
        type(talk.get("url", "")) is str
        and type(contributor) is dict
        and type(contributor.get("entity_type", "")) is str
        and type(contributor.get("model_identifier", "")) is str
        and all(map(_range, _list(talk["ranges"])))
        and all(map(_related, _list(talk["related"])))
    )


def _range(lines: dict[str, Any]) -> bool:
    start, end = lines["start_line"], lines["end_line"]
    numbers = type(start) is int and type(end) is int
    return numbers and 0 <= start <= end < LINE_MOST and type(lines.get("content_hash", "")) is str


def _related(related: dict[str, Any]) -> bool:
    return type(related["type"]) is str and type(related["value"]) is str


def _text(value: Any) -> str:
    if type(value) is not str:
        raise TypeError
    return value


def _list(value: Any) -> list[Any]:
    if type(value) is not list:
        raise TypeError
    return value
