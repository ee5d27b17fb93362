"""Brace expansion as bash does it, on characters that remember how they were quoted."""

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
    BARE = 0  # not quoted: may be a wildcard, a brace, a tilde
    QUOTED = 1
    DYNAMIC = 2  # stands for text that only running can tell; char is ""
    WILD = 3  # a wildcard that came out of a variable
    LISTED = 4  # as DYNAMIC, but a name of a file that was looked through


class WordChar(NamedTuple):
    """One character of a word."""

    char: str
    kind: CharKind


NUMBERS = re.compile(r"(-?\d{1,9})\.\.(-?\d{1,9})(?:\.\.(-?\d{1,9}))?")
LETTERS = re.compile(r"([a-z])\.\.([a-z])|([A-Z])\.\.([A-Z])")


def expand_braces(cells: Sequence[WordChar], depth: int = 0) -> list[list[WordChar]]:
    """All words that a word stands for, in bash's order; `{a}` and `{}` stay as they are."""
    if depth > MAX_NESTING:
        raise UnclearCommandError("braces nested too deeply")
    choices: list[list[list[WordChar]]] = []
    at = 0
    while at < len(cells):
        group = _group(cells, at)
        if group is None:
            choices.append([[cells[at]]])
            at += 1
        else:
            choices.append(_alternatives(cells[at + 1 : group - 1], depth))
            at = group
    return _product(choices)


def _product(choices: list[list[list[WordChar]]]) -> list[list[WordChar]]:
    count = 1
    for choice in choices:
        count *= len(choice)
        if count > MAX_WORDS:
            raise UnclearCommandError(f"braces make more than {MAX_WORDS} words")
    return [[cell for piece in pieces for cell in piece] for pieces in product(*choices)]


def _group(cells: Sequence[WordChar], start: int) -> int | None:
    """Where the brace group that opens at `start` ends; None when it is ordinary text."""
    if cells[start] != ("{", CharKind.BARE):
        return None
    depth = 0
    for at in range(start, len(cells)):
        char, kind = cells[at]
        if kind is CharKind.BARE:
            depth += (char == "{") - (char == "}")
            if depth == 0:
                return at + 1 if _is_list(cells[start + 1 : at]) else None
    if any(cell == (",", CharKind.BARE) for cell in cells[start:]):
        raise UnclearCommandError("unbalanced braces")
    return None


def _is_list(inner: Sequence[WordChar]) -> bool:
    return len(list(_commas(inner))) > 0 or ".." in _plain(inner)


def _plain(cells: Sequence[WordChar]) -> str:
    return "".join(cell.char for cell in cells if cell.kind is CharKind.BARE)


def _commas(inner: Sequence[WordChar]) -> Iterator[int]:
    depth = 0
    for at, (char, kind) in enumerate(inner):
        if kind is CharKind.BARE:
            depth += (char == "{") - (char == "}")
            if char == "," and depth == 0:
                yield at


def _alternatives(inner: Sequence[WordChar], depth: int) -> list[list[WordChar]]:
    commas = list(_commas(inner))
    if not commas:
        return [[WordChar(char, CharKind.BARE) for char in text] for text in _sequence(inner)]
    borders = zip([-1, *commas], [*commas, len(inner)], strict=True)
    words = (expand_braces(inner[start + 1 : end], depth + 1) for start, end in borders)
    return [word for alternative in words for word in alternative]


def _sequence(inner: Sequence[WordChar]) -> list[str]:
    text = _plain(inner)
    if len(text) != len(inner):
        raise UnclearCommandError("a brace sequence that cannot be read")
    if match := NUMBERS.fullmatch(text):
        return _numbers(match[1], match[2], match[3])
    if match := LETTERS.fullmatch(text):
        first, last = (ord(char) for char in match.groups() if char)
        return [chr(code) for code in _range(first, last, 1)]
    raise UnclearCommandError("a brace sequence that cannot be read")


def _numbers(first: str, last: str, step: str | None) -> list[str]:
    padded = any(re.match(r"-?0\d", text) for text in (first, last))
    width = max(len(first), len(last)) if padded else 0
    return [f"{number:0{width}d}" for number in _range(int(first), int(last), abs(int(step or 1)) or 1)]


def _range(first: int, last: int, step: int) -> range:
    if abs(last - first) // step >= MAX_WORDS:
        raise UnclearCommandError(f"braces make more than {MAX_WORDS} words")
    return range(first, last + 1, step) if first <= last else range(first, last - 1, -step)
