"""The syntax of globs: tokenize a pattern, and compile it to a regular expression of bounded time.

Shared by `owned_scope` globs and `.intentignore` lines: both are segments of characters, classes and
stars, divided by slashes; they differ only in how a line is parsed before it comes here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

_SLASH = ord("/")
_MAX_CODE_POINT = 0x10FFFF
_POSIX_CLASSES = {
    "alnum": ((48, 57), (65, 90), (97, 122)),
    "alpha": ((65, 90), (97, 122)),
    "blank": ((9, 9), (32, 32)),
    "cntrl": ((0, 31), (127, 127)),
    "digit": ((48, 57),),
    "graph": ((33, 126),),
    "lower": ((97, 122),),
    "print": ((32, 126),),
    "punct": ((33, 47), (58, 64), (91, 96), (123, 126)),
    "space": ((9, 13), (32, 32)),
    "upper": ((65, 90),),
    "xdigit": ((48, 57), (65, 70), (97, 102)),
}


class GlobSyntaxError(ValueError):
    """A pattern that cannot be parsed; the message says what is wrong."""


class Wildcard(Enum):
    STAR = "*"  # any characters of one segment
    GLOBSTAR = "**"  # as a whole segment: any number of segments, none too
    GLOBSTAR_ESCAPED = "**\\/"  # git's reading of `**` before an escaped slash: at least one segment
    SLASH = "/"
    ESCAPED_SLASH = "\\/"


@dataclass(frozen=True, slots=True)
class CharClass:
    """One character out of inclusive ranges of code points, never a slash."""

    ranges: tuple[tuple[int, int], ...]

    def __contains__(self, char: str) -> bool:
        code = ord(char)
        return any(low <= code <= high for low, high in self.ranges)


Atom = str | CharClass | Wildcard  # literal characters, a class, or Wild.STAR
Segment = tuple[Atom, ...]
Part = Segment | Wildcard  # a segment, or Wild.GLOBSTAR / Wild.SOME

Alternative = tuple[Part, ...]  # a pattern without braces


def to_literal_path(alternative: Alternative) -> str | None:
    """Return the path of an alternative without wildcards, or None."""
    names = [to_literal_name(part) for part in alternative]
    return None if None in names else "/".join(filter(None, names))


def to_literal_name(part: Part) -> str | None:
    """Return the name of a segment without wildcards, or None."""
    if isinstance(part, Wildcard):
        return None
    texts = [atom for atom in part if isinstance(atom, str)]
    return "".join(texts) if len(texts) == len(part) else None


def build_char_class(ranges: list[tuple[int, int]], *, negated: bool = False) -> CharClass:
    """Build a class of sorted, disjoint ranges without the slash; `negated` takes all other characters."""
    merged: list[tuple[int, int]] = []
    for low, high in sorted([*ranges, (_SLASH, _SLASH)] if negated else ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        elif low <= high:
            merged.append((low, high))
    if negated:
        edges = [-1, *(edge for pair in merged for edge in pair), _MAX_CODE_POINT + 1]
        return CharClass(
            tuple((a + 1, b - 1) for a, b in zip(edges[::2], edges[1::2], strict=True) if a + 1 < b)
        )
    clipped = [(max(low, start), min(high, end)) for low, high in merged for start, end in _AROUND_SLASH]
    return CharClass(tuple((low, high) for low, high in clipped if low <= high))


_AROUND_SLASH = ((0, _SLASH - 1), (_SLASH + 1, _MAX_CODE_POINT))
ANY = build_char_class([], negated=True)
_PLAIN = re.compile(r"[^\\*?\[/{]+")
_SPECIAL: dict[str, Atom] = {"*": Wildcard.STAR, "?": ANY, "/": Wildcard.SLASH}


def tokenize(text: str, *, strict: bool) -> list[Atom]:
    """Return the atoms of a pattern, with its slashes and every single star among them.

    `strict` rejects what an author of `owned_scope` cannot have meant: a range from high to low, and a
    brace that is neither escaped nor in a class (braces are expanded before, so its partner is missing).
    git accepts both: it takes only the first character of the range, and an ordinary brace.
    """
    atoms: list[Atom] = []
    position = 0
    while position < len(text):
        plain = _PLAIN.match(text, position)
        if plain:
            atoms.append(plain[0])
            position = plain.end()
            continue
        char = text[position]
        position += 1
        if char == "[":
            atom, position = _tokenize_class(text, position, strict=strict)
            atoms.append(atom)
        elif char == "\\":
            atoms.append(_parse_escape(text, position))
            position += 1
        elif char == "{" and strict:
            raise GlobSyntaxError("a brace `{` is never closed")
        else:
            atoms.append(_SPECIAL.get(char, char))
    return atoms


def _parse_escape(text: str, at: int) -> Atom:
    if at == len(text):
        raise GlobSyntaxError("it ends in a backslash that escapes nothing")
    return Wildcard.ESCAPED_SLASH if text[at] == "/" else text[at]


def _tokenize_class(text: str, at: int, *, strict: bool) -> tuple[CharClass, int]:
    """Return the class that begins after the `[` before `at`, and the position after its `]`."""
    negated = text[at : at + 1] in {"!", "^"}
    at += negated
    ranges: list[tuple[int, int]] = []
    first = at
    while at == first or text[at : at + 1] != "]":
        name = re.compile(r"\[:([^\]]*):\]").match(text, at)
        if name:
            ranges += _get_posix_class(name[1])
            at = name.end()
            continue
        low, at = _read_class_char(text, at)
        high = low
        if text[at : at + 1] == "-" and text[at + 1 : at + 2] not in {"]", ""}:
            high, at = _read_class_char(text, at + 1)
        if strict and high < low:
            raise GlobSyntaxError("a range in a class goes from high to low")
        ranges += [(low, low), (low, high)]
    return build_char_class(ranges, negated=negated), at + 1


def _read_class_char(text: str, at: int) -> tuple[int, int]:
    at += text[at : at + 1] == "\\"
    if at >= len(text):
        raise GlobSyntaxError("a class `[` is never closed")
    return ord(text[at]), at + 1


def _get_posix_class(name: str) -> tuple[tuple[int, int], ...]:
    if name not in _POSIX_CLASSES:
        raise GlobSyntaxError(f"[:{name}:] is not the name of a class")
    return _POSIX_CLASSES[name]


def split_segments(atoms: list[Atom], *, long_stars: bool) -> Alternative:
    """Split atoms at the slashes; a segment that is just `**` matches any number of segments.

    `long_stars` lets longer runs of stars do so too, as in git. Neighbouring globstars become one, and so
    do neighbouring stars.
    """
    segments: list[Part] = []
    segment: list[Atom] = []
    stars = 0  # how many atoms of the segment are stars, each one counted
    for atom in [*atoms, Wildcard.SLASH]:
        if atom is Wildcard.STAR:
            stars += 1
            if segment[-1:] != [atom]:
                segment.append(atom)
        elif atom is not Wildcard.SLASH and atom is not Wildcard.ESCAPED_SLASH:
            previous = segment[-1] if segment else None
            if isinstance(atom, str) and isinstance(previous, str):
                segment[-1] = previous + atom
            else:
                segment.append(atom)
        else:
            is_globstar = segment == [Wildcard.STAR] and (stars == 2 or (stars > 2 and long_stars))
            globstar = (
                Wildcard.GLOBSTAR_ESCAPED
                if atom is Wildcard.ESCAPED_SLASH and long_stars
                else Wildcard.GLOBSTAR
            )
            if not is_globstar:
                segments.append(tuple(segment))
            elif globstar is Wildcard.GLOBSTAR_ESCAPED or segments[-1:] != [globstar]:
                segments.append(globstar)
            segment, stars = [], 0
    return tuple(segments)


def to_regex(pattern: Alternative) -> str:
    """Return a regular expression for `fullmatch` on a canonical path, with the flag DOTALL.

    What is between two globstars (or two stars) is matched at its first position by an atomic group: an
    earlier end can only leave more to the rest, so nothing is tried twice, and the time is at most the
    product of both lengths.
    """
    expression = ""
    index = 0
    while index < len(pattern):
        first = pattern[index]
        globstar = first if isinstance(first, Wildcard) else None
        index += globstar is not None
        run: list[str] = []
        while index < len(pattern) and not isinstance(pattern[index], Wildcard):
            run.append(_segment_regex(pattern[index]))
            index += 1
        expression += _run_regex(globstar, run, last=index == len(pattern))
    return expression


def _run_regex(globstar: Wildcard | None, segments: list[str], *, last: bool) -> str:
    """Compile the segments up to the next globstar, with the globstar (or none) before them."""
    body = "/".join(segments) + ("" if last else "/")
    if globstar is None:
        return body
    if not segments:  # at the end, or before another globstar, which takes all but what this one needs
        return ".*" if last else {Wildcard.GLOBSTAR: "", Wildcard.GLOBSTAR_ESCAPED: "[^/]*/"}[globstar]
    quantifier = "*" if globstar is Wildcard.GLOBSTAR else "+"
    if not last:
        return f"(?>(?:[^/]*/){quantifier}?{body})"
    # At the end only one position is left: as many segments from the end as there are here.
    lookahead = rf"(?=(?:[^/]*/){{{len(segments) - 1}}}[^/]*\Z)" if len(segments) > 1 else ""
    return f"(?>(?:[^/]*/){quantifier}{lookahead}){body}"


def _segment_regex(segment: Part) -> str:
    runs = [""]
    for atom in segment if isinstance(segment, tuple) else ():
        if atom is Wildcard.STAR:
            runs.append("")
        else:
            runs[-1] += _atom_regex(atom)
    first, *rest = runs
    middle = "".join(f"(?>[^/]*?{run})" for run in rest[:-1])
    return first + middle + "".join(f"[^/]*{'' if run else '+'}{run}" for run in rest[-1:])


def _atom_regex(atom: Atom) -> str:
    if isinstance(atom, str):
        return re.escape(atom)
    if atom is ANY:
        return "[^/]"
    ranges = atom.ranges if isinstance(atom, CharClass) else ()
    members = "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in ranges)
    return f"[{members}]" if members else "(?!)"
