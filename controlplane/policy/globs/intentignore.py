"""`.intentignore`: gitignore rules as git itself reads them, and the intents that are switched off.

git matches bytes, so lines and paths are compared as UTF-8 (each byte one character here); walks a
path from the top, the last fitting line deciding at each step; and never looks below a folder that
is ignored. Where its documentation and its code differ, the code is followed (git 2.39, `dir.c`
and `wildmatch.c`), because `git check-ignore` is what people try their rules with.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby

from controlplane.policy.globs.syntax import GlobSyntaxError, Wildcard, split_segments, to_regex, tokenize

_INTENT = re.compile(r"\s*intent\s*:(?P<id>.*)", re.IGNORECASE)
_COMMENT = re.compile(r"\s#")
_WILDCARD = re.compile(r"[*?\[\\]|$")


@dataclass(frozen=True, slots=True)
class _Line:
    """A rule. `text` is the line as written; `pattern` matches a name, or a whole path."""

    text: str
    negated: bool
    folders_only: bool
    names: bool
    pattern: str


class _Run:
    """Neighbouring lines of one sign, which can be asked together."""

    def __init__(self, lines: list[_Line]) -> None:
        self.negated = lines[0].negated
        self._lines = lines[::-1]
        self._names = {is_dir: _joined(lines, names=True, is_dir=is_dir) for is_dir in (False, True)}
        self._paths = {is_dir: _joined(lines, names=False, is_dir=is_dir) for is_dir in (False, True)}

    def matches(self, entry: str, name: str, *, is_dir: bool) -> bool:
        return bool(self._names[is_dir].fullmatch(name) or self._paths[is_dir].fullmatch(entry))

    def deciding(self, entry: str, name: str, *, is_dir: bool) -> str:
        """The last line that matches, given that one does. Only asked to explain a refusal."""
        fitting = (line for line in self._lines if is_dir or not line.folders_only)
        return next(
            line.text
            for line in fitting
            if re.compile(line.pattern, re.DOTALL).fullmatch(name if line.names else entry)
        )


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """A parsed `.intentignore`. `intents` are the ids of its `intent:` lines."""

    text: str
    intents: frozenset[str] = field(compare=False)
    _runs: tuple[_Run, ...] = field(compare=False, repr=False)  # the last one first
    _literals: tuple[str, ...] = field(compare=False, repr=False)  # sorted

    @staticmethod
    def parse(text: str) -> IgnoreRules:
        return _parse(text)

    def find_rule(self, path: str, *, is_dir: bool = False) -> str | None:
        """The line that ignores a canonical path, itself or a folder above it; None when none does."""
        if not path or not self._runs:
            return None
        entry = _as_bytes(path)
        end = entry.find("/")
        while end >= 0:
            line = self._decide(entry[:end], is_dir=True)
            if line is not None:
                return line
            end = entry.find("/", end + 1)
        return self._decide(entry, is_dir=is_dir)

    def names_below(self, folder: str) -> bool:
        """Whether a line names something below a folder, word for word up to there."""
        above = f"{_as_bytes(folder)}/" if folder else ""
        at = bisect_left(self._literals, above)
        return at < len(self._literals) and self._literals[at].startswith(above)

    def _decide(self, entry: str, *, is_dir: bool) -> str | None:
        name = entry[entry.rfind("/") + 1 :]
        for run in self._runs:
            if run.matches(entry, name, is_dir=is_dir):
                return None if run.negated else run.deciding(entry, name, is_dir=is_dir)
        return None


@lru_cache(maxsize=256)
def _parse(text: str) -> IgnoreRules:
    lines = unicodedata.normalize("NFC", text).removeprefix("\ufeff").split("\n")
    switches = [_INTENT.fullmatch(line.removesuffix("\r")) for line in lines]
    ids = {_COMMENT.split(switch["id"], maxsplit=1)[0].strip() for switch in switches if switch}
    rules = [
        _rule(line.removesuffix("\r")) for line, switch in zip(lines, switches, strict=True) if not switch
    ]
    runs = [_Run(list(run)) for _, run in groupby(filter(None, rules), key=lambda rule: rule.negated)]
    literals = sorted(_literal(rule.text) for rule in rules if rule and not rule.negated)
    return IgnoreRules(text, frozenset(ids - {""}), tuple(reversed(runs)), tuple(literals))


def _literal(text: str) -> str:
    """What a line names before its first wildcard; of a line without one, without the closing slash."""
    whole = _as_bytes(text.removeprefix("/"))
    literal = _WILDCARD.split(whole, maxsplit=1)[0]
    return literal.rstrip(" /") if literal == whole else literal


def _rule(text: str) -> _Line | None:
    """A line as a rule; None for comments and for what can never match."""
    if text.startswith("#"):
        return None
    body = _without_trailing_spaces(text)
    negated = body.startswith("!")
    folders_only = body.endswith("/")
    body = _as_bytes(body[negated:].removesuffix("/"))
    if not body:
        return None
    try:
        pattern = _path_pattern(body) if "/" in body else _name_pattern(body)
    except GlobSyntaxError:
        return None  # git lets such a line match nothing
    return _Line(text, negated, folders_only, "/" not in body, pattern)


def _without_trailing_spaces(text: str) -> str:
    """Only blanks are cut, and a blank that a backslash escapes stays."""
    body = text.rstrip(" ")
    escapes = len(body) - len(body.rstrip("\\"))
    return body + " " if escapes % 2 and len(body) < len(text) else body


def _name_pattern(text: str) -> str:
    """The regular expression of a line without a slash, which holds at any depth."""
    name = split_segments(tokenize(text, strict=False), long_stars=False)[0]
    return to_regex(
        ((Wildcard.STAR,) if isinstance(name, Wildcard) else name,)
    )  # within a name `**` is a `*`


def _path_pattern(text: str) -> str:
    """The regular expression of a line with a slash, which is taken from the top.

    git compares the text before the first wildcard by itself and starts its matcher behind it, so
    a `**` directly after a name counts as one that begins the pattern.
    """
    anchored = text.removeprefix("/")
    head = _WILDCARD.split(anchored, maxsplit=1)[0]
    return re.escape(head) + to_regex(
        split_segments(tokenize(anchored[len(head) :], strict=False), long_stars=True)
    )


def _joined(lines: list[_Line], *, names: bool, is_dir: bool) -> re.Pattern[str]:
    fitting = [line.pattern for line in lines if line.names == names and (is_dir or not line.folders_only)]
    return re.compile("|".join(fitting) if fitting else "(?!)", re.DOTALL)


def _as_bytes(text: str) -> str:
    """UTF-8 with a character for each byte, as git's matcher sees it."""
    return text if text.isascii() else text.encode("utf-8", "surrogatepass").decode("latin-1")
