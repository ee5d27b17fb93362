"""`active_intents.yaml` and the registry, both ways: what changed on one side only flows to the other.

What both were when they last agreed is kept beside the file, by whoever keeps the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from controlplane.models import Workspace
from intents import store
from intents.file_format.registry_parser import parse_registry
from intents.file_format.report import ValidationReport
from intents.file_format.values import RegistryValues
from intents.file_format.yaml_writer import write_mapping
from intents.models import Intent, RegistryDocument
from intents.registry_file.import_export import ImportOptions, ImportPlan, import_registry, preview_import
from intents.registry_file.three_way_merge import Document, MergeConflict, MergeResult, merge

METADATA_KEY = ""  # the key of what stands in the file beside its intents
REPLACE = ImportOptions("replace")


@dataclass(frozen=True, slots=True)
class SyncRequest:
    """`file` is None where there is none: nothing was changed in it then. `base` is the last outcome's."""

    file: bytes | None
    base: Mapping[str, Any]
    prefer: str = ""
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class SyncResult:
    """`file` is the new text, None where the present one stays, byte for byte. An invalid file or result
    changes nothing on either side; `report` says why."""

    report: ValidationReport
    conflicts: tuple[MergeConflict, ...] = ()
    plan: ImportPlan = field(default_factory=ImportPlan)
    file: str | None = None
    base: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        conflicts = [conflict.to_json() for conflict in self.conflicts]
        found = {"conflicts": conflicts, "plan": self.plan.to_json(), "file": self.file, "base": self.base}
        return self.report.to_json() | found


def sync_file(workspace: Workspace, request: SyncRequest, *, actor: str) -> SyncResult:
    """Merge, bring the registry to the result, and say what the file is to be; all of it or nothing."""
    present = Intent.objects.filter(workspace=workspace)
    with store.change_registry(workspace.pk, present, actor=actor, reason="sync"):
        registry = _registry(workspace.pk)
        folder = dict(request.base)
        if request.file is not None:
            reading = parse_registry(request.file)
            if reading.values is None:
                return SyncResult(reading.report)
            folder = _documents(reading.values)
        merged = _merged(request, registry, folder)
        data = _written({key: one.registry for key, one in merged.items()}).encode()
        if request.dry_run:
            done = preview_import(workspace.pk, data, REPLACE)
        else:
            done = import_registry(workspace, data, REPLACE, actor=actor)
        if done.values is None:
            return SyncResult(done.report)
    return _outcome(request, merged, folder, done.report, done.plan)


def _outcome(
    wish: SyncRequest,
    merged: Mapping[str, MergeResult],
    folder: Mapping[str, Any],
    report: ValidationReport,
    plan: ImportPlan,
) -> SyncResult:
    wanted = {key: one.folder for key, one in merged.items() if one.folder is not None}
    same = wish.file is not None and wanted == folder
    return SyncResult(
        report,
        tuple(conflict for one in merged.values() for conflict in one.conflicts),
        plan,
        None if same else _written(wanted),
        {key: one.base for key, one in merged.items() if one.base is not None},
    )


def _merged(
    wish: SyncRequest, registry: Mapping[str, Any], folder: Mapping[str, Any]
) -> dict[str, MergeResult]:
    """By key, in the order of the file, then of the registry."""
    keys = dict.fromkeys((*folder, *registry, *wish.base))
    return {
        key: merge(key, wish.base.get(key), registry.get(key), folder.get(key), wish.prefer) for key in keys
    }


def _registry(workspace_id: int) -> dict[str, Any]:
    document = RegistryDocument.objects.filter(workspace_id=workspace_id).first()
    metadata, extra = (document.metadata, document.extra) if document else ({}, {})
    return _documents(RegistryValues(tuple(store.list_values(workspace_id)), metadata, extra))


def _documents(values: RegistryValues) -> dict[str, Any]:
    beside = {**values.metadata, **{f"{METADATA_KEY}/{name}": item for name, item in values.extra.items()}}
    return {METADATA_KEY: beside} | {one.intent_id: one.to_document() for one in values.intents}


def _written(documents: Mapping[str, Document]) -> str:
    beside = documents.get(METADATA_KEY) or {}
    mark = f"{METADATA_KEY}/"
    metadata = {name: item for name, item in beside.items() if not name.startswith(mark)}
    extra = {name.removeprefix(mark): item for name, item in beside.items() if name.startswith(mark)}
    intents = [one for key, one in documents.items() if key != METADATA_KEY and one is not None]
    found: dict[str, Any] = {"active_intents": [dict(one) for one in intents]}
    return write_mapping(found | ({"metadata": metadata} if metadata else {}) | extra)
