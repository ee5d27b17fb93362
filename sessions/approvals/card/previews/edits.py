"""Edits and whole files as diffs, drawn against the file as it is now where it is on this machine."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from controlplane.policy.calls import input_fields
from controlplane.templatetags.diffs import Hunk
from sessions.approvals.card.file_contents import FileContent
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
    """One replacement: `before` makes way for `after`. `line` is where the agent says it is, from 1."""

    before: str
    after: str
    line: int | None = None
    replace_all: bool = False


def preview_content(path: str, content: str, current: FileContent) -> Preview:
    """A tool that sets the whole text of a file."""
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


def preview_edit(path: str, data: Mapping[str, Any], current: FileContent) -> Preview | None:
    """A tool that replaces or inserts pieces of a file; None when no piece was found in its input."""
    if NEW_SOURCE in data:
        return _preview_notebook(path, data, current)
    replacements = parse_replacements(data)
    if not replacements:
        return None
    after = apply_replacements(current.text, replacements) if current.text is not None else None
    if after is None or current.text is None:
        sentence = NO_MATCH if current.text is not None else REPLACEMENT_ONLY.format(reason=current.reason)
        file = FilePreview(
            path, "", tuple(hunk for piece in replacements for hunk in _render_replacement(piece))
        )
        return Preview(complete=current.text is None, sentence=sentence, note="1 file changed", files=(file,))
    file = FilePreview(path, "new file" if current.is_missing else "", diff_texts(current.text, after))
    return Preview(
        complete=True, sentence=_describe_change(current, file, after), note="1 file changed", files=(file,)
    )


def parse_replacements(data: Mapping[str, Any]) -> list[Replacement]:
    """Every replacement that the input names, in its order."""
    return [piece for part in (data, *_iter_edits(data)) for piece in _iter_replacements(part)]


def apply_replacements(text: str, replacements: list[Replacement]) -> str | None:
    """The text after all pieces; None when one of them fits nowhere, or in several places."""
    for piece in replacements:
        result = _apply_replacement(text, piece)
        if result is None:
            return None
        text = result
    return text


def _apply_replacement(text: str, piece: Replacement) -> str | None:
    if not piece.before:
        return _insert(text, piece)
    count = text.count(piece.before)
    if piece.replace_all or count == 1:
        return text.replace(piece.before, piece.after)
    if not count or piece.line is None:
        return None
    lines = text.splitlines(keepends=True)
    head = "".join(lines[: piece.line - 1])
    rest = text[len(head) :]
    return head + piece.after + rest[len(piece.before) :] if rest.startswith(piece.before) else None


def _insert(text: str, piece: Replacement) -> str | None:
    if not text:
        return piece.after
    if piece.line is None:
        return None
    lines = text.splitlines(keepends=True)
    return "".join((*lines[: piece.line], piece.after if piece.after.endswith("\n") else piece.after + "\n",
                    *lines[piece.line :]))  # fmt: skip


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


def _render_replacement(piece: Replacement) -> tuple[Hunk, ...]:
    """A replacement on its own: numbered where the agent named the line."""
    line = piece.line
    if line is None:
        return drop_line_numbers(diff_texts(piece.before, piece.after), "position in the file unknown")
    return diff_texts(piece.before, piece.after, old=max(line, 1), new=max(line, 1))


def _describe_change(current: FileContent, file: FilePreview, after: str) -> str:
    if current.is_missing:
        return NEW_FILE
    if file.hunks:
        return COMPLETE_CHANGE
    return "Nothing in the file changes." if current.text == after else LINE_ENDINGS_ONLY


# --- notebooks --------------------------------------------------------------------------------


def _preview_notebook(path: str, data: Mapping[str, Any], current: FileContent) -> Preview:
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
    """The text of a cell, by id or by number from 0; None when it is not there."""
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
