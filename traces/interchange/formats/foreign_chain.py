"""Verify hash chains that other tools wrote into their records, as far as their rule can be inferred.

A record carries the hash of the previous one and its own. Which bytes were hashed is not documented, so
common encodings are tried until one reproduces a record's hash; those that keep matching are the rule for the
rest. Where none ever matches, only the links are compared. Records keep the fields as they were sent.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

CONTAINER_FIELDS = ("integrity", "chain", "proof", "hash_chain")
PREVIOUS_HASH_FIELDS = (
    "prev_record_hash",
    "prevRecordHash",
    "prev_hash",
    "prevHash",
    "previous_hash",
    "previousHash",
)
HASH_FIELDS = ("record_hash", "recordHash", "entry_hash", "entryHash", "hash")
GENESIS_HASHES = frozenset({"", "genesis"})
_CHAIN_FIELDS = frozenset({*CONTAINER_FIELDS, *PREVIOUS_HASH_FIELDS})

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Link:
    """How a record is chained. `container` is the field that holds both hashes, "" for the record itself."""

    container: str
    previous_name: str
    hash_name: str
    previous: str
    hash: str


@dataclass(slots=True)
class ForeignChain:
    """Verify the records of one file in order. Memory is one hash, whatever the length of the file."""

    links: int = 0
    first_break: int | None = None
    _matching_rules: list[str] = field(default_factory=list)
    _broken: int = 0
    # Records that no rule had matched yet, first line.
    _before_rule: list[int] = field(default_factory=lambda: [0, 0])
    _previous_hash: str = ""

    def add(self, record: Object, line: int | None) -> None:
        if _CHAIN_FIELDS.isdisjoint(record):
            return
        link = _find_link(record)
        if link is None:
            return
        is_linked = link.previous == self._previous_hash
        self._previous_hash = link.hash
        self.links += 1
        is_hash_valid = self._is_hash_valid(record, link, line)
        if not (is_linked and is_hash_valid):
            self._record_break(line)

    @property
    def rule(self) -> str:
        """Describe the rule; "" as long as none was found."""
        return self._matching_rules[0] if self._matching_rules else ""

    @property
    def verified(self) -> int:
        return self.links - self._broken - (self._before_rule[0] if self.rule else 0)

    def summary(self) -> Object | None:
        """Return {links, verified, first_break, rule}; None for a file without a chain.

        A `rule` of "" means that only links were compared.
        """
        if not self.links:
            return None
        lines = [self.first_break, self._before_rule[1] if self.rule and self._before_rule[0] else None]
        first = min((line for line in lines if line), default=None)
        return {"links": self.links, "verified": self.verified, "first_break": first, "rule": self.rule}

    def _is_hash_valid(self, record: Object, link: Link, line: int | None) -> bool:
        """Whether the record has the hash that it claims; True as long as no rule is known."""
        has_rule = bool(self._matching_rules)
        matching = [
            name for name in self._matching_rules or _RULES if _RULES[name](record, link) == link.hash
        ]
        if matching:
            # Every record narrows the rules; a rule that once failed must not come back.
            self._matching_rules = matching
        elif not has_rule:
            self._before_rule = [self._before_rule[0] + 1, self._before_rule[1] or line or 0]
        return bool(matching) or not has_rule

    def _record_break(self, line: int | None) -> None:
        self._broken += 1
        self.first_break = self.first_break or line


def describe_chain(summary: Object) -> str:
    """Return for example "foreign chain: 17 of 18 links verify, first break at line 4"."""
    text = f"foreign chain: {summary['verified']} of {summary['links']} links verify"
    if summary["first_break"]:
        text += f", first break at line {summary['first_break']}"
    return text if summary["rule"] else f"{text}; only links were checked, the hashing rule is unknown"


def _find_link(record: Object) -> Link | None:
    for container in ("", *CONTAINER_FIELDS):
        fields = record.get(container) if container else record
        if not isinstance(fields, dict):
            continue
        previous_name = next((name for name in PREVIOUS_HASH_FIELDS if name in fields), "")
        hash_name = next((name for name in HASH_FIELDS if name in fields), "")
        if (
            previous_name
            and hash_name
            and isinstance(fields[hash_name], str)
            and isinstance(fields[previous_name], str | None)
        ):
            return Link(
                container,
                previous_name,
                hash_name,
                _strip_algorithm(fields[previous_name]),
                _strip_algorithm(fields[hash_name]),
            )
    return None


def _strip_algorithm(value: str | None) -> str:
    """Return the hash without the name of its algorithm; "" for the one before the first record."""
    text = (value or "").strip().lower().removeprefix("sha256:")
    return "" if text in GENESIS_HASHES or not text.strip("0") else text


def _with_previous(record: Object, link: Link) -> Object:
    """Return the record without its hashes, then the previous hash as it was written."""
    previous_hash = (
        record[link.container][link.previous_name] if link.container else record[link.previous_name]
    )
    return _without_hashes(record, link) | {link.previous_name: previous_hash}


def _without_hashes(record: Object, link: Link) -> Object:
    names = {link.container} if link.container else {link.hash_name, link.previous_name}
    return {name: value for name, value in record.items() if name not in names}


def _without_own_hash(record: Object, link: Link) -> Object:
    if not link.container:
        return {name: value for name, value in record.items() if name != link.hash_name}
    rest = {name: value for name, value in record[link.container].items() if name != link.hash_name}
    return record | {link.container: rest}


def _digest(
    select: Callable[[Object, Link], Object], json_options: Object, prefix: bool, record: Object, link: Link
) -> str:
    text = json.dumps(select(record, link), ensure_ascii=False, **json_options)
    return hashlib.sha256(f"{link.previous if prefix else ''}{text}".encode()).hexdigest()


def _list_rules() -> Iterator[tuple[str, Callable[[Object, Link], str]]]:
    selections = {
        "the record with the hash before it": (_with_previous, False),
        "the record without its own hash": (_without_own_hash, False),
        "the hash before it, then the record": (_without_hashes, True),
        "the record alone": (_without_hashes, False),
    }
    encodings: dict[str, Object] = {
        "compact JSON": {"separators": (",", ":")},
        "compact JSON, sorted": {"separators": (",", ":"), "sort_keys": True},
        "spaced JSON": {},
        "spaced JSON, sorted": {"sort_keys": True},
    }
    for subject, (select, prefix) in selections.items():
        for encoding, json_options in encodings.items():
            yield f"SHA-256 of {subject}, {encoding}", partial(_digest, select, json_options, prefix)


_RULES = dict(_list_rules())
