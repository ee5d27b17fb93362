"""The fields of a line change, as an entry and the hook client write them."""

from __future__ import annotations

import re
from typing import Any

LINE_CHANGES_FIELD = "line_changes"  # of a file: what each hunk of the change brought and took
PREVIOUS_HASH_FIELD = "previous_hash"  # of a file: the content that the change started from
MAX_LINE_CHANGES = 200  # of a file
MAX_LINE = 2**31
NUMBERS = ("start_line", "line_count", "previous_line_count")
HASHES = ("content_hash", "previous_hash")

_SHA256 = re.compile(r"sha256:[0-9a-f]{64}")


def parse_line_changes(value: Any) -> list[dict[str, Any]] | None:
    """Return well-formed line changes; None for anything else, which is as if there were none."""
    if not isinstance(value, list) or len(value) > MAX_LINE_CHANGES:
        return None
    return value if all(isinstance(item, dict) and _is_line_change(item) for item in value) else None


def _is_line_change(item: dict[str, Any]) -> bool:
    are_numbers = all(type(item.get(name)) is int and 0 <= item[name] < MAX_LINE for name in NUMBERS)
    are_hashes = all(isinstance(item.get(name), str) and _SHA256.fullmatch(item[name]) for name in HASHES)
    return are_numbers and are_hashes and 1 <= item["start_line"] <= MAX_LINE - item["line_count"]
