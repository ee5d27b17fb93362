"""Predict what a call does to the text of each file, where it can be determined before it runs."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import re2

from controlplane.policy.model import Target
from controlplane.policy.paths.filesystem import Filesystem
from controlplane.policy.paths.raw_path import RawPath
from controlplane.policy.paths.resolve import ResolvedTarget

# Replacements are applied to the full text only within these limits, in characters; beyond, they are
# checked one by one.
_MAX_RESULT = 8 * 1024 * 1024
_MAX_WORK = 64 * 1024 * 1024

# Normalising takes quadratic time in the number of marks in a row; an identifier bears a few.
_MARKS = re2.compile(r"([\p{M}\x{FF9E}\x{FF9F}]{30})[\p{M}\x{FF9E}\x{FF9F}]+")

_OPS_WITHOUT_TEXT = frozenset({"delete", "move", "mode", "folder"})
# A directory that is changed so takes its content along.
_OPS_WITH_CONTENT = frozenset({"delete", "move", "mode"})


@dataclass(frozen=True, slots=True)
class FileChange:
    """What a call does to one file: `after` replaces `before`, or all of it where it `is_full_text`.

    `after` is None when nobody knows the text. `replacements` are the single edits, in order.
    """

    path: str
    op: str
    before: str
    after: str | None
    is_full_text: bool
    replacements: tuple[tuple[str, str], ...] = ()

    @classmethod
    def from_raw_path(cls, raw_path: RawPath, target: Target) -> FileChange:
        after = None if target.op in _OPS_WITHOUT_TEXT else raw_path.after
        return cls(
            target.path, target.op, raw_path.before, after, raw_path.is_full_text, raw_path.replacements
        )

    def find_full_texts(self, filesystem: Filesystem) -> tuple[str, str] | None:
        """Return the full text before and after, with normal newlines; None unless both are known.

        Every occurrence of a replaced text counts: nobody knows which one the tool takes.
        """
        old = filesystem.read_text(self.path)
        if self.after is None or old is None:
            return None
        old = normalize_newlines(old)
        new = normalize_newlines(self.after) if self.is_full_text else _replace(old, self.replacements)
        return None if new is None else (old, new)

    def list_text_pairs(self, filesystem: Filesystem) -> Iterator[tuple[str, str]]:
        """Yield the text before and after, in each form in which a program may read it.

        It is the full text where that is known, else the replaced text; and the text as it was sent,
        where its newlines differ.
        """
        after = self.after or ""
        full_texts = None if self.is_full_text else self.find_full_texts(filesystem)
        old, new = full_texts or (
            "" if self.is_full_text else normalize_newlines(self.before),
            normalize_newlines(after),
        )
        yield old, new
        # Python reads look-alike letters in identifiers as plain ones (PEP 3131), so do other languages.
        if not new.isascii():
            yield _fold_lookalikes(old), _fold_lookalikes(new)
        if self.path.casefold().endswith(".ipynb"):
            yield _extract_cells(old), _extract_cells(new)
        if "\r" in after:
            yield "" if self.is_full_text else self.before, after

    def count_lines(self, filesystem: Filesystem) -> int:
        """Return how many lines the file will have; of an unknown file, those that the edit writes.

        An edit may replace its text many times, so each occurrence counts.
        """
        old = None if self.is_full_text or self.after is None else filesystem.read_text(self.path)
        if old is None:
            return _count_lines(self.after)
        full_texts = self.find_full_texts(filesystem)
        if full_texts is not None:
            return _count_lines(full_texts[1])
        occurrences = max(1, old.count(self.before)) if self.before else 1
        return _count_lines(old) + occurrences * (_count_lines(self.after) - _count_lines(self.before))

    def list_files(self, filesystem: Filesystem) -> set[str]:
        """Return the files that change: of a directory that goes, all that is in it, where it is known."""
        takes_content = self.op in _OPS_WITH_CONTENT and filesystem.is_dir(self.path)
        files = filesystem.list_files(self.path) if takes_content else None
        return {self.path} if files is None else set(files)


def list_file_changes(resolved: ResolvedTarget) -> Iterator[FileChange]:
    """Yield all that a call does to one target.

    Where it names the target several times, the edits one after the other count as one change too: only
    together they may make what none makes alone.
    """
    # The same interpretation of an input, under another spelling of the path, is the same change.
    changes = {
        (id(each.replacements), each.before, each.after, each.op, each.is_full_text): each
        for each in (resolved.raw_path, *resolved.repeats)
    }
    raw_paths = tuple(changes.values())
    yield from (FileChange.from_raw_path(raw_path, resolved.target) for raw_path in raw_paths)
    if len(raw_paths) > 1:
        replacements = tuple(each for raw_path in raw_paths for each in raw_path.replacements)
        combined = replace(resolved.raw_path, is_full_text=False, replacements=replacements)
        yield FileChange.from_raw_path(combined, resolved.target)


@lru_cache(maxsize=4)
def normalize_newlines(text: str) -> str:
    """Return a text without its byte order mark, each line ending in a line feed."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


@lru_cache(maxsize=4)
def _fold_lookalikes(text: str) -> str:
    """Return a text with look-alike letters as the plain ones (NFKC)."""
    few_marks = _MARKS.sub(rb"\1", text.encode("utf-8", "replace")).decode()
    return unicodedata.normalize("NFKC", few_marks)


@lru_cache(maxsize=4)
def _extract_cells(notebook: str) -> str:
    """Return the sources of a notebook's cells as its reader sees them; "" for what is no notebook."""
    try:
        cells = json.loads(notebook)["cells"]
        sources = [cell["source"] for cell in cells]
        return "\n".join(text if isinstance(text, str) else "".join(text) for text in sources)
    except (ValueError, TypeError, KeyError, RecursionError):
        return ""


@lru_cache(maxsize=4)
def _replace(text: str, replacements: tuple[tuple[str, str], ...]) -> str | None:
    if not replacements or len(replacements) * len(text) > _MAX_WORK:
        return None
    for old, new in ((normalize_newlines(old), normalize_newlines(new)) for old, new in replacements):
        occurrences = text.count(old) if old else 0
        if not occurrences or len(text) + occurrences * len(new) > _MAX_RESULT:
            return None
        text = text.replace(old, new)
    return text


@lru_cache(maxsize=4)
def _count_lines(text: str | None) -> int:
    return len((text or "").splitlines())
