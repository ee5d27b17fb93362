"""Whole files in and out: what an import would do, doing it, and the file of the registry as it is now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from controlplane.models import Workspace
from intents import store
from intents.file_format.registry_parser import parse_registry
from intents.file_format.report import ValidationReport
from intents.file_format.values import IntentValues, RegistryValues
from intents.file_format.yaml_writer import write_registry
from intents.models import Intent, RegistryDocument
from intents.selectors import is_case_insensitive
from traces.ledger.append import NewEntry, append

IMPORT_MODES = ("merge", "replace")


@dataclass(frozen=True, slots=True)
class IntentChange:
    """One intent that an import adds, changes or removes. `fields` are the names of those that differ."""

    intent_id: str
    before: IntentValues | None
    after: IntentValues | None
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """What an import would do to the registry, in the order of the file."""

    added: tuple[IntentChange, ...] = ()
    changed: tuple[IntentChange, ...] = ()
    removed: tuple[IntentChange, ...] = ()
    unchanged: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "added": [change.intent_id for change in self.added],
            "changed": [
                {"intent_id": change.intent_id, "fields": list(change.fields)} for change in self.changed
            ],
            "removed": [change.intent_id for change in self.removed],
            "unchanged": list(self.unchanged),
        }


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """`merge` adds and changes what the file names; `replace` also removes what it does not name.
    `lenient` repairs what real files hold."""

    mode: str = "merge"
    lenient: bool = False


@dataclass(frozen=True, slots=True)
class ImportResult:
    """How an import went. Without `values` the file was invalid, and nothing was changed."""

    report: ValidationReport
    options: ImportOptions
    plan: ImportPlan = field(default_factory=ImportPlan)
    values: RegistryValues | None = None
    applied: bool = False


def preview_import(workspace_id: int, data: bytes, options: ImportOptions) -> ImportResult:
    """Read the file and compare it with the registry; nothing is changed."""
    present = {values.intent_id: values for values in store.list_values(workspace_id)}
    kept = list(present.values()) if options.mode == "merge" else []
    ignore_case = is_case_insensitive(workspace_id)
    reading = parse_registry(data, lenient=options.lenient, others=kept, ignore_case=ignore_case)
    if reading.values is None:
        return ImportResult(reading.report, options)
    return ImportResult(
        reading.report, options, plan_import(present, reading.values, options.mode), reading.values
    )


def import_registry(workspace: Workspace, data: bytes, options: ImportOptions, *, actor: str) -> ImportResult:
    """Read the file and bring the registry to it, or change nothing at all.

    Any status may be set: the moves bind people and agents, not files.
    """
    present = Intent.objects.filter(workspace=workspace)
    with store.change_registry(
        workspace.pk, present, actor=actor, reason=f"import ({options.mode})"
    ) as changes:
        found = preview_import(workspace.pk, data, options)
        if found.values is None:
            return found
        _apply(workspace.pk, found, changes)
        _tell(workspace.pk, found, actor)
    return replace(found, applied=True)


def plan_import(present: Mapping[str, IntentValues], file: RegistryValues, mode: str) -> ImportPlan:
    added, changed, unchanged = [], [], []
    for after in file.intents:
        before = present.get(after.intent_id)
        if before is None:
            added.append(IntentChange(after.intent_id, None, after))
        elif before == after:
            unchanged.append(after.intent_id)
        else:
            changed.append(IntentChange(after.intent_id, before, after, _differing(before, after)))
    named = {values.intent_id for values in file.intents}
    gone = [values for values in present.values() if values.intent_id not in named and mode == "replace"]
    removed = tuple(IntentChange(values.intent_id, values, None) for values in gone)
    return ImportPlan(tuple(added), tuple(changed), removed, tuple(unchanged))


def export_registry(workspace: Workspace) -> str:
    """`active_intents.yaml` of the registry as it is. 2 queries."""
    intents = tuple(store.list_values(workspace.pk))
    document = RegistryDocument.objects.filter(workspace=workspace).first()
    if document is None:
        return write_registry(RegistryValues(intents, _fresh_metadata(intents)))
    return write_registry(RegistryValues(intents, document.metadata, document.extra))


def _fresh_metadata(intents: tuple[IntentValues, ...]) -> dict[str, str]:
    """Metadata of a registry that no file brought."""
    last = max((values.updated_at for values in intents), default="")
    stamp = {"last_updated": last} if last else {}
    return {"version": "1.0", **stamp, "schema_version": "1.0"}


def _differing(before: IntentValues, after: IntentValues) -> tuple[str, ...]:
    one, other = before.to_document(), after.to_document()
    return tuple(name for name in {**one, **other} if one.get(name) != other.get(name))


def _apply(workspace_id: int, found: ImportResult, changes: store.RegistryChanges) -> None:
    rows = {row.intent_id: row for row in Intent.objects.filter(workspace_id=workspace_id)}
    for change in found.plan.removed:
        changes.remove(rows.pop(change.intent_id))
    for change in found.plan.changed:
        if change.after:
            changes.change(rows[change.intent_id], change.after)
    added = changes.add([change.after for change in found.plan.added if change.after])
    rows |= {row.intent_id: row for row in added}
    _keep_order(rows, found)
    _keep_document(workspace_id, found)


def _tell(workspace_id: int, found: ImportResult, actor: str) -> None:
    plan = found.plan
    if plan.added or plan.changed or plan.removed:
        body = {"what": "intents", "mode": found.options.mode, "plan": plan.to_json()}
        append(NewEntry(workspace_id=workspace_id, kind="import", body=body, outcome="applied", actor=actor))


def _keep_order(rows: Mapping[str, Intent], found: ImportResult) -> None:
    """After a replacement the registry stands in the order of the file; a merge appends."""
    if found.options.mode != "replace" or found.values is None:
        return
    moved = []
    for position, values in enumerate(found.values.intents, 1):
        row = rows[values.intent_id]
        if row.position != position:
            row.position = position
            moved.append(row)
    Intent.objects.bulk_update(moved, ["position"], batch_size=500)


def _keep_document(workspace_id: int, found: ImportResult) -> None:
    """Remember what the file says beside its intents. A merge of a file without metadata keeps the old."""
    if found.values is None:
        return
    metadata, extra = dict(found.values.metadata), dict(found.values.extra)
    document = RegistryDocument.objects.filter(workspace_id=workspace_id).first()
    if document is None:
        document = RegistryDocument(workspace_id=workspace_id)
    elif found.options.mode == "merge":
        metadata, extra = {**document.metadata, **metadata}, {**document.extra, **extra}
    if document.pk is None or (document.metadata, document.extra) != (metadata, extra):
        document.metadata, document.extra = metadata, extra
        document.save()
