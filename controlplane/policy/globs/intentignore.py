"""Parse `.intentignore`: gitignore rules as git itself reads them, and the ids of ignored intents.

git matches bytes, so lines and paths are compared as UTF-8 (each byte one character here); it walks a
path from the top, where the last matching line decides at each step, and never looks below an ignored
directory. Where its documentation and its code differ, the code is followed (git 2.39, `dir.c` and
`wildmatch.c`), because `git check-ignore` is what people try their rules with.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby

from controlplane.policy.globs.syntax import GlobSyntaxError, Wildcard, split_segments, to_regex, tokenize

_INTENT = re.compile(r"\s*intent\s*:(?P<id>.*)", re.IGNORECASE)
_COMMENT = re.compile(r"\s#")
_WILDCARD = re.compile(r"[*?\[\\]|$")


@dataclass(frozen=True, slots=True)
class _Rule:
    """A line that is a rule. `text` is the line as written; `pattern` matches a name or a full path."""

    text: str
    negated: bool
    directories_only: bool
    matches_names: bool
    pattern: str


class _RuleGroup:
    """Neighbouring rules that all ignore or all un-ignore, matched as one regular expression."""

    def __init__(self, lines: list[_Rule]) -> None:
        self.negated = lines[0].negated
        self._lines = lines[::-1]
        self._names = {is_dir: _join_patterns(lines, names=True, is_dir=is_dir) for is_dir in (False, True)}
        self._paths = {is_dir: _join_patterns(lines, names=False, is_dir=is_dir) for is_dir in (False, True)}

    def matches(self, entry: str, name: str, *, is_dir: bool) -> bool:
        return bool(self._names[is_dir].fullmatch(name) or self._paths[is_dir].fullmatch(entry))

    def find_deciding_line(self, entry: str, name: str, *, is_dir: bool) -> str:
        """Return the last line that matches, given that one does. Only a denial needs it."""
        fitting = (line for line in self._lines if is_dir or not line.directories_only)
        return next(
            line.text
            for line in fitting
            if re.compile(line.pattern, re.DOTALL).fullmatch(name if line.matches_names else entry)
        )


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """A parsed `.intentignore`. `intents` are the ids of its `intent:` lines."""

    text: str
    intents: frozenset[str] = field(compare=False)
    _groups: tuple[_RuleGroup, ...] = field(compare=False, repr=False)  # last first
    _literals: tuple[str, ...] = field(compare=False, repr=False)  # sorted

    @staticmethod
    def parse(text: str) -> IgnoreRules:
        return _parse(text)

    def find_rule(self, path: str, *, is_dir: bool = False) -> str | None:
        """Return the line that ignores a canonical path or a directory above it, or None."""
        if not path or not self._groups:
            return None
        entry = _to_byte_text(path)
        end = entry.find("/")
        while end >= 0:
            line = self._decide(entry[:end], is_dir=True)
            if line is not None:
                return line
            end = entry.find("/", end + 1)
        return self._decide(entry, is_dir=is_dir)

    def names_below(self, directory: str) -> bool:
        """Return whether a line names something below a directory, without a wildcard up to there."""
        prefix = f"{_to_byte_text(directory)}/" if directory else ""
        index = bisect_left(self._literals, prefix)
        return index < len(self._literals) and self._literals[index].startswith(prefix)

    def _decide(self, entry: str, *, is_dir: bool) -> str | None:
        name = entry[entry.rfind("/") + 1 :]
        for run in self._groups:
            if run.matches(entry, name, is_dir=is_dir):
                return None if run.negated else run.find_deciding_line(entry, name, is_dir=is_dir)
        return None


@dataclass(frozen=True, slots=True)
class IgnoreRuleSet:
    """Several ignore files; a path is ignored when one of them ignores it.

    A `!` line counts in its own file only, so that none takes back what another forbids.
    """

    files: tuple[IgnoreRules, ...]
    intents: frozenset[str]  # of all files

    @staticmethod
    def parse(texts: Iterable[str]) -> IgnoreRuleSet:
        files = tuple(map(_parse, texts))
        return IgnoreRuleSet(files, frozenset().union(*(rules.intents for rules in files)))

    def find_rule(self, path: str, *, is_dir: bool = False) -> str | None:
        """Return the line of the first file that ignores a canonical path, or None."""
        for rules in self.files:
            line = rules.find_rule(path, is_dir=is_dir)
            if line is not None:
                return line
        return None

    def names_below(self, directory: str) -> bool:
        """Return whether a line of any file names something below a directory."""
        return any(rules.names_below(directory) for rules in self.files)


@lru_cache(maxsize=256)
def _parse(text: str) -> IgnoreRules:
    lines = unicodedata.normalize("NFC", text).removeprefix("\ufeff").split("\n")
    intent_lines = [_INTENT.fullmatch(line.removesuffix("\r")) for line in lines]
    ids = {_COMMENT.split(switch["id"], maxsplit=1)[0].strip() for switch in intent_lines if switch}
    rules = [
        _parse_rule(line.removesuffix("\r"))
        for line, switch in zip(lines, intent_lines, strict=True)
        if not switch
    ]
    groups = [_RuleGroup(list(run)) for _, run in groupby(filter(None, rules), key=lambda rule: rule.negated)]
    literals = sorted(_find_literal_prefix(rule.text) for rule in rules if rule and not rule.negated)
    return IgnoreRules(text, frozenset(ids - {""}), tuple(reversed(groups)), tuple(literals))


def _find_literal_prefix(text: str) -> str:
    """Return what a line names before its first wildcard; without one, without the closing slash."""
    encoded = _to_byte_text(text.removeprefix("/"))
    literal = _WILDCARD.split(encoded, maxsplit=1)[0]
    return literal.rstrip(" /") if literal == encoded else literal


def _parse_rule(text: str) -> _Rule | None:
    """Parse a line; None for comments and for what can never match."""
    if text.startswith("#"):
        return None
    body = _strip_trailing_spaces(text)
    negated = body.startswith("!")
    folders_only = body.endswith("/")
    body = _to_byte_text(body[negated:].removesuffix("/"))
    if not body:
        return None
    try:
        pattern = _to_path_regex(body) if "/" in body else _to_name_regex(body)
    except GlobSyntaxError:
        return None  # git lets such a line match nothing
    return _Rule(text, negated, folders_only, "/" not in body, pattern)


def _strip_trailing_spaces(text: str) -> str:
    """Strip blanks only, and not one that a backslash escapes."""
    body = text.rstrip(" ")
    escapes = len(body) - len(body.rstrip("\\"))
    return body + " " if escapes % 2 and len(body) < len(text) else body


def _to_name_regex(text: str) -> str:
    """Return the regular expression of a line without a slash, which matches a name at any depth."""
    name = split_segments(tokenize(text, strict=False), long_stars=False)[0]
    return to_regex(
        ((Wildcard.STAR,) if isinstance(name, Wildcard) else name,)
    )  # within a name `**` is a `*`


def _to_path_regex(text: str) -> str:
    """Return the regular expression of a line with a slash, which is anchored at the top.

    git compares the text before the first wildcard by itself and starts its matcher after it, so a `**`
    directly after a name counts as one that begins the pattern.
    """
    anchored = text.removeprefix("/")
    head = _WILDCARD.split(anchored, maxsplit=1)[0]
    return re.escape(head) + to_regex(
        split_segments(tokenize(anchored[len(head) :], strict=False), long_stars=True)
    )


def _join_patterns(lines: list[_Rule], *, names: bool, is_dir: bool) -> re.Pattern[str]:
    fitting = [
        line.pattern
        for line in lines
        if line.matches_names == names and (is_dir or not line.directories_only)
    ]
    return re.compile("|".join(fitting) if fitting else "(?!)", re.DOTALL)


def _to_byte_text(text: str) -> str:
    """Return UTF-8 with a character for each byte, as git's matcher sees it."""
    return text if text.isascii() else text.encode("utf-8", "surrogatepass").decode("latin-1")
