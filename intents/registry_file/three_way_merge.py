"""Merge two versions of a document, field by field, with the base that both last agreed on.

A document is a mapping of JSON values; None stands for one that does not exist.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Document = Mapping[str, Any] | None
PREFERENCES = ("registry", "folder")
ALL_FIELDS = "*"  # the field of a conflict where one side removed what the other changed
TIMESTAMP_FIELDS = frozenset({"updated_at", "last_updated"})  # both sides stamp them: the later one wins


@dataclass(frozen=True, slots=True)
class MergeConflict:
    """A field that both sides changed differently."""

    key: str
    field: str
    base: Any
    registry: Any
    folder: Any

    def to_json(self) -> dict[str, Any]:
        versions = {"base": self.base, "registry": self.registry, "folder": self.folder}
        return {"intent_id": self.key, "field": self.field, **versions}


@dataclass(frozen=True, slots=True)
class MergeResult:
    """The new version of each side. With conflicts both sides and the base stay as they were."""

    registry: Document
    folder: Document
    base: Document
    conflicts: tuple[MergeConflict, ...] = ()


def merge(key: str, base: Document, registry: Document, directory: Document, prefer: str = "") -> MergeResult:
    """Merge one document. `prefer` names the side that wins conflicts, "" for neither."""
    if directory in (registry, base):
        return _agree(registry)
    if registry == base:
        return _agree(directory)
    if registry is None or directory is None:
        sides = {"registry": registry, "folder": directory}
        if prefer:
            return _agree(sides[prefer])
        conflict = MergeConflict(key, ALL_FIELDS, base, registry, directory)
        return MergeResult(registry, directory, base, (conflict,))
    merged, conflicts = _merge_fields(key, base or {}, registry, directory, prefer)
    return MergeResult(registry, directory, base, conflicts) if conflicts else _agree(merged)


def _agree(document: Document) -> MergeResult:
    return MergeResult(document, document, document)


def _merge_fields(
    key: str, base: Mapping[str, Any], registry: Mapping[str, Any], directory: Mapping[str, Any], prefer: str
) -> tuple[dict[str, Any], tuple[MergeConflict, ...]]:
    merged: dict[str, Any] = {}
    conflicts = []
    for name in dict.fromkeys((*registry, *directory)):
        before, in_registry, in_file = base.get(name), registry.get(name), directory.get(name)
        if in_file in (in_registry, before):
            merged[name] = in_registry
        elif in_registry == before:
            merged[name] = in_file
        elif name in TIMESTAMP_FIELDS:
            merged[name] = max(str(in_registry or ""), str(in_file or ""))
        elif prefer:
            merged[name] = in_registry if prefer == "registry" else in_file
        else:
            conflicts.append(MergeConflict(key, name, before, in_registry, in_file))
    return {name: value for name, value in merged.items() if value is not None}, tuple(conflicts)
