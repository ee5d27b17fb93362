"""Parse unified diffs, git patches and apply_patch documents (`*** Begin Patch`).

A file too many is harmless, a file too few is a hole. So a line that may be a header counts as one
wherever it stands, and a text without any header is unreadable.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

_MARKER = re.compile(r"\*\*\* (Add File|Update File|Delete File|Move to): ?(.*)")
_OPS = {"Add File": "write", "Update File": "write", "Delete File": "delete", "Move to": "write"}
_GIT = re.compile(r"diff --git (.+)")
_EXTENDED_HEADER = re.compile(r"(rename from|rename to|copy from|copy to|Index:) (.+)")
_EXTENDED_HEADER_OPS = {
    "rename from": "move",
    "rename to": "write",
    "copy from": "read",
    "copy to": "write",
    "Index:": "write",
}
# What `patch` reads and this module does not: context diffs, normal diffs, ed scripts. A header in another
# spelling may be one for the client. Mode 120000 is a symlink, its text the destination; 160000 a submodule.
_FOREIGN = re.compile(
    r"\*\*\*(?! Begin Patch| End Patch| End of File)|\d+(,\d+)?[acd]\d*(,\d+)?$"
    r"|(?:new (?:file )?mode|index \S+) 1[26]0000"
)
_ESCAPE = re.compile(r'\\([0-7]{3}|[abfnrtv"\\])')
_ESCAPED_CHARACTERS = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    '"': '"',
    "\\": "\\",
}
_NO_FILE = "/dev/null"


@dataclass(slots=True)
class FilePatch:
    """One file of a patch. `before` and `after` are the lines removed and added; with `is_full_text`,
    `after` is all that the new file holds. `hunks` are (old, new) lines with their context."""

    path: str
    op: str  # write | delete | move | read
    is_full_text: bool = False
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    hunks: list[tuple[list[str], list[str]]] = field(default_factory=list)

    @property
    def replacements(self) -> tuple[tuple[str, str], ...]:
        """The text that each hunk replaces, context included, and its replacement."""
        sides = (_drop_last_blank_line(old, new) for old, new in self.hunks)
        return tuple(pair for pair in sides if pair != ("", ""))


@dataclass(frozen=True, slots=True)
class Patch:
    """`unreadable_reason` says what could not be read; the files that were found count all the same."""

    files: tuple[FilePatch, ...]
    unreadable_reason: str | None = None


MAX_PARTS = 2_000  # hunks and headers: what is above is not judged, for the time that it would take
_PART_MARKS = ("\n@@", "\n*** ", "\n+++ ", "\n--- ")


@lru_cache(maxsize=4)
def parse(text: str) -> Patch:
    """Parse a patch of any form, or a mixture. Never raises. Cached: several readers of one call need it."""
    if sum(text.count(mark) for mark in _PART_MARKS) > MAX_PARTS:
        return Patch((), f"the patch has more than {MAX_PARTS} parts; make several of it")
    lines = text.replace("\r\n", "\n").split("\n")
    files: list[FilePatch] = []
    has_foreign_lines = False
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        headers = [] if line.startswith("+") else list(_parse_headers(line, following, files))
        files.extend(headers)
        if not headers and files:
            _add_line(files[-1], line)
        has_foreign_lines = has_foreign_lines or (not headers and _FOREIGN.match(line) is not None)
    return Patch(
        tuple(f for f in _merge_files(files) if f.path),
        _find_unreadable_reason(files, foreign=has_foreign_lines),
    )


def _find_unreadable_reason(files: list[FilePatch], *, foreign: bool) -> str | None:
    if not files:
        return "the text names no file in a form that the gate can read"
    if foreign:
        return "a part of the text is not a unified diff"
    return None if all(file.path for file in files) else "a header of the text names no file clearly"


def _parse_headers(line: str, following: str, before: list[FilePatch]) -> Iterator[FilePatch]:
    marker = _MARKER.match(line.strip())
    if marker:
        if marker[1] == "Move to" and before:
            before[-1].op = "move"
        yield FilePatch(marker[2].strip(), _OPS[marker[1]], is_full_text=marker[1] == "Add File")
    elif line.lstrip().startswith("--- ") and following.lstrip().startswith("+++ "):
        yield from _parse_name_pair(_parse_name(line.lstrip()[4:]), _parse_name(following.lstrip()[4:]))
    elif git := _GIT.match(line):
        yield from _parse_git_header(git[1])
    elif header := _EXTENDED_HEADER.match(line):
        yield FilePatch(_parse_name(header[2]), _EXTENDED_HEADER_OPS[header[1]])


def _parse_name_pair(old: str, new: str) -> Iterator[FilePatch]:
    """Return the two names of a unified diff; `a/` and `b/` are dropped where git put them."""
    if old in {_NO_FILE, f"a/{old[2:]}"} and new in {_NO_FILE, f"b/{new[2:]}"}:
        old, new = (name if name == _NO_FILE else name[2:] for name in (old, new))
    if new == _NO_FILE:
        yield FilePatch(old, "delete")
    elif old in {_NO_FILE, new}:
        yield FilePatch(new, "write", is_full_text=old == _NO_FILE)
    else:
        yield FilePatch(old, "move")
        yield FilePatch(new, "write")


def _parse_git_header(rest: str) -> Iterator[FilePatch]:
    """Return the names of a `diff --git a/X b/X` line.

    Blanks make it ambiguous where the two differ: such a header counts as a file without a name.
    """
    half = len(rest) // 2
    old, new = rest[:half], rest[half + 1 :]
    if rest[half : half + 1] != " " or _strip_prefix(old, "a/") != _strip_prefix(new, "b/"):
        old, _, new = rest.partition(" ")
        if '"' in rest or " " in new:
            yield FilePatch("", "write")
            return
        yield FilePatch(_strip_prefix(old, "a/"), "move")
    yield FilePatch(_strip_prefix(new, "b/"), "write")


def _strip_prefix(raw: str, prefix: str) -> str:
    return _parse_name(raw).removeprefix(prefix)


def _parse_name(raw: str) -> str:
    """Return the file name of a header, without its time stamp, unquoted where git quoted it (C style)."""
    name = raw.partition("\t")[0].rstrip()
    if not (len(name) > 1 and name.startswith('"') and name.endswith('"')):
        return name
    octets = bytearray()
    position = 1
    for escape in _ESCAPE.finditer(name, 1, len(name) - 1):
        octets += name[position : escape.start()].encode("utf-8", "surrogatepass")
        letter = escape[1]
        octets += bytes([int(letter, 8) & 0xFF]) if len(letter) == 3 else _ESCAPED_CHARACTERS[letter].encode()
        position = escape.end()
    octets += name[position:-1].encode("utf-8", "surrogatepass")
    return octets.decode("utf-8", "replace")


def _add_line(file: FilePatch, line: str) -> None:
    if line.startswith("@@") or not file.hunks:
        file.hunks.append(([], []))
    old_lines, new_lines = file.hunks[-1]
    if line.startswith("+") and not line.startswith("+++ "):
        file.after.append(line[1:])
        new_lines.append(line[1:])
    elif line.startswith("-") and not line.startswith("--- "):
        file.before.append(line[1:])
        old_lines.append(line[1:])
    elif not line or line.startswith(" "):
        old_lines.append(line[1:])
        new_lines.append(line[1:])


def _drop_last_blank_line(old_lines: list[str], new_lines: list[str]) -> tuple[str, str]:
    """Return both sides of a hunk. An empty line at the end of both separates it from what follows."""
    ends = bool(old_lines and new_lines) and not (old_lines[-1] or new_lines[-1])
    return "\n".join(old_lines[: len(old_lines) - ends]), "\n".join(new_lines[: len(new_lines) - ends])


def _merge_files(files: Iterable[FilePatch]) -> Iterator[FilePatch]:
    """Merge the headers that name one file twice (`diff --git` and `---`)."""
    done: dict[tuple[str, str], FilePatch] = {}
    for file in files:
        known = done.setdefault((file.path, file.op), file)
        if known is not file:
            known.before += file.before
            known.after += file.after
            known.hunks += file.hunks
            known.is_full_text = known.is_full_text or file.is_full_text
    yield from done.values()
