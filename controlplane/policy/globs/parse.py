"""The globs of `owned_scope` and `protected_paths`, exactly as the contract words them.

Workspace-relative POSIX; `*` and `?` stay within a segment, `**` as a whole segment spans any
number of them; `[…]` classes, `{a,b}` braces, `\\` escapes; nothing matches a basename or prefix
by itself; dotfiles are ordinary; a leading `!` excludes. Braces are expanded first, as a shell
does, so a brace without a comma is plain text and a comma in a class still divides a brace.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise

from controlplane.policy.globs.syntax import (
    Alternative,
    CharClass,
    GlobSyntaxError,
    Wildcard,
    split_segments,
    to_literal_name,
    to_literal_path,
    tokenize,
)
from controlplane.policy.paths.canonical import find_character_problem

MAX_LENGTH = 512
MAX_ALTERNATIVES = 256
MAX_EXPANDED = 16_384  # characters of all alternatives together: bounds the time to compile
MAX_GLOBSTARS = 32

_ANOTHER_PLACE = re.compile(r"/|~|\\\\|[A-Za-z]:|[a-z][a-z0-9+.-]*://", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class GlobProblem:
    """Why a pattern is not accepted. `kind` is INVALID_GLOB or ABSOLUTE_PATH, as import reports it."""

    kind: str
    message: str
    suggestion: str | None = None


@dataclass(frozen=True, slots=True)
class Glob:
    """A readable pattern. `alternatives` are its brace expansions, each cut into segments.

    `exact` is the one path that a pattern without wildcards and braces names.
    """

    pattern: str
    excludes: bool
    alternatives: tuple[Alternative, ...]
    exact: str | None


def find_problem(pattern: object) -> GlobProblem | None:
    """What is wrong with a pattern; None when a scope may hold it."""
    if not isinstance(pattern, str):
        return GlobProblem("INVALID_GLOB", "A pattern must be text.")
    parsed = parse(pattern)
    return parsed if isinstance(parsed, GlobProblem) else None


def parse(pattern: str) -> Glob | GlobProblem:
    """Read a pattern, or say why it cannot be read."""
    if len(pattern) > MAX_LENGTH:
        return GlobProblem("INVALID_GLOB", f"The pattern is longer than {MAX_LENGTH} characters.")
    return _parse(pattern)


@lru_cache(maxsize=4096)
def _parse(pattern: str) -> Glob | GlobProblem:
    excludes = pattern.startswith("!")
    body = unicodedata.normalize("NFC", pattern[excludes:])
    while body.startswith("./"):
        body = body[2:]
    found = _text_problem(pattern, body)
    if found:
        return found
    try:
        texts = expand_braces(body)
        alternatives = tuple(_alternative(text) for text in texts)
    except GlobSyntaxError as error:
        return GlobProblem("INVALID_GLOB", f"[{pattern}] cannot be read: {error}.")
    found = next(filter(None, map(_segments_problem, alternatives)), None)
    if found:
        return found
    return Glob(
        pattern, excludes, alternatives, to_literal_path(alternatives[0]) if texts == [body] else None
    )


def expand_braces(text: str) -> list[str]:
    """The brace expansions of a pattern, in order, escapes kept.

    Raises GlobSyntaxError above 256 alternatives or 16,384 characters.
    """
    done: list[str] = []
    waiting = [text]
    while waiting:
        current = waiting.pop()
        group = _first_group(current)
        if group is None:
            done.append(current)
        else:
            head, choices, tail = group
            waiting += [head + choice + tail for choice in reversed(choices)]
        if len(done) + len(waiting) > MAX_ALTERNATIVES:
            raise GlobSyntaxError(f"its braces make more than {MAX_ALTERNATIVES} alternatives")
    if sum(map(len, done)) > MAX_EXPANDED:
        raise GlobSyntaxError(f"its braces make more than {MAX_EXPANDED} characters")
    return done


def _first_group(text: str) -> tuple[str, list[str], str] | None:
    """What stands before, in and after the first brace; a brace without a comma comes escaped."""
    opened: list[tuple[int, list[int]]] = []  # open braces with the places of their commas
    closed: list[tuple[int, int, list[int]]] = []
    escaped = False
    for at, char in enumerate(text):
        if escaped or char == "\\":
            escaped = not escaped
        elif char == "{":
            opened.append((at, []))
        elif char == "," and opened:
            opened[-1][1].append(at)
        elif char == "}" and opened:
            start, commas = opened.pop()
            closed.append((start, at, commas))
    if not closed:
        return None
    start, end, commas = min(closed)
    if not commas:
        return text[:start], [f"\\{text[start:end]}\\}}"], text[end + 1 :]
    edges = [start, *commas, end]
    choices = [text[a + 1 : b] for a, b in pairwise(edges)]
    return text[:start], choices, text[end + 1 :]


def _alternative(text: str) -> Alternative:
    cut = split_segments(tokenize(text, strict=True), long_stars=False)
    if cut.count(Wildcard.GLOBSTAR) > MAX_GLOBSTARS:
        raise GlobSyntaxError(f"it holds more than {MAX_GLOBSTARS} separate `**`")
    return cut


def _text_problem(pattern: str, body: str) -> GlobProblem | None:
    """What is wrong with the text before it is taken apart."""
    if not body or body.isspace():
        return GlobProblem("INVALID_GLOB", "The pattern is empty.", "**")
    hidden = next((c for c in body if c not in "\\:" and find_character_problem(c)), None)
    if hidden:
        return GlobProblem(
            "INVALID_GLOB", f"No path can hold the character U+{ord(hidden):04X} of the pattern."
        )
    repaired = pattern[: pattern.startswith("!")] + _repaired(body)
    if _ANOTHER_PLACE.match(body):
        message = f"[{pattern}] leaves the workspace; patterns are relative to its root."
        return GlobProblem("ABSOLUTE_PATH", message, repaired if body.startswith("/") else None)
    if body.endswith("/"):
        return GlobProblem("INVALID_GLOB", f"[{pattern}] ends in a slash and would match nothing.", repaired)
    if body != body.strip():
        return GlobProblem("INVALID_GLOB", f"[{pattern}] begins or ends with a blank.", repaired)
    return None


def _repaired(body: str) -> str:
    """What a pattern that begins or ends with a slash or a blank was most likely meant to be."""
    inside = body.strip().lstrip("/")
    return f"{inside.rstrip('/')}/**".lstrip("/") if inside.endswith("/") or not inside else inside


def _segments_problem(alternative: Alternative) -> GlobProblem | None:
    """What is wrong with one brace expansion: segments that no canonical path has."""
    names = [to_literal_name(part) for part in alternative]
    named = zip(names, alternative, strict=True)
    steps = ({"..": -1, None: part is not Wildcard.GLOBSTAR}.get(name, 1) for name, part in named)
    if min(accumulate(steps)) < 0:
        return GlobProblem("ABSOLUTE_PATH", "The pattern leaves the workspace through `..`.")
    if not {"", ".", ".."}.isdisjoint(names):
        return GlobProblem("INVALID_GLOB", "The pattern holds an empty, `.` or `..` segment.")
    atoms = (atom for part in alternative if isinstance(part, tuple) for atom in part)
    if any(isinstance(atom, CharClass) and not atom.ranges for atom in atoms):
        return GlobProblem("INVALID_GLOB", "The pattern holds a class that no character is in.")
    return None
