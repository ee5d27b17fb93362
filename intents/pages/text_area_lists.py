"""Write lists into text areas, one item per line, and read them back.

An item that is no single line of plain text is written as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any


def to_lines(items: Iterable[Any]) -> str:
    return "\n".join(_to_line(item) for item in items)


def from_lines(text: str) -> list[Any]:
    """Raise ValueError, naming the line, for one that begins like JSON and is not valid JSON."""
    return [_from_line(number, line) for number, line in numbered_lines(text)]


def numbered_lines(text: str) -> list[tuple[int, str]]:
    """Return the lines that are not blank, stripped, each with its number from 1."""
    return [(number, line.strip()) for number, line in enumerate(text.split("\n"), 1) if line.strip()]


def _to_line(item: Any) -> str:
    return item if isinstance(item, str) and _is_plain_line(item) else json.dumps(item, ensure_ascii=False)


def _is_plain_line(text: str) -> bool:
    """Return whether `_from_line` would give the same text back."""
    return bool(text) and text == text.strip() and "\n" not in text and text[0] not in '{"['


def _from_line(number: int, line: str) -> Any:
    if line[0] not in '{"[':
        return line
    try:
        return json.loads(line)
    except ValueError as error:
        raise ValueError(f"Line {number} begins like JSON and is not valid JSON: {error}.") from error
