"""Parse the globs of `owned_scope` and `protected_paths`, exactly as the contract defines them.

Workspace-relative POSIX; `*` and `?` stay within a segment, `**` as a whole segment matches
any number of them; `[…]` classes, `{a,b}` braces, `\\` escapes; nothing matches a basename or prefix
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

_ABSOLUTE = re.compile(r"/|~|\\\\|[A-Za-z]:|[a-z][a-z0-9+.-]*://", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class GlobProblem:
    """Why a pattern is rejected. `kind` is INVALID_GLOB or ABSOLUTE_PATH, as the import report has it."""

    kind: str
    message: str
    suggestion: str | None = None


@dataclass(frozen=True, slots=True)
class Glob:
    """A valid pattern. `alternatives` are its brace expansions, each split into segments.

    `exact` is the one path that a pattern without wildcards and braces names.
    """

    pattern: str
    excludes: bool
    alternatives: tuple[Alternative, ...]
    exact: str | None


def find_problem(pattern: object) -> GlobProblem | None:
    """Return what is wrong with a pattern; None when a scope may hold it."""
    if not isinstance(pattern, str):
        return GlobProblem("INVALID_GLOB", "A pattern must be a string.")
    parsed = parse(pattern)
    return parsed if isinstance(parsed, GlobProblem) else None


def parse(pattern: str) -> Glob | GlobProblem:
    """Parse a pattern, or return why it cannot be parsed."""
    if len(pattern) > MAX_LENGTH:
        return GlobProblem("INVALID_GLOB", f"The pattern is longer than {MAX_LENGTH} characters.")
    return _parse(pattern)


@lru_cache(maxsize=4096)
def _parse(pattern: str) -> Glob | GlobProblem:
    excludes = pattern.startswith("!")
    body = unicodedata.normalize("NFC", pattern[excludes:])
    while body.startswith("./"):
        body = body[2:]
    problem = _find_text_problem(pattern, body)
    if problem:
        return problem
    try:
        texts = expand_braces(body)
        alternatives = tuple(_parse_alternative(text) for text in texts)
    except GlobSyntaxError as error:
        return GlobProblem("INVALID_GLOB", f"[{pattern}] cannot be read: {error}.")
    problem = next(filter(None, map(_find_segment_problem, alternatives)), None)
    if problem:
        return problem
    return Glob(
        pattern, excludes, alternatives, to_literal_path(alternatives[0]) if texts == [body] else None
    )


def expand_braces(text: str) -> list[str]:
    """Return the brace expansions of a pattern, in order, with their escapes.

    Raises GlobSyntaxError above 256 alternatives or 16,384 characters.
    """
    expanded: list[str] = []
    pending = [text]
    while pending:
        current = pending.pop()
        group = _split_first_brace(current)
        if group is None:
            expanded.append(current)
        else:
            head, choices, tail = group
            pending += [head + choice + tail for choice in reversed(choices)]
        if len(expanded) + len(pending) > MAX_ALTERNATIVES:
            raise GlobSyntaxError(f"its braces make more than {MAX_ALTERNATIVES} alternatives")
    if sum(map(len, expanded)) > MAX_EXPANDED:
        raise GlobSyntaxError(f"its braces make more than {MAX_EXPANDED} characters")
    return expanded


def _split_first_brace(text: str) -> tuple[str, list[str], str] | None:
    """Return what is before, in and after the first brace; a brace without a comma comes escaped."""
    open_braces: list[tuple[int, list[int]]] = []  # open braces with the positions of their commas
    groups: list[tuple[int, int, list[int]]] = []
    escaped = False
    for index, char in enumerate(text):
        if escaped or char == "\\":
            escaped = not escaped
        elif char == "{":
            open_braces.append((index, []))
        elif char == "," and open_braces:
            open_braces[-1][1].append(index)
        elif char == "}" and open_braces:
            start, commas = open_braces.pop()
            groups.append((start, index, commas))
    if not groups:
        return None
    start, end, commas = min(groups)
    if not commas:
        return text[:start], [f"\\{text[start:end]}\\}}"], text[end + 1 :]
    edges = [start, *commas, end]
    choices = [text[a + 1 : b] for a, b in pairwise(edges)]
    return text[:start], choices, text[end + 1 :]


def _parse_alternative(text: str) -> Alternative:
    segments = split_segments(tokenize(text, strict=True), long_stars=False)
    if segments.count(Wildcard.GLOBSTAR) > MAX_GLOBSTARS:
        raise GlobSyntaxError(f"it holds more than {MAX_GLOBSTARS} separate `**`")
    return segments


def _find_text_problem(pattern: str, body: str) -> GlobProblem | None:
    """Return what is wrong with the text before it is split."""
    if not body or body.isspace():
        return GlobProblem("INVALID_GLOB", "The pattern is empty.", "**")
    invisible = next((c for c in body if c not in "\\:" and find_character_problem(c)), None)
    if invisible:
        return GlobProblem(
            "INVALID_GLOB", f"No path can hold the character U+{ord(invisible):04X} of the pattern."
        )
    suggestion = pattern[: pattern.startswith("!")] + _suggest_repair(body)
    if _ABSOLUTE.match(body):
        message = f"[{pattern}] leaves the workspace; patterns are relative to its root."
        return GlobProblem("ABSOLUTE_PATH", message, suggestion if body.startswith("/") else None)
    if body.endswith("/"):
        return GlobProblem(
            "INVALID_GLOB", f"[{pattern}] ends in a slash and would match nothing.", suggestion
        )
    if body != body.strip():
        return GlobProblem("INVALID_GLOB", f"[{pattern}] begins or ends with a blank.", suggestion)
    return None


def _suggest_repair(body: str) -> str:
    """Return what a pattern that begins or ends with a slash or a blank most likely means."""
    stripped = body.strip().lstrip("/")
    return f"{stripped.rstrip('/')}/**".lstrip("/") if stripped.endswith("/") or not stripped else stripped


def _find_segment_problem(alternative: Alternative) -> GlobProblem | None:
    """Return what is wrong with one brace expansion: segments that no canonical path has."""
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
