"""From a workspace's folder to its registry, one way: the file under the local root rules."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from django.db import transaction
from django.utils import timezone

from controlplane.models import Workspace
from controlplane.policy.model import Registry
from intents import store
from intents.models import RegistryDocument
from intents.transfer import How, Imported, import_document

FILE = ".orchestration/active_intents.yaml"


@dataclass(frozen=True, slots=True)
class Synced:
    """`imported` is None where there was no file to read."""

    state: Registry
    error: str = ""
    imported: Imported | None = None


def sync(workspace: Workspace, *, actor: str, lenient: bool = False) -> Synced:
    """Bring the registry to what the file says, and remember how the file was found.

    While it is missing or corrupt the intents stay as they were, and the gate relies on none of them.
    """
    found = _read(workspace, How("replace", lenient), actor)
    _remember(workspace.pk, found)
    return found


def stop(workspace: Workspace) -> None:
    """Let the registry rule again, whatever the file says."""
    with transaction.atomic():
        if RegistryDocument.objects.filter(workspace=workspace, synced=True).update(synced=False):
            store.bump(workspace.pk)


def _read(workspace: Workspace, how: How, actor: str) -> Synced:
    try:
        data = (Path(workspace.local_root) / FILE).read_bytes()
    except FileNotFoundError:
        return Synced(Registry.MISSING, f"{FILE} is missing.")
    except OSError as error:
        return Synced(Registry.CORRUPT, f"{FILE} cannot be read: {error.strerror}.")
    imported = import_document(workspace, data, how, actor=actor)
    if imported.report.valid:
        return Synced(Registry.OK, imported=imported)
    first = imported.report.errors[0]
    place = f"Line {first.line}: " if first.line else ""
    return Synced(Registry.CORRUPT, f"{place}{first.message}", imported)


def _remember(workspace_id: int, found: Synced) -> None:
    with transaction.atomic():
        document, _ = RegistryDocument.objects.get_or_create(workspace_id=workspace_id)
        before = document.synced, document.state
        document.synced, document.state, document.error = True, found.state.value, found.error
        document.read_at = timezone.now()
        document.save()
        if before != (True, found.state.value):
            store.bump(workspace_id)
