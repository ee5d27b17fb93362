"""Directories that a command makes."""

from __future__ import annotations

import pytest

from controlplane.policy.shell import analyse
from tests.policy.shell.answers import reasons
from tests.policy.shell.scratch import Scratch


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("mkdir new", [("new", "folder")]),
        ("mkdir -p new/deep", [("new", "folder"), ("new/deep", "folder")]),
        ("install -d new/deep", [("new", "folder"), ("new/deep", "folder")]),
        ("install -D top.txt new/x", [("new", "folder"), ("new/x", "write")]),
        (
            "cd src && mkdir auth/more && touch auth/more/x",
            [("auth/more", "folder"), ("auth/more/x", "write")],
        ),
    ],
)
def test_a_folder_that_is_made_is_no_file_that_is_written(command, expected, tmp_path):
    filesystem = Scratch(tmp_path).filesystem()
    analysed = analyse(command, root="/ws", filesystem=filesystem).writes
    assert sorted((path.raw, path.op) for path in analysed) == expected


def test_a_folder_made_through_a_link_of_the_same_command_is_not_known():
    assert "may be written through a link that the same command creates" in reasons(
        "ln -s src x; mkdir -p x/y"
    )
    assert "may be written through a link that the same command creates" in reasons("ln -s src x; mkdir x")
