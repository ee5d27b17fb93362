"""System checks for mistakes of a deployment that the settings show; docs/operate.md lists them by id.

Errors and the secret key are checked by every command; the other warnings by `manage.py check --deploy`,
because each of them is fine on a developer's machine.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register  # noqa: A004  Django's own name

MIN_SECRET_LENGTH = 32
SQLITE = "django.db.backends.sqlite3"
LOOPBACK_HOSTS = frozenset({"127.0.0.1", "::1", "localhost"})


@register(Tags.files)
def check_directories(**_: Any) -> list[CheckMessage]:
    """The server creates files in the data directory, and SQLite its log next to the database file."""
    directories = [Path(settings.DATA_DIR)]
    if settings.DATABASES["default"]["ENGINE"] == SQLITE:
        directories.append(Path(str(settings.DATABASES["default"]["NAME"])).absolute().parent)
    return [
        Error(
            f"{directory} is not a directory that this user can write to.",
            hint="Give it to the user that runs the server, or set ICP_DATA_DIR or ICP_DATABASE_URL.",
            id="icp.E001",
        )
        for directory in dict.fromkeys(directories)
        if not (directory.is_dir() and os.access(directory, os.W_OK))
    ]


@register(Tags.security)
def check_secret_key(**_: Any) -> list[CheckMessage]:
    if len(settings.SECRET_KEY) >= MIN_SECRET_LENGTH:
        return []
    return [
        Warning(
            f"ICP_SECRET_KEY is shorter than {MIN_SECRET_LENGTH} characters: sessions could be forged.",
            hint="Unset it, and a random key is created in the data directory.",
            id="icp.W001",
        )
    ]


@register(Tags.database, deploy=True)
def check_processes(**_: Any) -> list[CheckMessage]:
    """Several processes need PostgreSQL and Redis; one of the two alone is probably a mistake."""
    is_sqlite = settings.DATABASES["default"]["ENGINE"] == SQLITE
    if is_sqlite and settings.REDIS_URL:
        return [
            Warning(
                "ICP_REDIS_URL is set, but the database is SQLite, which only one process may serve.",
                hint="For several processes set ICP_DATABASE_URL to PostgreSQL; for one unset ICP_REDIS_URL.",
                id="icp.W002",
            )
        ]
    if not is_sqlite and not settings.REDIS_URL:
        return [
            Warning(
                "ICP_REDIS_URL is not set: with several processes, pages and waiting calls learn late of"
                " what the other processes record.",
                hint="Set ICP_REDIS_URL. Ignore this if a single process serves.",
                id="icp.W003",
            )
        ]
    return []


@register(Tags.security, deploy=True)
def check_public_url(**_: Any) -> list[CheckMessage]:
    parts = urlsplit(settings.PUBLIC_URL)
    if settings.DEBUG or parts.scheme == "https" or parts.hostname in LOOPBACK_HOSTS:
        return []
    return [
        Warning(
            f"ICP_PUBLIC_URL is {settings.PUBLIC_URL}: passwords and tokens are sent in clear text.",
            hint="Put a proxy with TLS in front, and set ICP_PUBLIC_URL to its https:// address.",
            id="icp.W004",
        )
    ]


@register(Tags.security, deploy=True)
def check_allowed_hosts(**_: Any) -> list[CheckMessage]:
    """Without ICP_ALLOWED_HOSTS the host of the public address is allowed, which is right for most."""
    if "*" not in settings.ALLOWED_HOSTS:
        return []
    return [
        Warning(
            "ICP_ALLOWED_HOSTS contains *: any Host header and any websocket origin is accepted.",
            hint="Name the hosts. That of ICP_PUBLIC_URL is always allowed.",
            id="icp.W005",
        )
    ]
