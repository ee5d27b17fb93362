"""A wrong environment stops the start and names the variable; a right one is read."""

from __future__ import annotations

import stat

import pytest

from controlplane.env import read_environment

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
        ("PRIVATE_TARGETS", "maybe"),
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


def test_the_secret_is_made_once_and_kept_for_its_owner_alone(start):
    first = start()
    file = first.data_dir / "secret_key"
    assert start().secret_key == first.secret_key == file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_an_https_address_is_known_and_its_host_allowed(start):
    env = start(PUBLIC_URL="https://icp.example.org/", ALLOWED_HOSTS="a.example.org, b.example.org")
    assert env.https
    assert {"icp.example.org", "a.example.org", "b.example.org"} <= set(env.allowed_hosts)
