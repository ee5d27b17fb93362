"""A wrong environment stops the start and names the variable; a right one is read."""

from __future__ import annotations

import sqlite3
import stat

import pytest

from controlplane.env import read_environment
from controlplane.shared.target_networks import PRIVATE

VARIABLES = (
    "PORT",
    "DEBUG",
    "DATABASE_URL",
    "REDIS_URL",
    "PUBLIC_URL",
    "ALLOWED_HOSTS",
    "SECRET_KEY",
    "RATE_PER_MINUTE",
    "PRIVATE_TARGETS",
    "PUBLIC_LOGS",
    "WITNESS_QUORUM",
    "IDLE_HOURS",
    "SQLITE_SYNC",
    "LOG_FORMAT",
)


@pytest.fixture
def start(monkeypatch, tmp_path):
    """`start(PORT="9000")` reads the environment with these variables and no others of ours."""
    for name in VARIABLES:
        monkeypatch.delenv(f"ICP_{name}", raising=False)
    monkeypatch.setenv("ICP_DATA_DIR", str(tmp_path / "data"))

    def read(**values):
        for name, value in values.items():
            monkeypatch.setenv(f"ICP_{name}", value)
        return read_environment(tmp_path)

    return read


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "abc"),
        ("PORT", "0"),
        ("PORT", "70000"),
        ("DEBUG", "maybe"),
        ("DATABASE_URL", "mysql://x/y"),
        ("DATABASE_URL", "nonsense"),
        ("REDIS_URL", "http://x"),
        ("PUBLIC_URL", "ftp://x"),
        ("PUBLIC_URL", "https://x/path"),
        ("ALLOWED_HOSTS", "a/b"),
        ("RATE_PER_MINUTE", "-1"),
        ("LOG_FORMAT", "xml"),
        ("PRIVATE_TARGETS", "maybe"),
        ("PRIVATE_TARGETS", "10.1.0.0/33"),
        ("PRIVATE_TARGETS", "10.1.2.3/16"),
    ],
)
def test_a_wrong_value_stops_the_start_with_the_variables_name(start, name, value):
    with pytest.raises(SystemExit, match=rf"^ICP_{name}: "):
        start(**{name: value})


def test_a_data_folder_that_cannot_be_made_stops_the_start(start, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SystemExit, match=r"^ICP_DATA_DIR: "):
        start(DATA_DIR=str(tmp_path / "file" / "below"))


def test_without_variables_the_defaults_of_the_contract_hold(start):
    env = start()
    assert (env.port, env.public_url, env.debug, env.redis_url) == (
        8000,
        "http://127.0.0.1:8000",
        False,
        None,
    )
    assert env.database["ENGINE"] == "django.db.backends.sqlite3"
    assert {"127.0.0.1", "localhost"} <= set(env.allowed_hosts)


def test_private_targets_are_none_all_or_those_named(start):
    assert start().private_targets == ()
    assert start(PRIVATE_TARGETS="on").private_targets == PRIVATE
    named = start(PRIVATE_TARGETS="10.1.0.0/16,fd12::/48").private_targets
    assert [str(network) for network in named] == ["10.1.0.0/16", "fd12::/48"]


def test_the_secret_is_made_once_and_kept_for_its_owner_alone(start):
    first = start()
    file = first.data_dir / "secret_key"
    assert start().secret_key == first.secret_key == file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_an_https_address_is_known_and_its_host_allowed(start):
    env = start(PUBLIC_URL="https://icp.example.org/", ALLOWED_HOSTS="a.example.org, b.example.org")
    assert env.https
    assert {"icp.example.org", "a.example.org", "b.example.org"} <= set(env.allowed_hosts)


def test_the_data_folder_and_the_database_are_readable_by_their_owner_only(start, tmp_path):
    start()
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "data/icp.sqlite3").stat().st_mode) == 0o600


def test_the_log_of_the_database_is_no_more_readable_than_it(start, tmp_path):
    start()
    with sqlite3.connect(tmp_path / "data/icp.sqlite3") as database:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("CREATE TABLE t (x)")
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "data").glob("icp.*")}
    assert set(modes.values()) == {0o600}
    assert "icp.sqlite3-wal" in modes


def test_what_is_stored_at_a_loss_of_power_can_be_chosen(start):
    assert start().sqlite_sync == "NORMAL"
    assert start(SQLITE_SYNC="full").sqlite_sync == "FULL"
    with pytest.raises(SystemExit, match="ICP_SQLITE_SYNC"):
        start(SQLITE_SYNC="off")
