"""The name of a workspace's log: `<host>/<uuid>`, unique among all installations (C2SP tlog-checkpoint).

What makes it unique lies in a file beside the signing key, written once: the name must outlive a change of
address and a restored database.
"""

from __future__ import annotations

import uuid
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings

from traces.ledger.write_once import write_once

FILE_NAME = "ledger_name"
FORMER_PREFIX = "intent-control-plane/ledger/"  # every installation used it, so its names were not unique


class LogNameError(Exception):
    """The file that names the logs cannot be used. The message says why."""


def log_origin(workspace_id: int) -> str:
    """Return the origin line of a workspace's log, which also names its key."""
    return _build_origin(Path(settings.LEDGER_KEY_FILE).with_name(FILE_NAME), workspace_id)


def log_uuid(workspace_id: int) -> str:
    """Return the last part of the log's name, which is its address on this server."""
    return log_origin(workspace_id).rpartition("/")[2]


def is_log_name(origin: str, workspace_id: int) -> bool:
    """Return whether `origin` names the log now, or did before names were unique."""
    return origin in {log_origin(workspace_id), f"{FORMER_PREFIX}{workspace_id}"}


@lru_cache(maxsize=1024)
def _build_origin(path: Path, workspace_id: int) -> str:
    """Cached, since each receipt names its log, and the file never changes."""
    host, namespace = _read_or_create(path)
    return f"{host}/{uuid.uuid5(namespace, str(workspace_id))}"


def _read_or_create(path: Path) -> tuple[str, uuid.UUID]:
    """Return (host, namespace of the workspaces' UUIDs). Raise LogNameError."""
    if not path.exists():
        host = urlsplit(settings.PUBLIC_URL).netloc.rpartition("@")[2] or "localhost"
        write_once(path, f"{host}/{uuid.uuid4()}\n".encode())
    try:
        host, _, namespace = path.read_text("utf-8").strip().partition("/")
        return host, uuid.UUID(namespace)
    except (OSError, ValueError) as error:
        raise LogNameError(
            f"{path} does not name the ledger's logs: restore it from a backup, beside the ledger's key."
        ) from error
