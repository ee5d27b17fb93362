"""Patch texts of both forms, file by file and line by line, as the agent wrote them.

The gate decides which files a patch touches (`controlplane.policy.calls.patch_formats`). This module only
draws, and the caller says so when a file that the gate saw was not drawn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from controlplane.templatetags.diffs import Hunk
from sessions.approvals.card.previews.hunks import hunks_between, unnumbered
from sessions.approvals.card.previews.values import FilePreview

_MARKER = re.compile(r"\*\*\* (Add File|Update File|Delete File): ?(.*)")
_NOTES = {"Add File": "new file", "Update File": "", "Delete File": "deleted"}
_RANGE = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_GIT_NOTES = (("new file mode", "new file"), ("deleted file mode", "deleted"))
_MOVES = ("*** Move to: ", "rename to ")
_SILENT = (
    "*** Begin Patch",
    "*** End Patch",
    "*** End of File",
    "index ",
    "similarity index ",
    "rename from ",
    "\\ No newline at end of file",
)


@dataclass(slots=True)
class _Hunk:
    header: str
    old: int | None = None
    new: int | None = None
    old_left: int = 0  # lines that the header still promises
    new_left: int = 0
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)

    @property
    def open(self) -> bool:
        return self.old_left > 0 or self.new_left > 0

    def take(self, line: str) -> None:
        """A line of the body; what has no sign is context."""
        sign, text = (line[0], line[1:]) if line[:1] in {"+", "-", " "} else (" ", line)
        if sign != "+":
            self.before.append(text)
            self.old_left -= 1
        if sign != "-":
            self.after.append(text)
            self.new_left -= 1

    def drawn(self) -> tuple[Hunk, ...]:
        before, after = "\n".join(self.before), "\n".join(self.after)
        if self.old is None or self.new is None:
            return unnumbered(hunks_between(before, after), self.header)
        return hunks_between(before, after, old=max(self.old, 1), new=max(self.new, 1))


@dataclass(slots=True)
class _File:
    path: str
    note: str = ""
    hunks: list[_Hunk] = field(default_factory=list)

    @property
    def open(self) -> bool:
        return bool(self.hunks) and self.hunks[-1].open

    def hunk(self) -> _Hunk:
        if not self.hunks:
            self.hunks.append(_Hunk("the whole file" if self.note == "new file" else ""))
        return self.hunks[-1]

    def drawn(self) -> FilePreview:
        return FilePreview(self.path, self.note, tuple(hunk for one in self.hunks for hunk in one.drawn()))


def files_of_patch(text: str) -> list[FilePreview]:
    """Every file that the text has a header for, in its order; never raises."""
    lines = text.replace("\r\n", "\n").rstrip("\n").split("\n")
    files: list[_File] = []
    skip = False
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if skip:  # the second line of a `---`, `+++` pair
            skip = False
            continue
        if files and files[-1].open:
            files[-1].hunks[-1].take(line)
            continue
        skip = line.startswith("--- ") and following.startswith("+++ ")
        if skip:
            _unified_header(files, line, following)
        elif not _header(files, line) and files:
            _body(files[-1], line)
    return [file.drawn() for file in files]


def _header(files: list[_File], line: str) -> bool:
    """Whether the line was a header of either form; it is taken in then."""
    if marker := _MARKER.match(line):
        files.append(_File(marker[2].strip(), _NOTES[marker[1]]))
    elif line.startswith("diff --git "):
        files.append(_File(line.rpartition(" b/")[2]))
    elif files and line.startswith(_MOVES):
        files[-1].note = "moved to " + line.removeprefix(_MOVES[0]).removeprefix(_MOVES[1])
    elif files and (note := _git_note(line)):
        files[-1].note = note
    else:
        return line.startswith(_SILENT)
    return True


def _git_note(line: str) -> str:
    return next((note for start, note in _GIT_NOTES if line.startswith(start)), "")


def _unified_header(files: list[_File], old_line: str, new_line: str) -> None:
    old, new = (_bare(line[4:].split("\t")[0].strip()) for line in (old_line, new_line))
    path = old if new == "/dev/null" else new
    note = {"/dev/null": "new file"}.get(old) or {"/dev/null": "deleted"}.get(new, "")
    if not (files and files[-1].path == path and not files[-1].hunks):
        files.append(_File(path, note))
    files[-1].note = files[-1].note or note


def _bare(name: str) -> str:
    return name[2:] if name.startswith(("a/", "b/")) else name


def _body(file: _File, line: str) -> None:
    if not line.startswith("@@"):
        file.hunk().take(line)
        return
    numbers = _RANGE.match(line)
    if not numbers:
        file.hunks.append(_Hunk(line))
        return
    old, old_count, new, new_count = numbers.groups()
    file.hunks.append(_Hunk(line, int(old), int(new), int(old_count or 1), int(new_count or 1)))


def paths_of_patch(files: list[FilePreview]) -> Iterator[str]:
    for file in files:
        yield file.path
        if file.note.startswith("moved to "):
            yield file.note.removeprefix("moved to ")
