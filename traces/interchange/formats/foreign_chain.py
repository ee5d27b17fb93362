"""Hash chains that other tools wrote into their records: verified by their own rule, as far as it shows.

A record carries the hash of the one before it and its own. Which bytes were hashed is told nowhere, so the
usual forms are tried until one gives the hash of a record; those that go on fitting are the rule for the
rest. Where none ever fits, only the links are compared. The records keep the fields as they were sent.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

HOLDERS = ("integrity", "chain", "proof", "hash_chain")
PREVIOUS = ("prev_record_hash", "prevRecordHash", "prev_hash", "prevHash", "previous_hash", "previousHash")
OWN = ("record_hash", "recordHash", "entry_hash", "entryHash", "hash")
NOTHING_BEFORE = frozenset({"", "genesis"})
_MARKS = frozenset({*HOLDERS, *PREVIOUS})

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Link:
    """Where a record says how it is chained. `holder` is the field that holds both names, "" for none."""

    holder: str
    previous_name: str
    own_name: str
    previous: str
    own: str


@dataclass(slots=True)
class ForeignChain:
    """Follows the records of one file in order; memory is one hash, whatever the length of the file."""

    links: int = 0
    first_break: int | None = None
    _fitting: list[str] = field(default_factory=list)
    _broken: int = 0
    _unmatched: list[int] = field(default_factory=lambda: [0, 0])  # records before the rule, first line
    _before: str = ""

    def follow(self, record: Object, line: int | None) -> None:
        if _MARKS.isdisjoint(record):
            return
        link = _link(record)
        if link is None:
            return
        linked = link.previous == self._before
        self._before = link.own
        self.links += 1
        hashed = self._hashed(record, link, line)
        if not (linked and hashed):
            self._break(line)

    @property
    def rule(self) -> str:
        """In words; "" as long as none was found."""
        return self._fitting[0] if self._fitting else ""

    @property
    def verified(self) -> int:
        return self.links - self._broken - (self._unmatched[0] if self.rule else 0)

    def summary(self) -> Object | None:
        """{links, verified, first_break, rule}; None where the file has no chain. `rule` "" : links only."""
        if not self.links:
            return None
        lines = [self.first_break, self._unmatched[1] if self.rule and self._unmatched[0] else None]
        first = min((line for line in lines if line), default=None)
        return {"links": self.links, "verified": self.verified, "first_break": first, "rule": self.rule}

    def _hashed(self, record: Object, link: Link, line: int | None) -> bool:
        """Whether the record has the hash that it claims; True as long as no rule is known."""
        known = bool(self._fitting)
        fitting = [name for name in self._fitting or _RULES if _RULES[name](record, link) == link.own]
        if fitting:
            self._fitting = fitting
        elif not known:
            self._unmatched = [self._unmatched[0] + 1, self._unmatched[1] or line or 0]
        return bool(fitting) or not known

    def _break(self, line: int | None) -> None:
        self._broken += 1
        self.first_break = self.first_break or line


def in_words(summary: Object) -> str:
    """For reports and pages: "foreign chain: 17 of 18 links verify, first break at line 4"."""
    text = f"foreign chain: {summary['verified']} of {summary['links']} links verify"
    if summary["first_break"]:
        text += f", first break at line {summary['first_break']}"
    return text if summary["rule"] else f"{text}; how a record was hashed could not be found out"


def _link(record: Object) -> Link | None:
    for holder in ("", *HOLDERS):
        fields = record.get(holder) if holder else record
        if not isinstance(fields, dict):
            continue
        before = next((name for name in PREVIOUS if name in fields), "")
        own = next((name for name in OWN if name in fields), "")
        if before and own and isinstance(fields[own], str) and isinstance(fields[before], str | None):
            return Link(holder, before, own, _bare(fields[before]), _bare(fields[own]))
    return None


def _bare(told: str | None) -> str:
    """The hash without the name of its algorithm; "" for what stands before the first record."""
    text = (told or "").strip().lower().removeprefix("sha256:")
    return "" if text in NOTHING_BEFORE or not text.strip("0") else text


def _with_previous(record: Object, link: Link) -> Object:
    """The record without what holds the hashes, then the hash before it, as it was told."""
    told = record[link.holder][link.previous_name] if link.holder else record[link.previous_name]
    return _without_hashes(record, link) | {link.previous_name: told}


def _without_hashes(record: Object, link: Link) -> Object:
    names = {link.holder} if link.holder else {link.own_name, link.previous_name}
    return {name: value for name, value in record.items() if name not in names}


def _without_own(record: Object, link: Link) -> Object:
    if not link.holder:
        return {name: value for name, value in record.items() if name != link.own_name}
    kept = {name: value for name, value in record[link.holder].items() if name != link.own_name}
    return record | {link.holder: kept}


def _digest(
    part: Callable[[Object, Link], Object], form: Object, prefix: bool, record: Object, link: Link
) -> str:
    text = json.dumps(part(record, link), ensure_ascii=False, **form)
    return hashlib.sha256(f"{link.previous if prefix else ''}{text}".encode()).hexdigest()


def _rules() -> Iterator[tuple[str, Callable[[Object, Link], str]]]:
    parts = {
        "the record with the hash before it": (_with_previous, False),
        "the record without its own hash": (_without_own, False),
        "the hash before it, then the record": (_without_hashes, True),
        "the record alone": (_without_hashes, False),
    }
    forms: dict[str, Object] = {
        "compact JSON": {"separators": (",", ":")},
        "compact JSON, sorted": {"separators": (",", ":"), "sort_keys": True},
        "spaced JSON": {},
        "spaced JSON, sorted": {"sort_keys": True},
    }
    for what, (part, prefix) in parts.items():
        for how, form in forms.items():
            yield f"SHA-256 of {what}, {how}", partial(_digest, part, form, prefix)


_RULES = dict(_rules())
