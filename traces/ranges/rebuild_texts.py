"""Rebuild texts between two commits from recorded edits, and prove them by recorded hashes.

An agent edits a file many times before anybody commits it. Each edit was recorded with the hash of the
complete file after it, and the ledger has the call with the text that it replaced and its replacement. So the
text before the last edit follows from the text after it, and so on; it counts only if its hash was recorded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from traces.ranges.line_diff import WorkLimit
from traces.ranges.lineage import split_lines
from traces.ranges.track_lines import FileVersion

MAX_NEIGHBOUR_EDITS = 4  # edits tried on a text, before and after its time
MAX_POSITIONS = 8  # where the replacement of an edit may occur
MAX_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Edit:
    """The text a call replaced and its replacement, or all it wrote (`is_full_text`);

    `timestamp` since 1970.
    """

    before: bytes
    after: bytes
    timestamp: float
    is_full_text: bool = False


def insert_rebuilt_versions(
    versions: Sequence[FileVersion], edits: Sequence[Edit], recorded_hashes: Mapping[str, float]
) -> tuple[list[FileVersion], list[int]]:
    """Return the versions with rebuilt ones inserted, and the new index of each given one.

    `recorded_hashes` are hashes of complete texts with the times at which they were recorded.
    """
    rebuilt = _rebuild_texts(versions, sorted(edits, key=lambda edit: edit.timestamp), recorded_hashes)
    result: list[FileVersion] = []
    positions: list[int] = []
    for version in versions:
        parents = tuple(positions[parent] for parent in version.parents)
        parent_time = versions[version.parents[0]].timestamp or 0 if version.parents else float("-inf")
        # Commits have whole seconds.
        until = float("inf") if version.timestamp is None else version.timestamp + 1
        # Texts between a merge and its parents, or after versions that were not read, have no certain parent.
        has_gap = not version.is_truncated and len(parents) < 2
        for time in [time for time in sorted(rebuilt) if has_gap and parent_time < time < until]:
            lines = split_lines(rebuilt.pop(time))
            result.append(FileVersion("", lines, version.path, parents, int(time)))
            parents = (len(result) - 1,)
        result.append(replace(version, parents=parents))
        positions.append(len(result) - 1)
    return result, positions


def _rebuild_texts(
    versions: Sequence[FileVersion], edits: Sequence[Edit], recorded_hashes: Mapping[str, float]
) -> dict[float, bytes]:
    """Return the rebuilt texts by the time of their entry; none that is a version already."""
    texts = [(b"".join(version.lines), version.timestamp) for version in versions]
    hashes = {_hash(text) for text, _ in texts}
    missing = {text_hash: time for text_hash, time in recorded_hashes.items() if text_hash not in hashes}
    pending = [
        (text, float("inf") if time is None else recorded_hashes.get(_hash(text), time))
        for text, time in texts
    ]
    full_texts = [edit for edit in edits if edit.is_full_text and _hash(edit.after) in recorded_hashes]
    pending += [(edit.after, edit.timestamp) for edit in full_texts]
    texts_by_time: dict[float, bytes] = {}
    work_limit = WorkLimit(MAX_BYTES)
    while pending and missing:
        text, time = pending.pop()
        for candidate in [text, *_apply_edits(text, time, edits)]:
            if not work_limit.consume(len(candidate)):
                return texts_by_time
            # A wrong guess cannot get in: its hash was never recorded.
            recorded_at = missing.pop(_hash(candidate), None)
            if recorded_at is not None:
                texts_by_time[recorded_at] = candidate
                pending.append((candidate, recorded_at))
    return texts_by_time


def _apply_edits(text: bytes, timestamp: float, edits: Sequence[Edit]) -> Iterator[bytes]:
    """Yield what the text may have been before the last edits, and what the next ones may have made of it."""
    replacements = [edit for edit in edits if not edit.is_full_text]
    before = [edit for edit in replacements if edit.timestamp <= timestamp][-MAX_NEIGHBOUR_EDITS:]
    after = [edit for edit in replacements if edit.timestamp > timestamp][:MAX_NEIGHBOUR_EDITS]
    for edit in reversed(before):
        yield from _replace_each(text, edit.after, edit.before)
    for edit in after:
        yield from _replace_each(text, edit.before, edit.after)


def _replace_each(text: bytes, old: bytes, new: bytes) -> Iterator[bytes]:
    """Yield the text with one occurrence of `old` replaced, for each of them, then with all."""
    position, count = text.find(old) if old else -1, 0
    while position >= 0 and count < MAX_POSITIONS:
        yield text[:position] + new + text[position + len(old) :]
        position, count = text.find(old, position + 1), count + 1
    if count > 1:
        yield text.replace(old, new)


def _hash(text: bytes) -> str:
    return f"sha256:{hashlib.sha256(text).hexdigest()}"
