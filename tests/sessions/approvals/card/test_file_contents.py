"""Files of the local root are read inside of it only."""

from __future__ import annotations

import os

import pytest

from sessions.approvals.card.file_contents import WorkspaceFiles
from tests.sessions.approvals.card.previews.builders import FILE


@pytest.fixture
def files(disk, tmp_path):
    """A root with links that lead out of it, and with what is no file of text."""
    secret = tmp_path.parent / "secret.txt"
    secret.write_text("secret")
    (tmp_path / "link").symlink_to(secret)
    (tmp_path / "folder").symlink_to(tmp_path.parent)
    (tmp_path / "inner").symlink_to("src")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    (tmp_path / "large").write_bytes(b"x" * (1024 * 1024 + 1))
    return WorkspaceFiles(disk)


@pytest.mark.parametrize(
    "path",
    ["link", "folder/secret.txt", "../secret.txt", "fifo", "binary", "large", "src", "", "src/a.txt/x\0"],
)
def test_what_is_no_readable_file_of_the_root_has_no_text(files, path):
    content = files.read(path)
    assert content.text in {None, ""}
    assert content.reason or content.is_missing


def test_a_link_inside_of_the_root_is_followed(files):
    assert files.read("inner/a.txt").text == FILE


def test_a_missing_file_is_told_from_an_unknown_one(files):
    assert files.read("src/none").is_missing
