"""Texts between two commits, made again from recorded edits and proven by recorded hashes.

An agent edits a file many times before anybody commits it. Each edit was recorded with the hash of the
whole file after it, and the call that made it is in the ledger with the text that it took out and the one
that it put in. So the text before the last edit is made from the text after it, and so on: it counts only
where its hash was recorded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from traces.ranges.line_diff import Budget
from traces.ranges.lineage import lines_of
from traces.ranges.track_lines import Version

NEAR = 4  # edits before and after a text that are tried on it
MAX_PLACES = 8  # where the text that an edit put in may stand more than once
MAX_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Edit:
    """What a call took out of a file and put in, or all that it left there (`whole`); `seconds` since
    1970."""

    before: bytes
    after: bytes
    seconds: float
    whole: bool = False


def with_rebuilt(
    versions: Sequence[Version], edits: Sequence[Edit], wanted: Mapping[str, float]
) -> tuple[list[Version], list[int]]:
    """The versions with those that could be rebuilt between them, and where each of the old ones is now.

    `wanted` are hashes of whole texts with the times at which they were recorded.
    """
    made = _rebuilt(versions, sorted(edits, key=lambda edit: edit.seconds), wanted)
    found: list[Version] = []
    places: list[int] = []
    for version in versions:
        parents = tuple(places[parent] for parent in version.parents)
        after = versions[version.parents[0]].seconds or 0 if version.parents else float("-inf")
        until = float("inf") if version.seconds is None else version.seconds + 1  # commits tell whole seconds
        fits = not version.cut and len(parents) < 2
        for seconds in [at for at in sorted(made) if fits and after < at < until]:
            between = Version("", lines_of(made.pop(seconds)), version.path, parents, int(seconds))
            found.append(between)
            parents = (len(found) - 1,)
        found.append(replace(version, parents=parents))
        places.append(len(found) - 1)
    return found, places


def _rebuilt(
    versions: Sequence[Version], edits: Sequence[Edit], wanted: Mapping[str, float]
) -> dict[float, bytes]:
    """The texts that were found, by the time of their entry; none that is a version already."""
    texts = [(b"".join(one.lines), one.seconds) for one in versions]
    hashes = {_hash(text) for text, _ in texts}
    left = {text_hash: seconds for text_hash, seconds in wanted.items() if text_hash not in hashes}
    waiting = [(text, float("inf") if at is None else wanted.get(_hash(text), at)) for text, at in texts]
    waiting += [(edit.after, edit.seconds) for edit in edits if edit.whole and _hash(edit.after) in wanted]
    found: dict[float, bytes] = {}
    budget = Budget(MAX_BYTES)
    while waiting and left:
        text, seconds = waiting.pop()
        for other in [text, *_neighbours(text, seconds, edits)]:
            if not budget.take(len(other)):
                return found
            at = left.pop(_hash(other), None)
            if at is not None:
                found[at] = other
                waiting.append((other, at))
    return found


def _neighbours(text: bytes, seconds: float, edits: Sequence[Edit]) -> Iterator[bytes]:
    """What the text may have been before the last edits, and what the next ones may have made of it."""
    before = [edit for edit in edits if not edit.whole and edit.seconds <= seconds][-NEAR:]
    after = [edit for edit in edits if not edit.whole and edit.seconds > seconds][:NEAR]
    for edit in reversed(before):
        yield from _exchanged(text, edit.after, edit.before)
    for edit in after:
        yield from _exchanged(text, edit.before, edit.after)


def _exchanged(text: bytes, old: bytes, new: bytes) -> Iterator[bytes]:
    """The text with one of the places where `old` stands, or all of them, holding `new`."""
    at, places = text.find(old) if old else -1, 0
    while at >= 0 and places < MAX_PLACES:
        yield text[:at] + new + text[at + len(old) :]
        at, places = text.find(old, at + 1), places + 1
    if places > 1:
        yield text.replace(old, new)


def _hash(text: bytes) -> str:
    return f"sha256:{hashlib.sha256(text).hexdigest()}"
