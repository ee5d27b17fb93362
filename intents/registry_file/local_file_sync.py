"""A workspace's folder and its registry: one way, where the file under the local root rules, or both ways."""

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
from intents.models import RegistryDocument
from intents.registry_file.import_export import ImportOptions, ImportResult, import_registry
from intents.registry_file.two_way_sync import SyncRequest, SyncResult, sync_file

REGISTRY_FILE = ".orchestration/active_intents.yaml"
STATE_FILE = (
    ".orchestration/.icp-sync.json"  # what file and registry were when they last agreed, as icp.py keeps it
)


class InvalidSyncStateError(ValueError):
    """What was remembered of the last sync cannot be read."""


@dataclass(frozen=True, slots=True)
class FileSyncResult:
    """`imported` is None where there was no file to read."""

    state: Registry
    error: str = ""
    imported: ImportResult | None = None


def sync_from_file(workspace: Workspace, *, actor: str, lenient: bool = False) -> FileSyncResult:
    """Bring the registry to what the file says, and remember how the file was found.

    While it is missing or corrupt the intents stay as they were, and the gate relies on none of them.
    """
    found = _read(workspace, ImportOptions("replace", lenient), actor)
    _remember(workspace.pk, found)
    return found


def sync_two_way(workspace: Workspace, *, actor: str, prefer: str = "", dry_run: bool = False) -> SyncResult:
    """Bring the file under the local root and the registry together; see `two_way`.

    An invalid file changes nothing. Raises OSError and UnusableStateError before anything is changed.
    """
    root = Path(workspace.local_root)
    state = _state(root / STATE_FILE)
    data = (root / REGISTRY_FILE).read_bytes() if (root / REGISTRY_FILE).exists() else None
    outcome = sync_file(workspace, SyncRequest(data, state.get("intents", {}), prefer, dry_run), actor=actor)
    if outcome.base is None or dry_run:
        return outcome
    if outcome.file is not None:
        _write(root / REGISTRY_FILE, outcome.file)
    if state.get("intents") != outcome.base:
        text = json.dumps(state | {"intents": outcome.base}, indent=1, sort_keys=True)
        _write(root / STATE_FILE, f"{text}\n")
    if RegistryDocument.objects.filter(workspace=workspace, synced=True).exists():
        _remember(workspace.pk, FileSyncResult(Registry.OK))
    return outcome


def _state(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes()) if path.exists() else {}
    except ValueError as error:
        raise InvalidSyncStateError(
            f"{STATE_FILE} is not JSON: mend it, or remove it to compare anew."
        ) from error
    base = found.get("intents", {}) if isinstance(found, dict) else None
    if not isinstance(base, dict) or not all(isinstance(one, dict) for one in base.values()):
        raise InvalidSyncStateError(f"{STATE_FILE} is not what a sync wrote: remove it to compare anew.")
    return dict(found)


def _write(path: Path, text: str) -> None:
    """Whole or not at all."""
    path.parent.mkdir(exist_ok=True)
    fresh = path.with_name(f"{path.name}.icp-new")
    with fresh.open("w", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)


def stop_sync(workspace: Workspace) -> None:
    """Let the registry rule again, whatever the file says."""
    with transaction.atomic():
        if RegistryDocument.objects.filter(workspace=workspace, synced=True).update(synced=False):
            Workspace.objects.apply_change(workspace.pk)


def _read(workspace: Workspace, how: ImportOptions, actor: str) -> FileSyncResult:
    try:
        data = (Path(workspace.local_root) / REGISTRY_FILE).read_bytes()
    except FileNotFoundError:
        return FileSyncResult(Registry.MISSING, f"{REGISTRY_FILE} is missing.")
    except OSError as error:
        return FileSyncResult(Registry.CORRUPT, f"{REGISTRY_FILE} cannot be read: {error.strerror}.")
    imported = import_registry(workspace, data, how, actor=actor)
    if imported.report.valid:
        return FileSyncResult(Registry.OK, imported=imported)
    first = imported.report.errors[0]
    place = f"Line {first.line}: " if first.line else ""
    return FileSyncResult(Registry.CORRUPT, f"{place}{first.message}", imported)


def _remember(workspace_id: int, found: FileSyncResult) -> None:
    with transaction.atomic():
        document, _ = RegistryDocument.objects.get_or_create(workspace_id=workspace_id)
        before = document.synced, document.state
        document.synced, document.state, document.error = True, found.state.value, found.error
        document.read_at = timezone.now()
        document.save()
        if before != (True, found.state.value):
            Workspace.objects.apply_change(workspace_id)
