"""Parse the edits in a tool's input into replacements: the text that is taken out, and what replaces it.

An input may hold a text under several keys, and a tool reads some of them only. So every spelling gives an
interpretation of its own, and none can hide what another one brings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from controlplane.policy.calls import input_fields, patch_formats

Replacement = tuple[str, str]  # (old text, new text)
Interpretation = tuple[Replacement, ...]  # in the order of the input

_TEXT_KEYS = tuple(key for key in input_fields.CONTENT_KEYS if key not in input_fields.DIFF_KEYS)
_BLOCK_SIDES = (
    (re.compile(r"[<-]{6,} ?SEARCH"), "before"),
    (re.compile(r"={6,}\s*$"), "after"),
    (re.compile(r"[>+]{6,} ?REPLACE"), None),
)
_BLOCK_SIGNS = frozenset("<-=>+")


def list_full_texts(data: Mapping[str, Any]) -> list[str]:
    """Return every text that a writing tool could store as the full file; what is no text, as JSON."""
    values = input_fields.get_all(data, input_fields.CONTENT_KEYS)
    return list(dict.fromkeys(map(input_fields.to_text, values))) or [""]


def list_interpretations(data: Mapping[str, Any]) -> list[Interpretation]:
    """Return the replacements of an editing tool, once for each way to read its input."""
    interpretations = (each for edits in _list_edits(data) for each in _interpret(edits))
    return list(dict.fromkeys(filter(None, interpretations))) or [()]


def _interpret(edits: list[Mapping[str, Any]]) -> Iterator[Interpretation]:
    keys = {key for edit in edits for key in edit}
    for old, new in input_fields.REPLACEMENTS:
        if keys.isdisjoint((old, new)):
            continue
        found = [edit for edit in edits if (edit.get(old), edit.get(new)) != (None, None)]
        yield tuple(
            (input_fields.to_text(edit.get(old)), input_fields.to_text(edit.get(new))) for edit in found
        )
    for key in filter(keys.__contains__, _TEXT_KEYS):
        yield tuple(("", input_fields.to_text(edit[key])) for edit in edits if key in edit)
    for key in filter(keys.__contains__, input_fields.DIFF_KEYS):
        diffs = (input_fields.to_text(edit.get(key)) for edit in edits)
        yield tuple(replacement for diff in diffs for replacement in parse_diff(diff))


def _list_edits(data: Mapping[str, Any]) -> Iterator[list[Mapping[str, Any]]]:
    """Yield the input itself as the only edit, and each list of edits in it."""
    yield [data]
    for key in input_fields.EDIT_LIST_KEYS:
        value = data.get(key)
        if isinstance(value, list):
            yield [item for item in value if isinstance(item, Mapping)]


def parse_diff(diff: str) -> list[Replacement]:
    """Return the replacements of SEARCH/REPLACE blocks, or of a unified diff.

    Any other text counts as new text.
    """
    blocks = parse_search_replace_blocks(diff)
    if blocks or not diff:
        return blocks
    files = patch_formats.parse(diff).files
    return [replacement for file in files for replacement in file.replacements] or [("", diff)]


def parse_search_replace_blocks(diff: str) -> list[Replacement]:
    """Parse `<<<<<<< SEARCH … ======= … >>>>>>> REPLACE` blocks line by line; text around them is dropped."""
    blocks: list[tuple[list[str], list[str]]] = []
    side: str | None = None
    for line in diff.splitlines() if "SEARCH" in diff else ():
        sides = _BLOCK_SIDES if line[:1] in _BLOCK_SIGNS else ()
        next_side = next((to for pattern, to in sides if pattern.match(line)), "unchanged")
        # A divider without a SEARCH line before it: what follows is inserted all the same.
        if next_side == "before" or (next_side == "after" and not blocks):
            blocks.append(([], []))
        if next_side != "unchanged":
            side = next_side
        elif side is not None:
            blocks[-1][side == "after"].append(line)
    return [("\n".join(before), "\n".join(after)) for before, after in blocks]


def join_sides(interpretation: Interpretation) -> Replacement:
    """Return all that an interpretation takes out, and all that it puts in."""
    before = "\n".join(old for old, _ in interpretation if old)
    after = "\n".join(new for _, new in interpretation if new)
    return before, after
