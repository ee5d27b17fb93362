"""Whether a wildcard may match, or a filter names, what `.intentignore` keeps from agents.

Nobody can list what a wildcard will match on a disk that is not known, or what a search with a filter will
print. So patterns are compared with the lines of the file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from controlplane.policy.globs.overlaps import find_overlap
from controlplane.policy.globs.scope import Scope
from controlplane.policy.paths.canonical import fold_case

MAX_LINES = 200  # that are compared one by one
# Stands for the text of a name: what matches it as well says nothing about the name.
_ANY_TEXT = "\ue000"
_LITERAL_RUN = re.compile(r"(?:\\.|[^*?\[\\])+|\[[^\]]*\]")
_SPECIAL = re.compile(r"([{}!])")
_ANY_DEPTH = frozenset({"**", "***"})
_FIRST_WILDCARD, _LAST_WILDCARD = re.compile(r"[*?\[{\\]"), re.compile(r".*[*?\]}\\]", re.DOTALL)
_ANY_NAME = re.compile(r"[*?]+")
_EXTENSION = re.compile(r"\*+\.[^/]*")


@dataclass(frozen=True, slots=True)
class _Line:
    """A line that ignores: what it matches, and a line of the same shape that has no text of its own."""

    text: str
    scope: Scope
    shape: Scope
    has_stem: bool  # `credentials.json`, but not `.env` or `*.pem`
    is_folder: bool
    ends: tuple[str, str]


def find_matching_line(pattern: str, ignore_text: str, *, ignore_case: bool) -> str | None:
    """Return a line that ignores something which a wildcard of a shell may match: what it spells out, as a
    filter does, also in a folder on the way (`b*/x` beside `build/`), or any name. Its `*` skips `.x`."""
    segments = [_hide_dots(segment) for segment in pattern.split("/")]
    is_any = _ANY_NAME.fullmatch(pattern.rpartition("/")[2]) is not None
    prefixes = ("/".join(segments[:count]) for count in range(1, len(segments) + 1))
    named = (_find_line(prefix, ignore_text, ignore_case, must_name=True) for prefix in prefixes)
    line = next(filter(None, named), None)
    if line is None and is_any:
        line = _find_line("/".join(segments), ignore_text, ignore_case, must_name=False)
    return line


def find_named_line(pattern: str, ignore_text: str, *, ignore_case: bool) -> str | None:
    """Return a line whose names a filter spells out, at least in part.

    A filter that would match any other name in its place (`test_*` beside `*.pem`) names nothing, and neither
    does an extension alone (`*.json` beside `credentials.json`).
    """
    return _find_line(pattern, ignore_text, ignore_case, must_name=True)


@lru_cache(maxsize=4096)
def _find_line(pattern: str, ignore_text: str, ignore_case: bool, *, must_name: bool) -> str | None:
    scope = Scope.from_patterns((pattern,), case_insensitive=ignore_case)
    name = pattern.rpartition("/")[2]
    ends = _find_ends(name, ignore_case)
    is_extension = _EXTENSION.fullmatch(name) is not None
    for line in _parse_lines(ignore_text, ignore_case):
        if (is_extension and line.has_stem) or (line.is_folder and not must_name):
            continue
        if not _may_meet(ends, line.ends):
            continue
        if find_overlap(scope, line.scope) and not (must_name and find_overlap(scope, line.shape)):
            return line.text
    return None


def _find_ends(name: str, ignore_case: bool) -> tuple[str, str]:
    """Return the text before the first and behind the last wildcard of a name."""
    text = fold_case(name) if ignore_case else name
    return _FIRST_WILDCARD.split(text, maxsplit=1)[0], _LAST_WILDCARD.sub("", text, count=1)


def _may_meet(ends: tuple[str, str], other: tuple[str, str]) -> bool:
    """Return whether two names may be one: what both begin with, and end with, must agree. Cheap, unlike the
    automata behind it."""
    (head, tail), (other_head, other_tail) = ends, other
    heads_agree = head.startswith(other_head) or other_head.startswith(head)
    return heads_agree and (tail.endswith(other_tail) or other_tail.endswith(tail))


@lru_cache(maxsize=64)
def _parse_lines(ignore_text: str, ignore_case: bool) -> tuple[_Line, ...]:
    """Return the lines that ignore, each with the exceptions that stand behind it."""
    bodies = [line.strip() for line in ignore_text.splitlines()]
    rules = [body for body in bodies if body and not body.startswith("#")][:MAX_LINES]
    lines = []
    for index, body in enumerate(rules):
        if body.startswith("!") or body.lower().replace(" ", "").startswith("intent:"):
            continue
        exceptions = (f"!{_to_glob(later[1:])}" for later in rules[index + 1 :] if later.startswith("!"))
        name = body.rstrip("/").rpartition("/")[2]
        shape = f"{body.rstrip('/')[: -len(name)]}{_LITERAL_RUN.sub(_ANY_TEXT, name)}" if name else body
        lines.append(
            _Line(
                body,
                Scope.from_patterns((_to_glob(body), *exceptions), case_insensitive=ignore_case),
                Scope.from_patterns((_to_glob(shape),), case_insensitive=ignore_case),
                has_stem=not name.startswith(("*", ".")),
                is_folder=body.endswith("/"),
                ends=_find_ends(name, ignore_case),
            )
        )
    return tuple(lines)


def _to_glob(line: str) -> str:
    body = _SPECIAL.sub(r"\\\1", line.rstrip("/"))
    return body.removeprefix("/") if "/" in body else f"**/{body}"


def _hide_dots(segment: str) -> str:
    """Return a segment whose leading wildcard matches no dot, as in a shell."""
    if segment.startswith("?"):
        return f"[!.]{segment[1:]}"
    if not segment.startswith("*"):
        return segment
    if segment in _ANY_DEPTH:
        return "**"
    rest = segment.lstrip("*")
    longer = f"[!.]*{rest}"
    return longer if rest[:1] in {"", "."} else f"{{{longer},{_hide_dots(rest)}}}"
