"""The files that a patch text would touch: `*** Begin Patch` documents and unified diffs.

Reporting too many files is harmless, one too few is a hole. So a line that may be a header
counts as one wherever it stands, and a text without any header is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

_MARKER = re.compile(r"\*\*\* (Add File|Update File|Delete File|Move to): ?(.*)")
_OPS = {"Add File": "write", "Update File": "write", "Delete File": "delete", "Move to": "write"}
_GIT = re.compile(r"diff --git (.+)")
_NAMED = re.compile(r"(rename from|rename to|copy from|copy to|Index:) (.+)")
_NAMED_OPS = {
    "rename from": "move",
    "rename to": "write",
    "copy from": "read",
    "copy to": "write",
    "Index:": "write",
}
# What `patch` reads too and this module does not: context diffs, normal diffs, ed scripts. A header that is
# spelled in another way may be one for the client, and the text of a link is the place that it leads to.
_FOREIGN = re.compile(
    r"\*\*\*(?! Begin Patch| End Patch| End of File)|\d+(,\d+)?[acd]\d*(,\d+)?$"
    r"|(?:new (?:file )?mode|index \S+) 1[26]0000"
)
_ESCAPE = re.compile(r'\\([0-7]{3}|[abfnrtv"\\])')
_LETTERS = {
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
_NOTHING = "/dev/null"


@dataclass(slots=True)
class FilePatch:
    """One file of a patch. `before` and `after` are the lines taken out and put in; with `whole`,
    `after` is all that the new file holds. `hunks` are its places, each with the lines around it."""

    path: str
    op: str  # write | delete | move | read
    is_full_text: bool = False
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    hunks: list[tuple[list[str], list[str]]] = field(default_factory=list)

    @property
    def replacements(self) -> tuple[tuple[str, str], ...]:
        """What each hunk finds in the file, and what it leaves there."""
        sides = (_without_last_blank(found, left) for found, left in self.hunks)
        return tuple(piece for piece in sides if piece != ("", ""))


@dataclass(frozen=True, slots=True)
class Patch:
    """`why_unknown` says what could not be read; the files found so far count nevertheless."""

    files: tuple[FilePatch, ...]
    unreadable_reason: str | None = None


@lru_cache(maxsize=4)
def parse(text: str) -> Patch:
    """Read a patch of either form, or a mixture; never raises. Several readers of one call ask for it."""
    lines = text.replace("\r\n", "\n").split("\n")
    files: list[FilePatch] = []
    foreign = False
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        found = [] if line.startswith("+") else list(_headers(line, following, files))
        files.extend(found)
        if not found and files:
            _collect(files[-1], line)
        foreign = foreign or (not found and _FOREIGN.match(line) is not None)
    return Patch(tuple(f for f in _joined(files) if f.path), _why_unknown(files, foreign=foreign))


def _why_unknown(files: list[FilePatch], *, foreign: bool) -> str | None:
    if not files:
        return "the text names no file in a form that the gate can read"
    if foreign:
        return "a part of the text is no unified diff"
    return None if all(file.path for file in files) else "a header of the text names no file clearly"


def _headers(line: str, following: str, before: list[FilePatch]) -> Iterator[FilePatch]:
    marker = _MARKER.match(line.strip())
    if marker:
        if marker[1] == "Move to" and before:
            before[-1].op = "move"
        yield FilePatch(marker[2].strip(), _OPS[marker[1]], is_full_text=marker[1] == "Add File")
    elif line.lstrip().startswith("--- ") and following.lstrip().startswith("+++ "):
        yield from _pair(_name(line.lstrip()[4:]), _name(following.lstrip()[4:]))
    elif git := _GIT.match(line):
        yield from _git_names(git[1])
    elif named := _NAMED.match(line):
        yield FilePatch(_name(named[2]), _NAMED_OPS[named[1]])


def _pair(old: str, new: str) -> Iterator[FilePatch]:
    """The two names of a unified diff; `a/` and `b/` are dropped where git put them."""
    if old in {_NOTHING, f"a/{old[2:]}"} and new in {_NOTHING, f"b/{new[2:]}"}:
        old, new = (name if name == _NOTHING else name[2:] for name in (old, new))
    if new == _NOTHING:
        yield FilePatch(old, "delete")
    elif old in {_NOTHING, new}:
        yield FilePatch(new, "write", is_full_text=old == _NOTHING)
    else:
        yield FilePatch(old, "move")
        yield FilePatch(new, "write")


def _git_names(rest: str) -> Iterator[FilePatch]:
    """The names of a `diff --git a/X b/X` line. Blanks make it ambiguous where the two differ: such a
    header names no file clearly."""
    half = len(rest) // 2
    old, new = rest[:half], rest[half + 1 :]
    if rest[half : half + 1] != " " or _bare(old, "a/") != _bare(new, "b/"):
        old, _, new = rest.partition(" ")
        if '"' in rest or " " in new:
            yield FilePatch("", "write")
            return
        yield FilePatch(_bare(old, "a/"), "move")
    yield FilePatch(_bare(new, "b/"), "write")


def _bare(raw: str, prefix: str) -> str:
    return _name(raw).removeprefix(prefix)


def _name(raw: str) -> str:
    """A file name of a header: without time stamp, and unquoted where git quoted it."""
    name = raw.partition("\t")[0].rstrip()
    if not (len(name) > 1 and name.startswith('"') and name.endswith('"')):
        return name
    octets = bytearray()
    position = 1
    for escape in _ESCAPE.finditer(name, 1, len(name) - 1):
        octets += name[position : escape.start()].encode("utf-8", "surrogatepass")
        letter = escape[1]
        octets += bytes([int(letter, 8) & 0xFF]) if len(letter) == 3 else _LETTERS[letter].encode()
        position = escape.end()
    octets += name[position:-1].encode("utf-8", "surrogatepass")
    return octets.decode("utf-8", "replace")


def _collect(file: FilePatch, line: str) -> None:
    if line.startswith("@@") or not file.hunks:
        file.hunks.append(([], []))
    found, left = file.hunks[-1]
    if line.startswith("+") and not line.startswith("+++ "):
        file.after.append(line[1:])
        left.append(line[1:])
    elif line.startswith("-") and not line.startswith("--- "):
        file.before.append(line[1:])
        found.append(line[1:])
    elif not line or line.startswith(" "):
        found.append(line[1:])
        left.append(line[1:])


def _without_last_blank(found: list[str], left: list[str]) -> tuple[str, str]:
    """Both sides of a hunk. An empty line that ends both stands between the hunk and what follows it."""
    ends = bool(found and left) and not (found[-1] or left[-1])
    return "\n".join(found[: len(found) - ends]), "\n".join(left[: len(left) - ends])


def _joined(files: Iterable[FilePatch]) -> Iterator[FilePatch]:
    """Headers that speak of one file twice (`diff --git` and `---`), as one."""
    done: dict[tuple[str, str], FilePatch] = {}
    for file in files:
        known = done.setdefault((file.path, file.op), file)
        if known is not file:
            known.before += file.before
            known.after += file.after
            known.hunks += file.hunks
            known.is_full_text = known.is_full_text or file.is_full_text
    yield from done.values()
