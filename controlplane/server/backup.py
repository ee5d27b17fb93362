"""Write all that a restore needs into a new folder: signed heads, the database, and the keys."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.db.backends.postgresql.client import DatabaseClient

from controlplane.models import Workspace
from traces.anchors.anchor_file import anchor_to_file

HEADS, KEYS = "heads.txt", ("ledger_key.pem", "ledger_name", "retired", "secret_key")


class BackupError(Exception):
    """The backup is not complete; the message says why."""


def back_up(folder: Path) -> list[Path]:
    """Write the backup while the server runs. Return its files. Raise BackupError.

    The heads come first: the copy of the database then holds at least the entries that they cover. The keys
    come last: whatever signed a head of the copy is among them.
    """
    os.umask(0o077)
    try:
        folder.mkdir(parents=True)
        for workspace_id in Workspace.objects.values_list("pk", flat=True):
            anchor_to_file(workspace_id, folder / HEADS)
        _copy_database(folder)
        _copy_keys(folder)
    except FileExistsError:
        raise BackupError(f"{folder} exists. Name a new folder: a backup never changes another.") from None
    except OSError as error:
        raise BackupError(f"{error}. {folder} is not complete: remove it.") from error
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _copy_database(folder: Path) -> None:
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM INTO %s", [str(folder / "database.sqlite3")])
        return
    # As Django calls psql: the password goes where no list of processes shows it.
    (_, *address), variables = DatabaseClient.settings_to_cmd_args_env(connection.settings_dict, [])
    command = ["pg_dump", "--format=custom", f"--file={folder / 'database.dump'}", "--no-owner", *address]
    done = subprocess.run(  # noqa: S603  fixed words, and the operator's own folder and address
        command, env={**os.environ, **(variables or {})}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise BackupError(f"pg_dump: {done.stderr.strip()}. {folder} is not complete: remove it.")


def _copy_keys(folder: Path) -> None:
    """Copy what exists; where the secret comes from the environment there is no file of it."""
    for name in KEYS:
        path = settings.DATA_DIR / name
        if path.is_dir():
            shutil.copytree(path, folder / name)
        elif path.exists():
            shutil.copy2(path, folder / name)
