"""Render unified diffs and apply_patch documents, file by file, as the agent wrote them.

The gate decides which files a patch touches (`controlplane.policy.calls.patch_formats`). This module only
renders; its caller reports each file that the gate saw and that was not rendered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from controlplane.templatetags.diffs import Hunk
from sessions.approvals.card.previews.hunks import diff_texts, drop_line_numbers
from sessions.approvals.card.previews.values import FilePreview

_MARKER = re.compile(r"\*\*\* (Add File|Update File|Delete File): ?(.*)")
_NOTES = {"Add File": "new file", "Update File": "", "Delete File": "deleted"}
_RANGE = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_GIT_NOTES = (("new file mode", "new file"), ("deleted file mode", "deleted"))
_MOVE_PREFIXES = ("*** Move to: ", "rename to ")
_IGNORED_PREFIXES = (
    "*** Begin Patch",
    "*** End Patch",
    "*** End of File",
    "index ",
    "similarity index ",
    "rename from ",
    "\\ No newline at end of file",
)


@dataclass(slots=True)
class _PatchHunk:
    header: str
    old: int | None = None
    new: int | None = None
    old_left: int = 0  # lines that the header still promises
    new_left: int = 0
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)

    @property
    def is_open(self) -> bool:
        return self.old_left > 0 or self.new_left > 0

    def add_line(self, line: str) -> None:
        """Add a line of the body; one without a sign is context."""
        sign, text = (line[0], line[1:]) if line[:1] in {"+", "-", " "} else (" ", line)
        if sign != "+":
            self.before.append(text)
            self.old_left -= 1
        if sign != "-":
            self.after.append(text)
            self.new_left -= 1

    def to_hunks(self) -> tuple[Hunk, ...]:
        before, after = "\n".join(self.before), "\n".join(self.after)
        if self.old is None or self.new is None:
            return drop_line_numbers(diff_texts(before, after), self.header)
        return diff_texts(before, after, old=max(self.old, 1), new=max(self.new, 1))


@dataclass(slots=True)
class _PatchFile:
    path: str
    note: str = ""
    hunks: list[_PatchHunk] = field(default_factory=list)

    @property
    def is_open(self) -> bool:
        return bool(self.hunks) and self.hunks[-1].is_open

    def get_hunk(self) -> _PatchHunk:
        if not self.hunks:
            self.hunks.append(_PatchHunk("complete file" if self.note == "new file" else ""))
        return self.hunks[-1]

    def to_preview(self) -> FilePreview:
        return FilePreview(
            self.path, self.note, tuple(hunk for patch_hunk in self.hunks for hunk in patch_hunk.to_hunks())
        )


def parse_patch_files(text: str) -> list[FilePreview]:
    """Return every file that the text has a header for, in order; never raise."""
    lines = text.replace("\r\n", "\n").rstrip("\n").split("\n")
    files: list[_PatchFile] = []
    skip = False
    for line, next_line in zip(lines, [*lines[1:], ""], strict=True):
        if skip:  # the second line of a `---`, `+++` pair
            skip = False
            continue
        if files and files[-1].is_open:
            files[-1].hunks[-1].add_line(line)
            continue
        skip = line.startswith("--- ") and next_line.startswith("+++ ")
        if skip:
            _parse_unified_header(files, line, next_line)
        elif not _parse_header(files, line) and files:
            _parse_body_line(files[-1], line)
    return [file.to_preview() for file in files]


def _parse_header(files: list[_PatchFile], line: str) -> bool:
    """Apply a header line of either format; return whether the line was one."""
    if marker := _MARKER.match(line):
        files.append(_PatchFile(marker[2].strip(), _NOTES[marker[1]]))
    elif line.startswith("diff --git "):
        files.append(_PatchFile(line.rpartition(" b/")[2]))
    elif files and line.startswith(_MOVE_PREFIXES):
        files[-1].note = "moved to " + line.removeprefix(_MOVE_PREFIXES[0]).removeprefix(_MOVE_PREFIXES[1])
    elif files and (note := _find_git_note(line)):
        files[-1].note = note
    else:
        return line.startswith(_IGNORED_PREFIXES)
    return True


def _find_git_note(line: str) -> str:
    return next((note for start, note in _GIT_NOTES if line.startswith(start)), "")


def _parse_unified_header(files: list[_PatchFile], old_line: str, new_line: str) -> None:
    old, new = (_strip_prefix(line[4:].split("\t")[0].strip()) for line in (old_line, new_line))
    path = old if new == "/dev/null" else new
    note = {"/dev/null": "new file"}.get(old) or {"/dev/null": "deleted"}.get(new, "")
    if not (files and files[-1].path == path and not files[-1].hunks):
        files.append(_PatchFile(path, note))
    files[-1].note = files[-1].note or note


def _strip_prefix(name: str) -> str:
    return name[2:] if name.startswith(("a/", "b/")) else name


def _parse_body_line(file: _PatchFile, line: str) -> None:
    if not line.startswith("@@"):
        file.get_hunk().add_line(line)
        return
    numbers = _RANGE.match(line)
    if not numbers:
        file.hunks.append(_PatchHunk(line))
        return
    old, old_count, new, new_count = numbers.groups()
    file.hunks.append(_PatchHunk(line, int(old), int(new), int(old_count or 1), int(new_count or 1)))


def list_patch_paths(files: list[FilePreview]) -> Iterator[str]:
    for file in files:
        yield file.path
        if file.note.startswith("moved to "):
            yield file.note.removeprefix("moved to ")
