"""Two sides and what both were when they last agreed: what flows where, and what only a person can settle.

A document is a mapping of JSON values; None stands for one that is not there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Document = Mapping[str, Any] | None
PREFERENCES = ("registry", "folder")
ALL_FIELDS = "*"  # the field of a conflict where one side removed what the other changed
TIMESTAMP_FIELDS = frozenset({"updated_at", "last_updated"})  # both sides stamp these: the later one holds


@dataclass(frozen=True, slots=True)
class MergeConflict:
    """A field that both sides changed, each in its own way."""

    key: str
    field: str
    base: Any
    registry: Any
    folder: Any

    def to_json(self) -> dict[str, Any]:
        sides = {"base": self.base, "registry": self.registry, "folder": self.folder}
        return {"intent_id": self.key, "field": self.field, **sides}


@dataclass(frozen=True, slots=True)
class MergeResult:
    """What each side is to be. With open conflicts both stay as they are, and so does what they agreed on."""

    registry: Document
    folder: Document
    base: Document
    conflicts: tuple[MergeConflict, ...] = ()


def merge(key: str, base: Document, registry: Document, folder: Document, prefer: str = "") -> MergeResult:
    """`prefer` names the side that wins where both changed."""
    if folder in (registry, base):
        return _agreed(registry)
    if registry == base:
        return _agreed(folder)
    if registry is None or folder is None:
        settled = {"registry": registry, "folder": folder}
        if prefer:
            return _agreed(settled[prefer])
        return MergeResult(registry, folder, base, (MergeConflict(key, ALL_FIELDS, base, registry, folder),))
    found, conflicts = _by_field(key, base or {}, registry, folder, prefer)
    return MergeResult(registry, folder, base, conflicts) if conflicts else _agreed(found)


def _agreed(document: Document) -> MergeResult:
    return MergeResult(document, document, document)


def _by_field(
    key: str, base: Mapping[str, Any], registry: Mapping[str, Any], folder: Mapping[str, Any], prefer: str
) -> tuple[dict[str, Any], tuple[MergeConflict, ...]]:
    found: dict[str, Any] = {}
    conflicts = []
    for name in dict.fromkeys((*registry, *folder)):
        before, one, other = base.get(name), registry.get(name), folder.get(name)
        if other in (one, before):
            found[name] = one
        elif one == before:
            found[name] = other
        elif name in TIMESTAMP_FIELDS:
            found[name] = max(str(one or ""), str(other or ""))
        elif prefer:
            found[name] = one if prefer == "registry" else other
        else:
            conflicts.append(MergeConflict(key, name, before, one, other))
    return {name: value for name, value in found.items() if value is not None}, tuple(conflicts)
