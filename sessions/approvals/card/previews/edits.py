"""Edits and whole files as diffs, drawn against the file as it is now where it is on this machine."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from controlplane.policy.calls import input_fields
from controlplane.templatetags.diffs import Hunk
from sessions.approvals.card.file_texts import FileText
from sessions.approvals.card.previews.hunks import hunks_between, unnumbered
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

WHOLE = "This is the whole change, drawn against the file as it is now."
WHOLE_NEW = "This is the whole change: the file does not exist yet."
SNIPPET = "This is the whole replacement. {why} The lines around it are not shown."
OVERWRITES = "This is all that the file will hold. {why} What it would lose is not shown."
MISSED = (
    "The text that it replaces is not in the file as it is now, or stands there more than once: "
    "where the change goes cannot be shown."
)
SAME_LINES = "Only line endings or the last line break change."


@dataclass(frozen=True, slots=True)
class Piece:
    """One replacement: `before` makes way for `after`. `line` is where the agent says it is, from 1."""

    before: str
    after: str
    line: int | None = None
    everywhere: bool = False


def whole_file(path: str, content: str, now: FileText) -> Preview:
    """A tool that sets the whole text of a file."""
    if now.text is None:
        file = FilePreview(path, "all that it will hold", hunks_between("", content))
        return Preview(
            complete=False, sentence=OVERWRITES.format(why=now.why), note="1 file written", files=(file,)
        )
    file = FilePreview(path, "new file" if now.gone else "", hunks_between(now.text, content))
    return Preview(
        complete=True, sentence=_sentence(now, file, content), note="1 file changed", files=(file,)
    )


def edit(path: str, data: Mapping[str, Any], now: FileText) -> Preview | None:
    """A tool that replaces or inserts pieces of a file; None when no piece was found in its input."""
    if NEW_SOURCE in data:
        return _notebook(path, data, now)
    pieces = pieces_of(data)
    if not pieces:
        return None
    after = applied(now.text, pieces) if now.text is not None else None
    if after is None or now.text is None:
        sentence = MISSED if now.text is not None else SNIPPET.format(why=now.why)
        file = FilePreview(path, "", tuple(hunk for piece in pieces for hunk in _snippet(piece)))
        return Preview(complete=now.text is None, sentence=sentence, note="1 file changed", files=(file,))
    file = FilePreview(path, "new file" if now.gone else "", hunks_between(now.text, after))
    return Preview(complete=True, sentence=_sentence(now, file, after), note="1 file changed", files=(file,))


def pieces_of(data: Mapping[str, Any]) -> list[Piece]:
    """Every replacement that the input names, in its order."""
    return [piece for part in (data, *_listed(data)) for piece in _pieces(part)]


def applied(text: str, pieces: list[Piece]) -> str | None:
    """The text after all pieces; None when one of them fits nowhere, or in several places."""
    for piece in pieces:
        changed = _apply(text, piece)
        if changed is None:
            return None
        text = changed
    return text


def _apply(text: str, piece: Piece) -> str | None:
    if not piece.before:
        return _inserted(text, piece)
    places = text.count(piece.before)
    if piece.everywhere or places == 1:
        return text.replace(piece.before, piece.after)
    if not places or piece.line is None:
        return None
    lines = text.splitlines(keepends=True)
    head = "".join(lines[: piece.line - 1])
    rest = text[len(head) :]
    return head + piece.after + rest[len(piece.before) :] if rest.startswith(piece.before) else None


def _inserted(text: str, piece: Piece) -> str | None:
    if not text:
        return piece.after
    if piece.line is None:
        return None
    lines = text.splitlines(keepends=True)
    return "".join((*lines[: piece.line], piece.after if piece.after.endswith("\n") else piece.after + "\n",
                    *lines[piece.line :]))  # fmt: skip


def _listed(data: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for value in input_fields.get_all(data, input_fields.EDIT_LIST_KEYS):
        yield from (item for item in (value if isinstance(value, list) else ()) if isinstance(item, Mapping))


def _pieces(part: Mapping[str, Any]) -> Iterator[Piece]:
    line = _line(part)
    everywhere = part.get("replace_all") is True or part.get("replaceAll") is True
    for old, new in input_fields.REPLACEMENTS:
        if part.get(old) is not None or part.get(new) is not None:
            yield Piece(
                input_fields.to_text(part.get(old)), input_fields.to_text(part.get(new)), line, everywhere
            )
    for key in input_fields.CONTENT_KEYS:
        if part.get(key) is not None:
            yield Piece("", input_fields.to_text(part[key]), line)
    for block in _BLOCK.finditer(input_fields.to_text(part.get("diff"))):
        yield Piece(block["before"], block["after"], int(block["line"]) if block["line"] else None)


def _line(part: Mapping[str, Any]) -> int | None:
    value = input_fields.get_first(part, LINE_KEYS)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9 else None


def _snippet(piece: Piece) -> tuple[Hunk, ...]:
    """A replacement on its own: numbered where the agent named the line."""
    line = piece.line
    if line is None:
        return unnumbered(hunks_between(piece.before, piece.after), "the place in the file is not known")
    return hunks_between(piece.before, piece.after, old=max(line, 1), new=max(line, 1))


def _sentence(now: FileText, file: FilePreview, after: str) -> str:
    if now.gone:
        return WHOLE_NEW
    if file.hunks:
        return WHOLE
    return "Nothing in the file changes." if now.text == after else SAME_LINES


# --- notebooks --------------------------------------------------------------------------------


def _notebook(path: str, data: Mapping[str, Any], now: FileText) -> Preview:
    cell = input_fields.get_first(data, ("cell_id", "cellId", "cell_number"))
    mode = data.get("edit_mode") or "replace"
    after = "" if mode == "delete" else input_fields.to_text(data[NEW_SOURCE])
    before = "" if mode == "insert" else _source_of(now.text or "", cell)
    note = (
        f"cell {input_fields.to_text(cell)}, {input_fields.to_text(mode)}"
        if cell is not None
        else input_fields.to_text(mode)
    )
    hunks = unnumbered(hunks_between(before or "", after), note)
    sentence = "This is the whole change of the cell." if before is not None else (
        f"{now.why or 'The cell is not in the notebook as it is now.'} What the cell holds now is not shown."
    )  # fmt: skip
    files = (FilePreview(path, note, hunks),)
    return Preview(complete=before is not None, sentence=sentence, note="1 cell changed", files=files)


def _source_of(notebook: str, cell: object) -> str | None:
    """The text of a cell, by id or by number from 0; None when it is not there."""
    try:
        cells = json.loads(notebook)["cells"]
        found = next(
            one
            for number, one in enumerate(cells)
            if cell == one.get("id") or (cell == number and cell is not False)
        )
        source = found["source"]
    except (ValueError, TypeError, KeyError, AttributeError, StopIteration, RecursionError):
        return None
    return "".join(source) if isinstance(source, list) else input_fields.to_text(source)
