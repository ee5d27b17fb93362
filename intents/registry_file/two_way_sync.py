"""`active_intents.yaml` and the registry, both ways: what changed on one side only flows to the other.

What both were when they last agreed is kept beside the file, by whoever keeps the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from controlplane.models import Workspace
from intents import store
from intents.file_format.registry_parser import read_document
from intents.file_format.report import Report
from intents.file_format.values import RegistryValues
from intents.file_format.yaml_writer import write_mapping
from intents.models import Intent, RegistryDocument
from intents.registry_file.import_export import How, Plan, import_document, preview
from intents.registry_file.three_way_merge import Conflict, Document, Merged, merge

BESIDE = ""  # the key of what stands in the file beside its intents
REPLACE = How("replace")


@dataclass(frozen=True, slots=True)
class Wish:
    """`file` is None where there is none: nothing was changed in it then. `base` is the last outcome's."""

    file: bytes | None
    base: Mapping[str, Any]
    prefer: str = ""
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """`file` is the new text, None where the present one stays, byte for byte. An invalid file or result
    changes nothing on either side; `report` says why."""

    report: Report
    conflicts: tuple[Conflict, ...] = ()
    plan: Plan = field(default_factory=Plan)
    file: str | None = None
    base: Mapping[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        conflicts = [conflict.as_json() for conflict in self.conflicts]
        found = {"conflicts": conflicts, "plan": self.plan.as_json(), "file": self.file, "base": self.base}
        return self.report.as_json() | found


def sync_file(workspace: Workspace, wish: Wish, *, actor: str) -> Outcome:
    """Merge, bring the registry to the result, and say what the file is to be; all of it or nothing."""
    present = Intent.objects.filter(workspace=workspace)
    with store.changing(workspace.pk, present, actor=actor, reason="sync"):
        registry = _registry(workspace.pk)
        folder = dict(wish.base)
        if wish.file is not None:
            reading = read_document(wish.file)
            if reading.values is None:
                return Outcome(reading.report)
            folder = _documents(reading.values)
        merged = _merged(wish, registry, folder)
        data = _written({key: one.registry for key, one in merged.items()}).encode()
        if wish.dry_run:
            done = preview(workspace.pk, data, REPLACE)
        else:
            done = import_document(workspace, data, REPLACE, actor=actor)
        if done.values is None:
            return Outcome(done.report)
    return _outcome(wish, merged, folder, done.report, done.plan)


def _outcome(
    wish: Wish, merged: Mapping[str, Merged], folder: Mapping[str, Any], report: Report, plan: Plan
) -> Outcome:
    wanted = {key: one.folder for key, one in merged.items() if one.folder is not None}
    same = wish.file is not None and wanted == folder
    return Outcome(
        report,
        tuple(conflict for one in merged.values() for conflict in one.conflicts),
        plan,
        None if same else _written(wanted),
        {key: one.base for key, one in merged.items() if one.base is not None},
    )


def _merged(wish: Wish, registry: Mapping[str, Any], folder: Mapping[str, Any]) -> dict[str, Merged]:
    """By key, in the order of the file, then of the registry."""
    keys = dict.fromkeys((*folder, *registry, *wish.base))
    return {
        key: merge(key, wish.base.get(key), registry.get(key), folder.get(key), wish.prefer) for key in keys
    }


def _registry(workspace_id: int) -> dict[str, Any]:
    document = RegistryDocument.objects.filter(workspace_id=workspace_id).first()
    metadata, extra = (document.metadata, document.extra) if document else ({}, {})
    return _documents(RegistryValues(tuple(store.all_values(workspace_id)), metadata, extra))


def _documents(values: RegistryValues) -> dict[str, Any]:
    beside = {**values.metadata, **{f"{BESIDE}/{name}": item for name, item in values.extra.items()}}
    return {BESIDE: beside} | {one.intent_id: one.as_document() for one in values.intents}


def _written(documents: Mapping[str, Document]) -> str:
    beside = documents.get(BESIDE) or {}
    mark = f"{BESIDE}/"
    metadata = {name: item for name, item in beside.items() if not name.startswith(mark)}
    extra = {name.removeprefix(mark): item for name, item in beside.items() if name.startswith(mark)}
    intents = [one for key, one in documents.items() if key != BESIDE and one is not None]
    found: dict[str, Any] = {"active_intents": [dict(one) for one in intents]}
    return write_mapping(found | ({"metadata": metadata} if metadata else {}) | extra)
