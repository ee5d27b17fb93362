"""Lists in a text area, one item a line. What is no single line of plain text is written as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any


def to_lines(items: Iterable[Any]) -> str:
    return "\n".join(_line(item) for item in items)


def from_lines(text: str) -> list[Any]:
    """Raises ValueError, naming the line, for one that begins as JSON and is none."""
    return [_item(number, line) for number, line in numbered_lines(text)]


def numbered_lines(text: str) -> list[tuple[int, str]]:
    """The lines that hold something, without surrounding blanks, each with its number from 1."""
    return [(number, line.strip()) for number, line in enumerate(text.split("\n"), 1) if line.strip()]


def _line(item: Any) -> str:
    return item if isinstance(item, str) and _reads_as_itself(item) else json.dumps(item, ensure_ascii=False)


def _reads_as_itself(text: str) -> bool:
    return bool(text) and text == text.strip() and "\n" not in text and text[0] not in '{"['


def _item(number: int, line: str) -> Any:
    if line[0] not in '{"[':
        return line
    try:
        return json.loads(line)
    except ValueError as error:
        raise ValueError(f"Line {number} begins as JSON and is none: {error}.") from error
