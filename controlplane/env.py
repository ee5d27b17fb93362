"""Read and validate the product's environment variables.

A wrong value stops the start with the variable's name: a control plane that runs with half of its
configuration is worse than one that does not run.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlsplit

import dj_database_url

from controlplane.shared.target_networks import PRIVATE, Network, parse_networks

TRUE = frozenset({"1", "true", "yes", "on"})
FALSE = frozenset({"", "0", "false", "no", "off"})


def stop(variable: str, problem: str) -> NoReturn:
    sys.exit(f"{variable}: {problem}")


@dataclass(frozen=True, slots=True)
class Environment:
    data_dir: Path
    port: int
    debug: bool
    secret_key: str
    database: dict[str, object]
    redis_url: str | None
    public_url: str
    allowed_hosts: tuple[str, ...]
    rate_per_minute: int  # requests a token may send in a minute, 0 = no limit
    idle_hours: int  # after which a sign-in ends, 0 = never
    sqlite_sync: str  # SQLite's `synchronous`: NORMAL or FULL
    log_format: str  # line or json
    private_targets: tuple[Network, ...]  # private networks that webhooks may go to, by plain http too
    witness_quorum: int  # how many witnesses must have cosigned a head before it is published
    public_logs: tuple[str, ...]  # slugs of workspaces whose logs everybody may read, without bodies

    @property
    def https(self) -> bool:
        return self.public_url.startswith("https://")


def read_environment(base_dir: Path) -> Environment:
    data_dir = _read_data_dir(base_dir)
    port = _read_integer("ICP_PORT", default=8000, low=1, high=65535)
    public_url = _read_public_url(port)
    return Environment(
        data_dir=data_dir,
        port=port,
        debug=_read_boolean("ICP_DEBUG"),
        secret_key=os.environ.get("ICP_SECRET_KEY") or read_or_create_secret(data_dir / "secret_key"),
        database=_read_database(data_dir),
        redis_url=_read_redis_url(),
        public_url=public_url,
        allowed_hosts=_read_allowed_hosts(public_url),
        rate_per_minute=_read_integer("ICP_RATE_PER_MINUTE", default=30_000, low=0, high=10**9),
        idle_hours=_read_integer("ICP_IDLE_HOURS", default=12, low=0, high=24 * 14),
        sqlite_sync=_read_choice("ICP_SQLITE_SYNC", "normal", "full").upper(),
        log_format=_read_choice("ICP_LOG_FORMAT", "line", "json"),
        private_targets=_read_private_targets(),
        witness_quorum=_read_integer("ICP_WITNESS_QUORUM", default=0, low=0, high=100),
        public_logs=tuple(os.environ.get("ICP_PUBLIC_LOGS", "").replace(",", " ").split()),
    )


def read_or_create_secret(path: Path) -> str:
    """Return the secret in `path`, created on first use. `O_EXCL` makes two processes agree on one."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text(encoding="ascii").strip()
    secret = secrets.token_urlsafe(50)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(secret)
    return secret


def _read_data_dir(base_dir: Path) -> Path:
    path = Path(os.environ.get("ICP_DATA_DIR") or base_dir / "var").absolute()
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        stop("ICP_DATA_DIR", f"cannot create the directory {path}: {error.strerror}")
    if not os.access(path, os.W_OK):
        stop("ICP_DATA_DIR", f"the directory {path} is not writable")
    return path


def _read_integer(variable: str, *, default: int, low: int, high: int) -> int:
    text = os.environ.get(variable, "")
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and low <= int(text) <= high):
        stop(variable, f"{text!r} is not a whole number from {low} to {high}")
    return int(text)


def _read_boolean(variable: str) -> bool:
    text = os.environ.get(variable, "").lower()
    if text not in TRUE | FALSE:
        stop(variable, f"{text!r} is neither on (1, true, yes) nor off (0, false, no)")
    return text in TRUE


def _read_choice(variable: str, default: str, other: str) -> str:
    text = (os.environ.get(variable) or default).lower()
    if text not in {default, other}:
        stop(variable, f"{text!r} is neither {default} nor {other}")
    return text


def _read_private_targets() -> tuple[Network, ...]:
    text = os.environ.get("ICP_PRIVATE_TARGETS", "")
    if text.lower() in TRUE | FALSE:
        return PRIVATE if text.lower() in TRUE else ()
    try:
        return parse_networks(text)
    except ValueError as error:
        stop("ICP_PRIVATE_TARGETS", f"{error}; write on, off, or networks like 10.1.0.0/16,fd12::/48")


def _read_database(data_dir: Path) -> dict[str, object]:
    url = os.environ.get("ICP_DATABASE_URL") or f"sqlite:///{data_dir / 'icp.sqlite3'}"
    try:
        database = dict(dj_database_url.parse(url))
    except (ValueError, KeyError) as error:
        stop(
            "ICP_DATABASE_URL", f"not a database URL ({error}); write postgres://user:password@host:port/name"
        )
    engine = database.get("ENGINE")
    if engine not in {"django.db.backends.postgresql", "django.db.backends.sqlite3"} or not database.get(
        "NAME"
    ):
        stop("ICP_DATABASE_URL", "only postgres://… and sqlite:///… are supported, with a database name")
    if engine == "django.db.backends.sqlite3":
        _create_private_file(Path(str(database["NAME"])))
    return database


def _create_private_file(path: Path) -> None:
    """Create SQLite's file readable by its owner only; its log and index get the same mode from it."""
    with contextlib.suppress(OSError):  # it exists, or its folder does not: SQLite says so
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def _read_redis_url() -> str | None:
    url = os.environ.get("ICP_REDIS_URL", "")
    if not url:
        return None
    parts = urlsplit(url)
    if parts.scheme not in {"redis", "rediss", "unix"} or not (parts.hostname or parts.path):
        stop("ICP_REDIS_URL", "not a Redis URL; write redis://host:port/number")
    return url


def _read_public_url(port: int) -> str:
    url = (os.environ.get("ICP_PUBLIC_URL") or f"http://127.0.0.1:{port}").rstrip("/")
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.path or parts.query:
        stop("ICP_PUBLIC_URL", f"{url!r} is not a URL of the form https://host[:port]")
    return url


def _read_allowed_hosts(public_url: str) -> tuple[str, ...]:
    hosts = [host.strip() for host in os.environ.get("ICP_ALLOWED_HOSTS", "").split(",") if host.strip()]
    for host in hosts:
        if "/" in host or " " in host:
            stop("ICP_ALLOWED_HOSTS", f"{host!r} is not a host name; separate names by commas")
    return tuple(
        dict.fromkeys([urlsplit(public_url).hostname or "", "127.0.0.1", "localhost", "[::1]", *hosts])
    )
