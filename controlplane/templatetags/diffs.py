"""Line diffs as values for templates: hunks of lines, lines of parts.

A part is a run of text that did or did not change within its line, so that changed words can be marked up as
`<ins>` and `<del>`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest

_WORDS = re.compile(r"\w+|\s+|.", re.DOTALL)
_MIN_SIMILARITY = 0.4  # below this a diff of the words of two lines says nothing
_MAX_PAIRS = 400  # removed lines times added lines of one change; above it lines are paired in order
_MAX_COMPARED_LENGTH = 2_000  # characters; longer lines get no word diff


@dataclass(frozen=True, slots=True)
class DiffPart:
    text: str
    changed: bool = False


@dataclass(frozen=True, slots=True)
class DiffLine:
    """`sign` is " ", "+" or "-"; line numbers count from 1 and are None on the side that lacks the line."""

    sign: str
    old: int | None
    new: int | None
    parts: tuple[DiffPart, ...]


@dataclass(frozen=True, slots=True)
class Hunk:
    header: str
    lines: tuple[DiffLine, ...]


def compute_hunks(before: str, after: str, context: int = 3) -> tuple[Hunk, ...]:
    """Return the changes between two texts, with `context` unchanged lines around each."""
    old, new = before.splitlines(), after.splitlines()
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return tuple(_hunk(group, old, new) for group in matcher.get_grouped_opcodes(context))


def count_changes(parts: Iterable[Hunk]) -> tuple[int, int]:
    """Return (added lines, removed lines)."""
    signs = [line.sign for hunk in parts for line in hunk.lines]
    return signs.count("+"), signs.count("-")


def split_rows(lines: Iterable[DiffLine]) -> list[tuple[DiffLine | None, DiffLine | None]]:
    """Return pairs (old side, new side): removed lines next to the added ones that follow them."""
    rows: list[tuple[DiffLine | None, DiffLine | None]] = []
    removed: list[DiffLine] = []
    added: list[DiffLine] = []
    for line in lines:
        if line.sign == " " or (line.sign == "-" and added):
            rows += zip_longest(removed, added)
            removed, added = [], []
        if line.sign == " ":
            rows.append((line, line))
        else:
            (removed if line.sign == "-" else added).append(line)
    return rows + list(zip_longest(removed, added))


def _hunk(group: Sequence[tuple[str, int, int, int, int]], old: Sequence[str], new: Sequence[str]) -> Hunk:
    first, last = group[0], group[-1]
    header = f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@"
    return Hunk(header, tuple(line for code in group for line in _lines(code, old, new)))


def _range(start: int, stop: int) -> str:
    return f"{start + 1 if stop > start else start},{stop - start}"


def _lines(
    code: tuple[str, int, int, int, int], old: Sequence[str], new: Sequence[str]
) -> Iterator[DiffLine]:
    tag, old_from, old_to, new_from, new_to = code
    if tag == "equal":
        for offset, text in enumerate(old[old_from:old_to]):
            yield DiffLine(" ", old_from + offset + 1, new_from + offset + 1, (DiffPart(text),))
        return
    removed, added = _pair_parts(old[old_from:old_to], new[new_from:new_to])
    for number, parts in enumerate(removed, old_from + 1):
        yield DiffLine("-", number, None, parts)
    for number, parts in enumerate(added, new_from + 1):
        yield DiffLine("+", None, number, parts)


def _pair_parts(
    removed: Sequence[str], added: Sequence[str]
) -> tuple[list[tuple[DiffPart, ...]], list[tuple[DiffPart, ...]]]:
    before: list[tuple[DiffPart, ...]] = [(DiffPart(text),) for text in removed]
    after: list[tuple[DiffPart, ...]] = [(DiffPart(text),) for text in added]
    for old, new in _pair_similar_lines(removed, added):
        before[old], after[new] = _word_parts(removed[old], added[new])
    return before, after


def _pair_similar_lines(removed: Sequence[str], added: Sequence[str]) -> list[tuple[int, int]]:
    """Return (removed, added) indexes of lines that are versions of each other, each line once."""
    if len(removed) * len(added) > _MAX_PAIRS:
        return list(zip(range(len(removed)), range(len(added)), strict=False))
    # Greedy by similarity: a moved and edited line finds its origin before a merely similar neighbour does.
    scored = sorted(
        ((-_similarity(old, new), i, j) for i, old in enumerate(removed) for j, new in enumerate(added)),
    )
    pairs: dict[int, int] = {}
    for score, i, j in scored:
        if -score >= _MIN_SIMILARITY and i not in pairs and j not in pairs.values():
            pairs[i] = j
    return list(pairs.items())


def _similarity(old: str, new: str) -> float:
    if max(len(old), len(new)) > _MAX_COMPARED_LENGTH:
        return 0
    return SequenceMatcher(None, _WORDS.findall(old), _WORDS.findall(new), autojunk=False).ratio()


def _word_parts(old: str, new: str) -> tuple[tuple[DiffPart, ...], tuple[DiffPart, ...]]:
    if max(len(old), len(new)) > _MAX_COMPARED_LENGTH:
        return (DiffPart(old),), (DiffPart(new),)
    old_words, new_words = _WORDS.findall(old), _WORDS.findall(new)
    matcher = SequenceMatcher(None, old_words, new_words, autojunk=False)
    if matcher.ratio() < _MIN_SIMILARITY:
        return (DiffPart(old),), (DiffPart(new),)
    codes = matcher.get_opcodes()
    return (
        tuple(DiffPart("".join(old_words[a:b]), tag != "equal") for tag, a, b, _, _ in codes if b > a),
        tuple(DiffPart("".join(new_words[a:b]), tag != "equal") for tag, _, _, a, b in codes if b > a),
    )
