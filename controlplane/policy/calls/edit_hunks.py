"""What a call would put into a file: replacements, as each tool might read its input.

An input may hold a text under several keys, and a tool listens to some of them only. So every spelling is a
reading of its own, and none can hide what another one brings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from controlplane.policy.calls import input_fields, patch_formats

# One replacement: what is taken out, and what takes its place.
Replacement = tuple[str, str]
Interpretation = tuple[Replacement, ...]

_TEXT_KEYS = tuple(key for key in input_fields.CONTENT_KEYS if key not in input_fields.DIFF_KEYS)
_BLOCK_SIDES = (
    (re.compile(r"[<-]{6,} ?SEARCH"), "before"),
    (re.compile(r"={6,}\s*$"), "after"),
    (re.compile(r"[>+]{6,} ?REPLACE"), None),
)
_BLOCK_SIGNS = frozenset("<-=>+")


def list_full_texts(data: Mapping[str, Any]) -> list[str]:
    """Every text that a writing tool could store as the whole file; what is no text, as JSON."""
    found = [input_fields.to_text(value) for value in input_fields.get_all(data, input_fields.CONTENT_KEYS)]
    return list(dict.fromkeys(found)) or [""]


def list_interpretations(data: Mapping[str, Any]) -> list[Interpretation]:
    """The replacements of an editing tool, in order, once for each way to read its input."""
    found = (reading for parts in _places(data) for reading in _read(parts))
    return list(dict.fromkeys(filter(None, found))) or [()]


def _read(parts: list[Mapping[str, Any]]) -> Iterator[Interpretation]:
    given = {key for part in parts for key in part}
    for old, new in input_fields.REPLACEMENTS:
        if given.isdisjoint((old, new)):
            continue
        named = [part for part in parts if (part.get(old), part.get(new)) != (None, None)]
        yield tuple(
            (input_fields.to_text(part.get(old)), input_fields.to_text(part.get(new))) for part in named
        )
    for key in filter(given.__contains__, _TEXT_KEYS):
        yield tuple(("", input_fields.to_text(part[key])) for part in parts if key in part)
    for key in filter(given.__contains__, input_fields.DIFF_KEYS):
        yield tuple(pair for part in parts for pair in parse_diff(input_fields.to_text(part.get(key))))


def _places(data: Mapping[str, Any]) -> Iterator[list[Mapping[str, Any]]]:
    """The input itself, and each list of edits in it."""
    yield [data]
    for key in input_fields.EDIT_LIST_KEYS:
        value = data.get(key)
        if isinstance(value, list):
            yield [item for item in value if isinstance(item, Mapping)]


def parse_diff(diff: str) -> list[Replacement]:
    """The pieces of `<<<<<<< SEARCH … ======= … >>>>>>> REPLACE` blocks, or of a unified diff. Any other
    text counts as new altogether."""
    blocks = parse_search_replace_blocks(diff)
    if blocks or not diff:
        return blocks
    return [piece for file in patch_formats.parse(diff).files for piece in file.replacements] or [("", diff)]


def parse_search_replace_blocks(diff: str) -> list[Replacement]:
    """The pieces of SEARCH and REPLACE blocks, read line by line; what stands around them is none."""
    found: list[tuple[list[str], list[str]]] = []
    side: str | None = None
    for line in diff.splitlines() if "SEARCH" in diff else ():
        sides = _BLOCK_SIDES if line[:1] in _BLOCK_SIGNS else ()
        turned = next((to for pattern, to in sides if pattern.match(line)), "stays")
        if turned == "before" or (turned == "after" and not found):
            found.append(([], []))
        if turned != "stays":
            side = turned
        elif side is not None:
            found[-1][side == "after"].append(line)
    return [("\n".join(before), "\n".join(after)) for before, after in found]


def join_sides(reading: Interpretation) -> Replacement:
    """All that a reading takes out, and all that it puts in."""
    before, after = ("\n".join(side) for side in _sides(reading))
    return before, after


def _sides(reading: Interpretation) -> Iterator[list[str]]:
    for side in (0, 1):
        yield [piece[side] for piece in reading if piece[side]]
