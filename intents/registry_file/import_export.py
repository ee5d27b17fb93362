"""Import and export `active_intents.yaml`: the plan of an import, applying it, and the registry's file."""

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
BATCH_SIZE = 500  # rows per UPDATE


@dataclass(frozen=True, slots=True)
class IntentChange:
    """An intent that an import adds, changes or removes. `fields` are the names of those that differ."""

    intent_id: str
    before: IntentValues | None
    after: IntentValues | None
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """What an import does to the registry, in the order of the file."""

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
    """`merge` adds and changes the intents of the file; `replace` also removes those that it lacks.

    `lenient` repairs what real files hold.
    """

    mode: str = "merge"
    lenient: bool = False


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The outcome of an import or preview. `values` is None where the file was invalid: nothing changed."""

    report: ValidationReport
    options: ImportOptions
    plan: ImportPlan = field(default_factory=ImportPlan)
    values: RegistryValues | None = None
    applied: bool = False


def preview_import(workspace_id: int, data: bytes, options: ImportOptions) -> ImportResult:
    """Parse the file and compare it with the registry; nothing is changed."""
    registered = {values.intent_id: values for values in store.list_values(workspace_id)}
    others = list(registered.values()) if options.mode == "merge" else []
    ignore_case = is_case_insensitive(workspace_id)
    parsed = parse_registry(data, lenient=options.lenient, others=others, ignore_case=ignore_case)
    if parsed.values is None:
        return ImportResult(parsed.report, options)
    plan = plan_import(registered, parsed.values, options.mode)
    return ImportResult(parsed.report, options, plan, parsed.values)


def import_registry(workspace: Workspace, data: bytes, options: ImportOptions, *, actor: str) -> ImportResult:
    """Parse the file and bring the registry to it, or change nothing at all.

    Any status may be set: the allowed moves bind people and agents, not files.
    """
    rows = Intent.objects.for_workspace(workspace.pk)
    reason = f"import ({options.mode})"
    with store.change_registry(workspace.pk, rows, actor=actor, reason=reason) as changes:
        result = preview_import(workspace.pk, data, options)
        if result.values is None:
            return result
        _apply(workspace.pk, result, changes)
        _record(workspace.pk, result, actor)
    return replace(result, applied=True)


def plan_import(registered: Mapping[str, IntentValues], file: RegistryValues, mode: str) -> ImportPlan:
    added, changed, unchanged = [], [], []
    for after in file.intents:
        before = registered.get(after.intent_id)
        if before is None:
            added.append(IntentChange(after.intent_id, None, after))
        elif before == after:
            unchanged.append(after.intent_id)
        else:
            changed.append(IntentChange(after.intent_id, before, after, _diff_fields(before, after)))
    in_file = {values.intent_id for values in file.intents}
    removed = [values for values in registered.values() if values.intent_id not in in_file]
    return ImportPlan(
        tuple(added),
        tuple(changed),
        tuple(IntentChange(values.intent_id, values, None) for values in removed if mode == "replace"),
        tuple(unchanged),
    )


def export_registry(workspace: Workspace) -> str:
    """Return the registry as `active_intents.yaml`. 2 queries."""
    intents = tuple(store.list_values(workspace.pk))
    document = RegistryDocument.objects.filter(workspace=workspace).first()
    if document is None:
        return write_registry(RegistryValues(intents, _default_metadata(intents)))
    return write_registry(RegistryValues(intents, document.metadata, document.extra))


def _default_metadata(intents: tuple[IntentValues, ...]) -> dict[str, str]:
    """Build metadata for a registry that no file was imported into."""
    last = max((values.updated_at for values in intents), default="")
    last_updated = {"last_updated": last} if last else {}
    return {"version": "1.0", **last_updated, "schema_version": "1.0"}


def _diff_fields(before: IntentValues, after: IntentValues) -> tuple[str, ...]:
    old, new = before.to_document(), after.to_document()
    return tuple(name for name in {**old, **new} if old.get(name) != new.get(name))


def _apply(workspace_id: int, result: ImportResult, changes: store.RegistryChanges) -> None:
    rows = {intent.intent_id: intent for intent in Intent.objects.for_workspace(workspace_id)}
    for change in result.plan.removed:
        changes.remove(rows.pop(change.intent_id))
    for change in result.plan.changed:
        if change.after:
            changes.change(rows[change.intent_id], change.after)
    added = changes.add([change.after for change in result.plan.added if change.after])
    rows |= {intent.intent_id: intent for intent in added}
    _store_order(rows, result)
    _store_metadata(workspace_id, result)


def _record(workspace_id: int, result: ImportResult, actor: str) -> None:
    plan = result.plan
    if plan.added or plan.changed or plan.removed:
        body = {"what": "intents", "mode": result.options.mode, "plan": plan.to_json()}
        append(NewEntry(workspace_id=workspace_id, kind="import", body=body, outcome="applied", actor=actor))


def _store_order(rows: Mapping[str, Intent], result: ImportResult) -> None:
    """Give the registry the order of the file after a replacement; a merge appends."""
    if result.options.mode != "replace" or result.values is None:
        return
    moved = []
    for position, values in enumerate(result.values.intents, 1):
        intent = rows[values.intent_id]
        if intent.position != position:
            intent.position = position
            moved.append(intent)
    Intent.objects.bulk_update(moved, ["position"], batch_size=BATCH_SIZE)


def _store_metadata(workspace_id: int, result: ImportResult) -> None:
    """Store metadata and unknown keys of the file. A merge keeps those that the file does not have."""
    if result.values is None:
        return
    metadata, extra = dict(result.values.metadata), dict(result.values.extra)
    document = RegistryDocument.objects.filter(workspace_id=workspace_id).first()
    if document is None:
        document = RegistryDocument(workspace_id=workspace_id)
    elif result.options.mode == "merge":
        metadata, extra = {**document.metadata, **metadata}, {**document.extra, **extra}
    if document.pk is None or (document.metadata, document.extra) != (metadata, extra):
        document.metadata, document.extra = metadata, extra
        document.save()
