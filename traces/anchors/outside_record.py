"""What must outlive the database: which anchors there are, and the last head that any of them received.

A file in the data folder. A database that is restored from a backup brings back older rows of anchors, or
none; the file brings back those that it lacks, and holds the head that contradicts the restored ledger.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings

from traces.errors import AnchorError
from traces.ledger.log_name import log_origin
from traces.models import LedgerAnchor

Record = dict[str, Any]
SETUP = ("kind", "target", "every_minutes", "enabled")


class OutsideRecordError(AnchorError):
    """The file cannot be read. The message names it."""


def read_record(workspace_id: int) -> Record:
    """Return `anchors`, `head` (a note, or "") and `accepted` of a workspace. Raise OutsideRecordError."""
    return _complete(_read_file().get(log_origin(workspace_id)))


def remember_setup(workspace_id: int) -> None:
    """Write down the anchors that the workspace has now. Raise OSError or OutsideRecordError."""
    rows = LedgerAnchor.objects.filter(workspace_id=workspace_id).order_by("pk")
    anchors = [{name: getattr(row, name) for name in SETUP} for row in rows]
    _change(workspace_id, lambda record: record | {"anchors": anchors})


def remember_head(workspace_id: int, note: str) -> None:
    """Write down the head that an anchor has received. Raise OSError or OutsideRecordError."""
    _change(workspace_id, lambda record: record | {"head": note})


def accept_heads(workspace_id: int, notes: list[str]) -> None:
    """Write down heads that contradict the ledger and that its operator accepts as lost."""

    def accept(record: Record) -> Record:
        digests = {compute_digest(note) for note in notes}
        return record | {"accepted": sorted({*record["accepted"], *digests}), "head": ""}

    _change(workspace_id, accept)


def compute_digest(note: str) -> str:
    """Return a digest of what a note signs: witnesses may add signatures later."""
    return hashlib.sha256(note.partition("\n\n")[0].encode()).hexdigest()


def _complete(value: Any) -> Record:
    return {"anchors": [], "head": "", "accepted": []} | (value if isinstance(value, dict) else {})


def _read_file() -> dict[str, Any]:
    path = Path(settings.LEDGER_ANCHORS_FILE)
    try:
        content = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise OutsideRecordError(f"{path} cannot be read: restore it from a backup, or remove it.") from error
    return content if isinstance(content, dict) else {}


def _change(workspace_id: int, change: Callable[[Record], Record]) -> None:
    path, origin = Path(settings.LEDGER_ANCHORS_FILE), log_origin(workspace_id)
    with _lock(path):
        content = _read_file()
        changed = content | {origin: change(_complete(content.get(origin)))}
        draft = path.with_name(f"{path.name}.new")
        draft.write_text(json.dumps(changed, indent=1), "utf-8")
        draft.chmod(0o600)
        draft.replace(path)


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    with path.with_name(f"{path.name}.lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
