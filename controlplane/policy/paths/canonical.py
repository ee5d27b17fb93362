"""Make one canonical path of any spelling that an agent may send, or reject it.

A canonical path is workspace-relative, POSIX, NFC, without `.`, `..` and empty segments; "" is the
workspace root itself. What could mean one thing here and another to the program that acts on it later
(look-alikes, leftover escapes, home directories, streams) is rejected, never guessed at.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from controlplane.policy.model import Reason

MAX_PATH_BYTES = 4096
MAX_SEGMENT_BYTES = 255  # NAME_MAX of the common file systems

_WINDOWS_ROOT = re.compile(r"[A-Za-z]:[\\/]|\\\\[^\\/?.]|//[^\\/?.]")
_WINDOWS_DISK = re.compile(r"/(?:mnt|cygdrive)/[A-Za-z]/")  # a drive of Windows, seen from WSL or Cygwin
_DRIVE = re.compile(r"[A-Za-z]:")
_NEEDS_DRIVE = re.compile(r"[\\/](?![\\/])|[A-Za-z]:(?![\\/])")
_HOME = re.compile(r"~|(?i:\$HOME|\$\{HOME\}|\$USERPROFILE|%USERPROFILE%|%HOMEPATH%)(?=$|[/\\])")
_VARIABLE = re.compile(r"(?:\$[A-Z_][A-Z0-9_]*|\$\{[^/]*\}|%[A-Z_][A-Z0-9_]*%)(?=$|[/\\])")
_ESCAPED = re.compile(r"%(?:2e|2f|5c|00|25)", re.IGNORECASE)
_URL = re.compile(r"file:|[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_GIT_SHORT_NAME = re.compile(r"git~[0-9]+", re.IGNORECASE)  # `.git` under its 8.3 name
_WINDOWS_NAME = re.compile(
    r".*~[0-9]|(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³]) *(?:\.|$)", re.IGNORECASE
)
_INVISIBLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # control, format, surrogate, line and paragraph separator


@dataclass(frozen=True, slots=True)
class CanonicalPath:
    """A canonical path. `dotted` is the same path before `..` was applied, for following links."""

    path: str
    dotted: str


@dataclass(frozen=True, slots=True)
class InvalidPath:
    """Why a spelling is rejected: invalid_input, invalid_path or outside_workspace."""

    reason: Reason
    message: str


@dataclass(frozen=True, slots=True)
class _Root:
    """The segments of the session's root directory; None where the agent never sent it."""

    segments: list[str] | None
    windows: bool = False
    on_windows: bool = False  # short names and devices count as on Windows, whoever spells them

    def is_absolute(self, path: str) -> bool:
        return path[:1] == "/" or (self.windows and (path[:1] == "\\" or bool(_DRIVE.match(path))))


def canonicalize(
    raw: object, *, root: str | None, cwd: str | None, writing: bool
) -> CanonicalPath | InvalidPath:
    """Return the canonical path of `raw` in the workspace, or why it has none.

    `root` is the absolute directory of the workspace on the agent's machine, POSIX or Windows; without
    it absolute paths are outside. `cwd` is absolute or relative to `root`; None is the root. `writing`
    also rejects wildcards and a trailing slash.
    """
    if not isinstance(raw, str) or not raw:
        return InvalidPath(Reason.INVALID_INPUT, "A path must be a non-empty string.")
    parsed_root = _parse_root(root)
    if parsed_root is None:
        return _invalid(root or "", "the session's root must be an absolute folder without `..`")
    problem = _find_spelling_problem(raw, windows=parsed_root.windows)
    problem = problem or (_find_writing_problem(raw) if writing else None)
    if problem:
        return _invalid(raw, problem)
    segments = _to_absolute(raw, cwd or "", parsed_root)
    dotted = None if segments is None else _make_relative(segments, parsed_root.segments or [])
    if dotted is None:
        return _outside(raw)
    problem = _find_name_problem(dotted, windows=parsed_root.on_windows)
    return _invalid(raw, problem) if problem else _apply_dots(raw, dotted)


def to_absolute(raw: object, *, root: str | None, cwd: str | None) -> str | None:
    """Return where a path outside the workspace lies: `/tmp/x`, `~/x`, `c:/x`, with `..` applied as text.

    None where that is not known, or where the spelling could mean something else.
    """
    parsed_root = _parse_root(root)
    if not isinstance(raw, str) or not raw or parsed_root is None:
        return None
    windows = parsed_root.windows
    spelling = None if _HOME.match(cwd or "") else _spell_home(raw)
    if spelling is None or _find_spelling_problem(raw, windows=windows):
        return None
    if spelling[:1] == "~":
        segments: list[str] | None = _split(spelling, windows=windows)
    else:
        segments = _to_absolute(raw, cwd or "", parsed_root) if parsed_root.segments is not None else None
    top = 1 if windows or spelling[:1] == "~" else 0
    stack = _apply_dots_as_text(segments or [".."], top)
    if (
        stack is None
        or stack[:1] == ["//"]
        or _find_name_problem(stack[top:], windows=parsed_root.on_windows)
    ):
        return None
    return "/".join(stack) if top else "/" + "/".join(stack)


def _spell_home(raw: str) -> str | None:
    """Return the path with `~` for the agent's own home; None where it names somebody else's."""
    home = _HOME.match(raw)
    if home is None:
        return raw
    return "~" + raw[home.end() :] if raw[home.end() : home.end() + 1] in {"", "/", "\\"} else None


def _apply_dots_as_text(segments: list[str], top: int) -> list[str] | None:
    """Return the segments without `..`; None where they climb above the first `top` ones."""
    stack: list[str] = []
    for segment in segments:
        if segment != "..":
            stack.append(segment)
        elif len(stack) > top:
            stack.pop()
        else:
            return None
    return stack


def fold_case(path: str) -> str:
    """Return the form in which two paths are the same on a file system that ignores case.

    Full Unicode case folding on the decomposed text: wider than any one file system folds, because it
    serves the side that denies.
    """
    if path.isascii():
        return path.lower()
    normalized = unicodedata.normalize("NFD", path).casefold()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", normalized).casefold())


def to_printable(raw: str) -> str:
    """Return a hostile path as text for people: escapes visible, cut after 120 characters."""
    visible = (c if c.isprintable() else c.encode("unicode_escape").decode() for c in raw[:120])
    return "".join(visible) + ("…" if len(raw) > 120 else "")


@lru_cache(maxsize=4096)
def find_character_problem(char: str) -> str | None:
    """Return why a path may not hold a character; None when it may."""
    if unicodedata.category(char) in _INVISIBLE:
        return f"it holds the invisible or control character U+{ord(char):04X}"
    if char in "\\:":
        return f"it holds `{char}` (a separator, a drive or a stream elsewhere)"
    # A program that normalises (NFKC) would turn it into a separator after the check.
    if not char.isascii() and any(special in unicodedata.normalize("NFKC", char) for special in "/\\.:"):
        return f"it holds U+{ord(char):04X}, which only looks like a separator or a dot"
    return None


def _invalid(raw: str, problem: str) -> InvalidPath:
    message = (
        f"The path [{to_printable(raw)}] is refused: {problem}."
        " Send the plain path of a file in the workspace."
    )
    return InvalidPath(Reason.INVALID_PATH, message)


def _outside(raw: str) -> InvalidPath:
    message = (
        f"The path [{to_printable(raw)}] is outside the workspace."
        " Send a path below the session's root folder."
    )
    return InvalidPath(Reason.OUTSIDE_WORKSPACE, message)


def is_windows(root: str | None) -> bool:
    """Return whether a root lies on a disk of Windows, seen from WSL or Cygwin too."""
    parsed = _parse_root(root)
    return parsed is not None and parsed.on_windows


@lru_cache(maxsize=1024)
def _parse_root(root: str | None) -> _Root | None:
    if root is None:
        return _Root(None)
    windows = bool(_WINDOWS_ROOT.match(root))
    on_windows = windows or bool(_WINDOWS_DISK.match(root))
    parsed = _Root(_split(root, windows=windows), windows, on_windows)
    usable = parsed.is_absolute(root) and parsed.segments is not None and ".." not in parsed.segments
    return parsed if usable else None


def _split(path: str, *, windows: bool) -> list[str]:
    """Return the segments of a path. On Windows its drive, or its server and share, are lower-cased."""
    posix = path.replace("\\", "/") if windows else path
    segments = [s for s in unicodedata.normalize("NFC", posix).split("/") if s not in {"", "."}]
    if windows and posix.startswith("//"):
        return ["//", *(s.lower() for s in segments[:2]), *segments[2:]]
    if windows and _DRIVE.match(posix):
        return [segments[0].lower(), *segments[1:]]
    return segments


def _to_absolute(raw: str, cwd: str, root: _Root) -> list[str] | None:
    """Return all segments from the top of the disk, or from the root when that is not known; None for a
    path in a home directory, or an absolute one without a known root."""
    segments: list[str] = list(root.segments or ())
    for path in (cwd, raw):
        if _HOME.match(path) or (root.is_absolute(path) and root.segments is None):
            return None
        added = _split(path, windows=root.windows)
        segments = added if root.is_absolute(path) else segments + added
    return segments


def _make_relative(segments: list[str], root: list[str]) -> list[str] | None:
    """Return the part of an absolute path that lies below the root for good, with its `..`.

    Before that part only the root's own directories may be walked, up and down. Any other directory
    there, or a name below a root that is left again, could be a link that leads elsewhere, and the core
    cannot look; such a detour counts as outside.
    """
    stack: list[str] = []
    start = None if root else 0  # of the part below the root
    for index, segment in enumerate(segments):
        if segment != "..":
            stack.append(segment)
        elif stack:
            stack.pop()
        else:
            return None
        if stack[: len(root)] == root:
            start = index + 1 if start is None else start
        elif stack != root[: len(stack)] or (start is not None and segments[start:index]):
            return None
        else:
            start = None
    return None if start is None else segments[start:]


def _apply_dots(raw: str, dotted: list[str]) -> CanonicalPath | InvalidPath:
    segments: list[str] = []
    for segment in dotted:
        if segment == "..":
            segments.pop()
        else:
            segments.append(segment)
    path = "/".join(segments)
    if len(path.encode()) > MAX_PATH_BYTES:
        return _invalid(raw, f"it is longer than {MAX_PATH_BYTES} bytes")
    # After `./` is gone: `./~/x` and `./$HOME/x` would be expanded by whoever receives the canonical path.
    if _HOME.match(path) or _VARIABLE.match(path):
        return _invalid(raw, "a name at the top of the workspace may not read as a home folder or a variable")
    return CanonicalPath(path, "/".join(dotted))


def _find_spelling_problem(raw: str, *, windows: bool) -> str | None:
    """Return what is wrong with the text as a whole, wherever it leads."""
    if len(raw) > MAX_PATH_BYTES:
        return f"it is longer than {MAX_PATH_BYTES} bytes"
    if _URL.match(raw):
        return "a URL is not a path, and tools disagree on what it names"
    if _VARIABLE.match(raw) and not _HOME.match(raw):
        return "variables are not expanded here"
    if windows:
        return "it depends on the current drive" if _NEEDS_DRIVE.match(raw) else None
    if "\\" in raw:
        return "it holds a backslash; segments are separated by `/`"
    # POSIX leaves the meaning of exactly two leading slashes to the system.
    return "it begins with two slashes" if raw.startswith("//") else None


def _find_writing_problem(raw: str) -> str | None:
    if "*" in raw or "?" in raw:
        return "a file that is written is named without the wildcards `*` and `?`"
    return "a file that is written does not end in a slash" if raw.endswith(("/", "\\")) else None


def _find_name_problem(segments: list[str], *, windows: bool) -> str | None:
    names = (segment for segment in segments if segment != "..")
    return next(filter(None, (_find_segment_problem(name, windows=windows) for name in names)), None)


@lru_cache(maxsize=4096)
def _find_segment_problem(name: str, *, windows: bool) -> str | None:
    problem = next(filter(None, map(find_character_problem, name)), None)
    if problem:
        return problem
    if name[-1] == "." or name[-1].isspace():
        return "a name in it ends in a dot or a space, which some systems drop"
    if _ESCAPED.search(name):
        return "it holds a percent-encoded character that could be decoded later"
    if len(name.encode()) > MAX_SEGMENT_BYTES:
        return f"a name in it is longer than {MAX_SEGMENT_BYTES} bytes"
    if _GIT_SHORT_NAME.fullmatch(name) or (windows and _WINDOWS_NAME.match(name)):
        return "a name in it is a short name or a device of Windows"
    return None
