"""Logs have names that no other installation has, and keep them."""

from __future__ import annotations

import pytest

from traces.ledger.keys.file_check import check_key_files
from traces.ledger.log_name import FILE_NAME, LogNameError, is_log_name, log_origin, log_uuid


@pytest.fixture
def folder(tmp_path, settings):
    settings.LEDGER_KEY_FILE = tmp_path / "ledger_key.pem"
    settings.PUBLIC_URL = "https://icp.example.com:8443/"
    return tmp_path


def test_two_installations_name_their_first_workspace_differently(folder, settings):
    first = log_origin(1)
    assert first.startswith("icp.example.com:8443/")
    assert first != log_origin(2)
    (folder / "other").mkdir()
    settings.LEDGER_KEY_FILE = folder / "other" / "ledger_key.pem"
    assert log_origin(1) != first


def test_a_name_outlives_a_change_of_address(folder, settings):
    before = log_origin(1)
    settings.PUBLIC_URL = "https://elsewhere.example"
    assert log_origin(1) == before
    assert log_uuid(1) == before.partition("/")[2]


def test_the_former_name_still_counts_for_its_own_workspace(folder):
    assert is_log_name("intent-control-plane/ledger/1", 1)
    assert not is_log_name("intent-control-plane/ledger/2", 1)
    assert not is_log_name(log_origin(2), 1)


def test_a_damaged_file_is_named_and_never_replaced(folder, settings):
    (folder / FILE_NAME).write_text("gone")
    with pytest.raises(LogNameError, match="does not name the ledger's logs"):
        log_origin(1)
    assert [message.id for message in check_key_files()] == ["traces.E003"]
    assert (folder / FILE_NAME).read_text() == "gone"
