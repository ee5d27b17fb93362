"""Sync the registry with the `active_intents.yaml` under a workspace's local root, one way or both ways."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from controlplane.models import Workspace
from controlplane.policy.model import Registry
from intents.errors import InvalidSyncStateError
from intents.models import RegistryDocument
from intents.registry_file.import_export import ImportOptions, ImportResult, import_registry
from intents.registry_file.two_way_sync import SyncRequest, SyncResult, sync_file

REGISTRY_FILE = ".orchestration/active_intents.yaml"
STATE_FILE = ".orchestration/.icp-sync.json"  # the base of the last two-way sync; icp.py shares it


@dataclass(frozen=True, slots=True)
class FileSyncResult:
    """`imported` is None where there was no file to read."""

    state: Registry
    error: str = ""
    imported: ImportResult | None = None


def sync_from_file(workspace: Workspace, *, actor: str, lenient: bool = False) -> FileSyncResult:
    """Bring the registry to what the file says, and store the state of the file.

    While it is missing or corrupt the intents stay as they were, and the gate relies on none of them.
    """
    result = _import_file(workspace, ImportOptions("replace", lenient), actor)
    _store_state(workspace.pk, result)
    return result


def sync_two_way(workspace: Workspace, *, actor: str, prefer: str = "", dry_run: bool = False) -> SyncResult:
    """Merge the file under the local root and the registry; see `two_way_sync`.

    An invalid file changes nothing. Raises OSError and InvalidSyncStateError before anything is changed.
    """
    root = Path(workspace.local_root)
    state = _read_state(root / STATE_FILE)
    data = (root / REGISTRY_FILE).read_bytes() if (root / REGISTRY_FILE).exists() else None
    request = SyncRequest(data, state.get("intents", {}), prefer, dry_run)
    result = sync_file(workspace, request, actor=actor)
    if result.base is None or dry_run:
        return result
    # The file before its state: a crash in between makes the next sync merge again from the old base.
    if result.file is not None:
        _write_atomically(root / REGISTRY_FILE, result.file)
    if state.get("intents") != result.base:
        text = json.dumps(state | {"intents": result.base}, indent=1, sort_keys=True)
        _write_atomically(root / STATE_FILE, f"{text}\n")
    if RegistryDocument.objects.filter(workspace=workspace, synced=True).exists():
        _store_state(workspace.pk, FileSyncResult(Registry.OK))
    return result


def stop_sync(workspace: Workspace) -> None:
    """Rely on the registry again, whatever the file says."""
    with transaction.atomic():
        if RegistryDocument.objects.filter(workspace=workspace, synced=True).update(synced=False):
            Workspace.objects.filter(pk=workspace.pk).apply_change()


def _read_state(path: Path) -> dict[str, Any]:
    try:
        state = json.loads(path.read_bytes()) if path.exists() else {}
    except ValueError as error:
        raise InvalidSyncStateError(
            f"{STATE_FILE} is not JSON: repair it, or remove it to compare from scratch."
        ) from error
    base = state.get("intents", {}) if isinstance(state, dict) else None
    if not isinstance(base, dict) or not all(isinstance(document, dict) for document in base.values()):
        raise InvalidSyncStateError(
            f"{STATE_FILE} was not written by a sync: remove it to compare from scratch."
        )
    return dict(state)


def _write_atomically(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    temporary = path.with_name(f"{path.name}.icp-new")
    with temporary.open("w", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())  # without it a crash can leave the new name with an empty file
    temporary.replace(path)


def _import_file(workspace: Workspace, options: ImportOptions, actor: str) -> FileSyncResult:
    try:
        data = (Path(workspace.local_root) / REGISTRY_FILE).read_bytes()
    except FileNotFoundError:
        return FileSyncResult(Registry.MISSING, f"{REGISTRY_FILE} is missing.")
    except OSError as error:
        return FileSyncResult(Registry.CORRUPT, f"{REGISTRY_FILE} cannot be read: {error.strerror}.")
    imported = import_registry(workspace, data, options, actor=actor)
    if imported.report.valid:
        return FileSyncResult(Registry.OK, imported=imported)
    first = imported.report.errors[0]
    location = f"Line {first.line}: " if first.line else ""
    return FileSyncResult(Registry.CORRUPT, f"{location}{first.message}", imported)


def _store_state(workspace_id: int, result: FileSyncResult) -> None:
    with transaction.atomic():
        document, _ = RegistryDocument.objects.get_or_create(workspace_id=workspace_id)
        before = document.synced, document.state
        document.synced, document.state, document.error = True, result.state.value, result.error
        document.read_at = timezone.now()
        document.save()
        # A failing file is read again and again: only a change of state may make decisions stale.
        if before != (True, result.state.value):
            Workspace.objects.filter(pk=workspace_id).apply_change()
