"""Expand braces as bash does, on characters that keep how they were quoted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import IntEnum
from itertools import product
from typing import NamedTuple

from controlplane.policy.shell.result import UnclearCommandError

MAX_WORDS = 64
MAX_NESTING = 8


class CharKind(IntEnum):
    BARE = 0  # not quoted: may be a wildcard, a brace or a tilde
    QUOTED = 1
    DYNAMIC = 2  # a placeholder for text that only running tells; char is "" or " "
    WILD = 3  # a wildcard out of a variable
    LISTED = 4  # as DYNAMIC, but a name of a file that is recorded as read


class WordChar(NamedTuple):
    """One character of a word, and how it is quoted."""

    char: str
    kind: CharKind


NUMBERS = re.compile(r"(-?\d{1,9})\.\.(-?\d{1,9})(?:\.\.(-?\d{1,9}))?")
LETTERS = re.compile(r"([a-z])\.\.([a-z])|([A-Z])\.\.([A-Z])")


def expand_braces(chars: Sequence[WordChar], depth: int = 0) -> list[list[WordChar]]:
    """Return the words that a word expands to, in bash's order; `{a}` and `{}` stay as they are."""
    if depth > MAX_NESTING:
        raise UnclearCommandError("braces nested too deeply")
    choices: list[list[list[WordChar]]] = []
    index = 0
    while index < len(chars):
        group = _find_group_end(chars, index)
        if group is None:
            choices.append([[chars[index]]])
            index += 1
        else:
            choices.append(_expand_alternatives(chars[index + 1 : group - 1], depth))
            index = group
    return _combine(choices)


def _combine(choices: list[list[list[WordChar]]]) -> list[list[WordChar]]:
    count = 1
    for choice in choices:
        count *= len(choice)
        if count > MAX_WORDS:
            raise UnclearCommandError(f"braces make more than {MAX_WORDS} words")
    return [[cell for part in parts for cell in part] for parts in product(*choices)]


def _find_group_end(chars: Sequence[WordChar], start: int) -> int | None:
    """Return where the brace group that opens at `start` ends; None where it is plain text."""
    if chars[start] != ("{", CharKind.BARE):
        return None
    depth = 0
    for index in range(start, len(chars)):
        char, kind = chars[index]
        if kind is CharKind.BARE:
            depth += (char == "{") - (char == "}")
            if depth == 0:
                return index + 1 if _is_group(chars[start + 1 : index]) else None
    if any(cell == (",", CharKind.BARE) for cell in chars[start:]):
        raise UnclearCommandError("unbalanced braces")
    return None


def _is_group(content: Sequence[WordChar]) -> bool:
    return len(list(_find_commas(content))) > 0 or ".." in _bare_text(content)


def _bare_text(chars: Sequence[WordChar]) -> str:
    return "".join(cell.char for cell in chars if cell.kind is CharKind.BARE)


def _find_commas(content: Sequence[WordChar]) -> Iterator[int]:
    depth = 0
    for index, (char, kind) in enumerate(content):
        if kind is CharKind.BARE:
            depth += (char == "{") - (char == "}")
            if char == "," and depth == 0:
                yield index


def _expand_alternatives(content: Sequence[WordChar], depth: int) -> list[list[WordChar]]:
    commas = list(_find_commas(content))
    if not commas:
        return [[WordChar(char, CharKind.BARE) for char in text] for text in _expand_sequence(content)]
    bounds = zip([-1, *commas], [*commas, len(content)], strict=True)
    words = (expand_braces(content[start + 1 : end], depth + 1) for start, end in bounds)
    return [word for alternative in words for word in alternative]


def _expand_sequence(content: Sequence[WordChar]) -> list[str]:
    text = _bare_text(content)
    if len(text) != len(content):
        raise UnclearCommandError("a brace sequence that is not understood")
    if match := NUMBERS.fullmatch(text):
        return _expand_numbers(match[1], match[2], match[3])
    if match := LETTERS.fullmatch(text):
        first, last = (ord(char) for char in match.groups() if char)
        return [chr(code) for code in _bounded_range(first, last, 1)]
    raise UnclearCommandError("a brace sequence that is not understood")


def _expand_numbers(first: str, last: str, step: str | None) -> list[str]:
    padded = any(re.match(r"-?0\d", text) for text in (first, last))
    width = max(len(first), len(last)) if padded else 0
    return [
        f"{number:0{width}d}" for number in _bounded_range(int(first), int(last), abs(int(step or 1)) or 1)
    ]


def _bounded_range(first: int, last: int, step: int) -> range:
    if abs(last - first) // step >= MAX_WORDS:
        raise UnclearCommandError(f"braces make more than {MAX_WORDS} words")
    return range(first, last + 1, step) if first <= last else range(first, last - 1, -step)
