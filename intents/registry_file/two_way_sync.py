"""Sync `active_intents.yaml` and the registry both ways: a change of one side flows to the other.

The base, which is what both sides were when they last agreed, is stored next to the file by whoever has the
file: `icp.py sync` on a client, `local_file_sync` under the local root.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from controlplane.models import Workspace
from intents import store
from intents.file_format.field_rules import DEVIATIONS_FIELD
from intents.file_format.registry_parser import ParsedRegistry, parse_registry
from intents.file_format.report import REPAIRS, Diagnostic, DiagnosticType, ValidationReport
from intents.file_format.values import RegistryValues
from intents.file_format.yaml_writer import write_mapping
from intents.models import Intent, RegistryDocument
from intents.registry_file.import_export import ImportOptions, ImportPlan, import_registry, preview_import
from intents.registry_file.three_way_merge import Document, MergeConflict, MergeResult, merge

METADATA_KEY = ""  # the key of metadata and unknown keys, which no intent id can be
REPLACE = ImportOptions("replace")


@dataclass(frozen=True, slots=True)
class SyncRequest:
    """`file` is None where there is none, which counts as an unchanged one. `base` is the last result's."""

    file: bytes | None
    base: Mapping[str, Any]
    prefer: str = ""
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class SyncResult:
    """`file` is the new text; None where the present file stays, byte for byte.

    An invalid file or result changes neither side: `base` is None then, and `report` holds the errors.
    """

    report: ValidationReport
    conflicts: tuple[MergeConflict, ...] = ()
    plan: ImportPlan = field(default_factory=ImportPlan)
    file: str | None = None
    base: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        conflicts = [conflict.to_json() for conflict in self.conflicts]
        sync = {"conflicts": conflicts, "plan": self.plan.to_json(), "file": self.file, "base": self.base}
        return self.report.to_json() | sync


def sync_file(workspace: Workspace, request: SyncRequest, *, actor: str) -> SyncResult:
    """Merge, bring the registry to the result, and return the new text of the file; all of it or nothing."""
    rows = Intent.objects.for_workspace(workspace.pk)
    # The lock holds from reading the registry to writing it, so that no change in between is merged away.
    with store.change_registry(workspace.pk, rows, actor=actor, reason="sync"):
        registry = _load_registry(workspace.pk)
        file_registry = dict(request.base)
        if request.file is not None:
            parsed = _parse_file(request.file, registry)
            if parsed.values is None:
                return SyncResult(parsed.report)
            file_registry = _to_documents(parsed.values)
        merged = _merge_all(request, registry, file_registry)
        data = _write({key: result.registry for key, result in merged.items()}).encode()
        if request.dry_run:
            imported = preview_import(workspace.pk, data, REPLACE)
        else:
            imported = import_registry(workspace, data, REPLACE, actor=actor)
        if imported.values is None:
            return SyncResult(imported.report)
    return _build_result(request, merged, file_registry, imported.report, imported.plan)


def _parse_file(data: bytes, registry: Mapping[str, Any]) -> ParsedRegistry:
    """Parse a file strictly, but for what a lenient import took into the registry before.

    Else one `id: 7` would hold up the whole workspace, in whose folder the imported file still is.
    """
    strict = parse_registry(data)
    if strict.values is not None:
        return strict
    lenient = parse_registry(data, lenient=True)
    if lenient.values is None:
        return strict
    read = _to_documents(lenient.values)
    repairs = (warning for warning in lenient.report.warnings if warning.type in REPAIRS)
    return lenient if all(_is_registered(repair, read, registry) for repair in repairs) else strict


def _is_registered(repair: Diagnostic, read: Mapping[str, Any], registry: Mapping[str, Any]) -> bool:
    """Return whether the registry has the repaired intent, and what the field is read as."""
    if not repair.intent_id:  # about the form of the file
        return read.keys() <= registry.keys()
    intent_id, field_name = repair.intent_id.strip(), repair.field or ""
    if intent_id not in read or intent_id not in registry:
        return False
    old, new = registry[intent_id], read[intent_id]
    is_strict = repair.type is DiagnosticType.STATUS_ALIAS and "status" not in new.get(DEVIATIONS_FIELD, ())
    is_form = repair.type is DiagnosticType.KEY_ALIAS  # another name or form of a field, whatever its value
    return is_strict or is_form or new.get(field_name) == old.get(field_name)


def _build_result(
    request: SyncRequest,
    merged: Mapping[str, MergeResult],
    file_registry: Mapping[str, Any],
    report: ValidationReport,
    plan: ImportPlan,
) -> SyncResult:
    new_file_registry = {key: result.folder for key, result in merged.items() if result.folder is not None}
    unchanged = request.file is not None and new_file_registry == file_registry
    return SyncResult(
        report,
        tuple(conflict for result in merged.values() for conflict in result.conflicts),
        plan,
        None if unchanged else _write(new_file_registry),
        {key: result.base for key, result in merged.items() if result.base is not None},
    )


def _merge_all(
    request: SyncRequest, registry: Mapping[str, Any], file_registry: Mapping[str, Any]
) -> dict[str, MergeResult]:
    """Merge each document, in the order of the file, then of the registry."""
    keys = dict.fromkeys((*file_registry, *registry, *request.base))
    return {
        key: merge(key, request.base.get(key), registry.get(key), file_registry.get(key), request.prefer)
        for key in keys
    }


def _load_registry(workspace_id: int) -> dict[str, Any]:
    document = RegistryDocument.objects.filter(workspace_id=workspace_id).first()
    metadata, extra = (document.metadata, document.extra) if document else ({}, {})
    return _to_documents(RegistryValues(tuple(store.list_values(workspace_id)), metadata, extra))


def _to_documents(values: RegistryValues) -> dict[str, Any]:
    """Map intent ids to documents, and `METADATA_KEY` to metadata and, as `/name`, the unknown keys."""
    extra = {f"{METADATA_KEY}/{name}": item for name, item in values.extra.items()}
    intents = {intent.intent_id: intent.to_document() for intent in values.intents}
    return {METADATA_KEY: {**values.metadata, **extra}} | intents


def _write(documents: Mapping[str, Document]) -> str:
    other_keys = documents.get(METADATA_KEY) or {}
    prefix = f"{METADATA_KEY}/"
    metadata = {name: item for name, item in other_keys.items() if not name.startswith(prefix)}
    extra = {name.removeprefix(prefix): item for name, item in other_keys.items() if name.startswith(prefix)}
    intents = [dict(item) for key, item in documents.items() if key != METADATA_KEY and item is not None]
    content: dict[str, Any] = {"active_intents": intents}
    return write_mapping(content | ({"metadata": metadata} if metadata else {}) | extra)
