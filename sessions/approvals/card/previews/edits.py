"""Render edits and full contents as diffs against the current file, where it is on this server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from controlplane.policy.calls import input_fields
from controlplane.templatetags.diffs import Hunk
from sessions.approvals.card.file_contents import CurrentFile
from sessions.approvals.card.previews.hunks import diff_texts, drop_line_numbers
from sessions.approvals.card.previews.values import FilePreview, Preview

LINE_KEYS = ("line", "insert_line", "line_number", "start_line")
NEW_SOURCE = "new_source"
# Roo's apply_diff: the line where the searched text should stand may follow the SEARCH marker.
_BLOCK = re.compile(
    r"^[<-]{6,} ?SEARCH[^\n]*\n"
    r"(?::start_line: ?(?P<line>\d{1,9})[^\n]*\n)?(?::end_line:[^\n]*\n)?(?:-{5,}\n)?"
    r"(?P<before>.*?)^={6,}[^\n]*\n(?P<after>.*?)^[>+]{6,} ?REPLACE",
    re.MULTILINE | re.DOTALL,
)

COMPLETE_CHANGE = "This is the complete change, compared with the current file."
NEW_FILE = "This is the complete change: the file does not exist yet."
REPLACEMENT_ONLY = "This is the complete replacement. {reason} The lines around it are not shown."
NEW_CONTENT_ONLY = "The new content is shown in full. {reason} Removed lines are not shown."
NO_MATCH = (
    "The text to replace is not in the current file or occurs more than once, "
    "so the position of the change cannot be shown."
)
LINE_ENDINGS_ONLY = "Only line endings or the final newline change."


@dataclass(frozen=True, slots=True)
class Replacement:
    """Replace `before` by `after`. `line` is the position the agent claims, from 1."""

    before: str
    after: str
    line: int | None = None
    replace_all: bool = False


def preview_content(path: str, content: str, current: CurrentFile) -> Preview:
    """Preview a tool that sets the full content of a file."""
    if current.text is None:
        file = FilePreview(path, "new content", diff_texts("", content))
        return Preview(
            complete=False,
            sentence=NEW_CONTENT_ONLY.format(reason=current.reason),
            note="1 file written",
            files=(file,),
        )
    file = FilePreview(path, "new file" if current.is_missing else "", diff_texts(current.text, content))
    return Preview(
        complete=True, sentence=_describe_change(current, file, content), note="1 file changed", files=(file,)
    )


def preview_edit(path: str, data: Mapping[str, Any], current: CurrentFile) -> Preview | None:
    """Preview a tool that replaces or inserts text; None when the input holds no replacement."""
    if NEW_SOURCE in data:
        return _preview_notebook(path, data, current)
    replacements = parse_replacements(data)
    if not replacements:
        return None
    after = apply_replacements(current.text, replacements) if current.text is not None else None
    if after is None or current.text is None:
        sentence = NO_MATCH if current.text is not None else REPLACEMENT_ONLY.format(reason=current.reason)
        hunks = tuple(hunk for replacement in replacements for hunk in _render_replacement(replacement))
        file = FilePreview(path, "", hunks)
        return Preview(complete=current.text is None, sentence=sentence, note="1 file changed", files=(file,))
    file = FilePreview(path, "new file" if current.is_missing else "", diff_texts(current.text, after))
    return Preview(
        complete=True, sentence=_describe_change(current, file, after), note="1 file changed", files=(file,)
    )


def parse_replacements(data: Mapping[str, Any]) -> list[Replacement]:
    """Return every replacement in the input, in order."""
    return [replacement for part in (data, *_iter_edits(data)) for replacement in _iter_replacements(part)]


def apply_replacements(text: str, replacements: list[Replacement]) -> str | None:
    """Return the text after all replacements; None when one matches nowhere or in several places."""
    for replacement in replacements:
        result = _apply_replacement(text, replacement)
        if result is None:
            return None
        text = result
    return text


def _apply_replacement(text: str, replacement: Replacement) -> str | None:
    if not replacement.before:
        return _insert(text, replacement)
    count = text.count(replacement.before)
    if replacement.replace_all or count == 1:
        return text.replace(replacement.before, replacement.after)
    if not count or replacement.line is None:
        return None
    # Several matches: the one at the line that the agent names, or none at all.
    lines = text.splitlines(keepends=True)
    head = "".join(lines[: replacement.line - 1])
    rest = text[len(head) :]
    if not rest.startswith(replacement.before):
        return None
    return head + replacement.after + rest[len(replacement.before) :]


def _insert(text: str, replacement: Replacement) -> str | None:
    if not text:
        return replacement.after
    if replacement.line is None:
        return None
    lines = text.splitlines(keepends=True)
    inserted = replacement.after if replacement.after.endswith("\n") else replacement.after + "\n"
    return "".join((*lines[: replacement.line], inserted, *lines[replacement.line :]))


def _iter_edits(data: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for value in input_fields.get_all(data, input_fields.EDIT_LIST_KEYS):
        yield from (item for item in (value if isinstance(value, list) else ()) if isinstance(item, Mapping))


def _iter_replacements(edit: Mapping[str, Any]) -> Iterator[Replacement]:
    line = _read_line_number(edit)
    replace_all = edit.get("replace_all") is True or edit.get("replaceAll") is True
    for old, new in input_fields.REPLACEMENTS:
        if edit.get(old) is not None or edit.get(new) is not None:
            yield Replacement(
                input_fields.to_text(edit.get(old)), input_fields.to_text(edit.get(new)), line, replace_all
            )
    for key in input_fields.CONTENT_KEYS:
        if edit.get(key) is not None:
            yield Replacement("", input_fields.to_text(edit[key]), line)
    for block in _BLOCK.finditer(input_fields.to_text(edit.get("diff"))):
        yield Replacement(block["before"], block["after"], int(block["line"]) if block["line"] else None)


def _read_line_number(edit: Mapping[str, Any]) -> int | None:
    value = input_fields.get_first(edit, LINE_KEYS)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9 else None


def _render_replacement(replacement: Replacement) -> tuple[Hunk, ...]:
    """Render a replacement without its file; numbered where the agent named the line."""
    line = replacement.line
    if line is None:
        hunks = diff_texts(replacement.before, replacement.after)
        return drop_line_numbers(hunks, "position in the file unknown")
    return diff_texts(replacement.before, replacement.after, old=max(line, 1), new=max(line, 1))


def _describe_change(current: CurrentFile, file: FilePreview, after: str) -> str:
    if current.is_missing:
        return NEW_FILE
    if file.hunks:
        return COMPLETE_CHANGE
    return "Nothing in the file changes." if current.text == after else LINE_ENDINGS_ONLY


# --- notebooks --------------------------------------------------------------------------------


def _preview_notebook(path: str, data: Mapping[str, Any], current: CurrentFile) -> Preview:
    cell = input_fields.get_first(data, ("cell_id", "cellId", "cell_number"))
    mode = data.get("edit_mode") or "replace"
    after = "" if mode == "delete" else input_fields.to_text(data[NEW_SOURCE])
    before = "" if mode == "insert" else _find_cell_source(current.text or "", cell)
    note = (
        f"cell {input_fields.to_text(cell)}, {input_fields.to_text(mode)}"
        if cell is not None
        else input_fields.to_text(mode)
    )
    hunks = drop_line_numbers(diff_texts(before or "", after), note)
    if before is None:
        reason = current.reason or "The cell is not in the current notebook."
        sentence = f"{reason} The current content of the cell is not shown."
    else:
        sentence = "This is the complete change of the cell."
    files = (FilePreview(path, note, hunks),)
    return Preview(complete=before is not None, sentence=sentence, note="1 cell changed", files=files)


def _find_cell_source(notebook: str, cell: object) -> str | None:
    """Return the source of a notebook cell, by id or by number from 0; None when it is missing."""
    try:
        cells = json.loads(notebook)["cells"]
        match = next(
            candidate
            for number, candidate in enumerate(cells)
            if cell == candidate.get("id") or (cell == number and cell is not False)
        )
        source = match["source"]
    except (ValueError, TypeError, KeyError, AttributeError, StopIteration, RecursionError):
        return None
    return "".join(source) if isinstance(source, list) else input_fields.to_text(source)
