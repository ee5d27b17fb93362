"""Mistakes of a deployment have an id each, and a right one is silent."""

from __future__ import annotations

import pytest
from django.core import checks

pytestmark = pytest.mark.filterwarnings("ignore:Overriding setting DATABASES")  # read here, never opened

SQLITE = {"ENGINE": "django.db.backends.sqlite3", "NAME": "/nowhere/icp.sqlite3"}
POSTGRESQL = {"ENGINE": "django.db.backends.postgresql", "NAME": "icp"}
REDIS = "redis://127.0.0.1:6379/0"


@pytest.fixture
def deployed(settings, tmp_path):
    """A single process behind a proxy with TLS, on SQLite."""
    settings.DEBUG = False
    settings.DATA_DIR = tmp_path
    settings.DATABASES = {"default": SQLITE | {"NAME": tmp_path / "icp.sqlite3"}}
    settings.REDIS_URL = None
    settings.PUBLIC_URL = "https://icp.example.org"
    settings.ALLOWED_HOSTS = ["icp.example.org"]
    settings.SECRET_KEY = "k" * 64
    return settings


def found_ids(*, deploy=True):
    messages = checks.run_checks(include_deployment_checks=deploy)
    return [message.id for message in messages if message.id.startswith("icp.")]


def test_a_right_deployment_is_silent(deployed):
    assert found_ids() == []


def test_several_processes_with_all_they_need_are_silent(deployed):
    deployed.DATABASES, deployed.REDIS_URL = {"default": POSTGRESQL}, REDIS
    assert found_ids() == []


@pytest.mark.parametrize(
    ("mistake", "expected"),
    [
        pytest.param({"DATABASES": {"default": SQLITE}}, "icp.E001", id="no directory for SQLite"),
        pytest.param({"DATA_DIR": "/nowhere"}, "icp.E001", id="no data directory"),
        pytest.param({"SECRET_KEY": "short"}, "icp.W001", id="short secret key"),
        pytest.param({"REDIS_URL": REDIS}, "icp.W002", id="SQLite for several processes"),
        pytest.param({"DATABASES": {"default": POSTGRESQL}}, "icp.W003", id="channel layer in memory"),
        pytest.param({"PUBLIC_URL": "http://icp.example.org"}, "icp.W004", id="public address without TLS"),
        pytest.param({"ALLOWED_HOSTS": ["*"]}, "icp.W005", id="any host allowed"),
    ],
)
def test_a_mistake_is_named(deployed, mistake, expected):
    for name, value in mistake.items():
        setattr(deployed, name, value)
    assert found_ids() == [expected]


@pytest.mark.parametrize(
    "harmless",
    [
        pytest.param({"PUBLIC_URL": "http://127.0.0.1:8000"}, id="this machine alone"),
        pytest.param({"PUBLIC_URL": "http://icp.example.org", "DEBUG": True}, id="debugging"),
    ],
)
def test_an_address_without_tls_is_fine_on_a_developers_machine(deployed, harmless):
    for name, value in harmless.items():
        setattr(deployed, name, value)
    assert found_ids() == []


def test_a_directory_that_cannot_be_written_is_named(deployed, monkeypatch):
    monkeypatch.setattr("os.access", lambda *_: False)
    assert found_ids() == ["icp.E001"]


def test_a_command_is_stopped_by_errors_and_bothered_by_no_warning_of_deployments(deployed):
    deployed.DATABASES, deployed.ALLOWED_HOSTS = {"default": SQLITE}, ["*"]
    assert found_ids(deploy=False) == ["icp.E001"]
