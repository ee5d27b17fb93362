"""Paths resolved by their text alone: `cd`, `..`, and the workspace's root."""

from __future__ import annotations

import pytest

from controlplane.policy.shell.lexical_path import change_directory, is_inside, resolve_lexically


@pytest.mark.parametrize(
    ("folder", "raw", "expected"),
    [
        ("", "src", "src"),
        ("src", "auth", "src/auth"),
        ("src/auth", "..", "src"),
        ("src", "../..", ".."),
        ("..", "..", "../.."),
        ("../..", "x/..", "../.."),
        ("", "../../x/../y", "../../y"),
        ("/etc", "../..", "/"),
        ("..", "ws", "../ws"),
        ("", "./a//b/.", "a/b"),
        ("src", "/etc", "/etc"),
        ("src", "~", "~"),
        ("~", "x/..", "~/x/.."),
        ("", "/../etc", "/etc"),
    ],
)
def test_cd_counts_dots_on_names(folder, raw, expected):
    assert change_directory(folder, raw, None) == expected


@pytest.mark.parametrize(
    ("folder", "raw", "expected"),
    [
        ("", "/home/ada/ws", ""),
        ("", "/home/ada/ws/src", "src"),
        ("", "/home/ada/ws-evil", "/home/ada/ws-evil"),
        ("", "..", "/home/ada"),
        ("", "../ws/src", "src"),
        ("/home/ada", "ws", ""),
    ],
)
def test_an_absolute_folder_below_the_root_is_inside(folder, raw, expected):
    assert change_directory(folder, raw, "/home/ada/ws/") == expected


def test_a_root_of_another_kind_places_nothing():
    assert change_directory("", "/c/ws", "C:\\ws") == "/c/ws"


def test_a_folder_outside_is_written_into_the_path():
    assert resolve_lexically("..", "x", None).raw == "../x"
    assert resolve_lexically("src", "../x/", None) == resolve_lexically("src", "../x", None)
    assert not is_inside("../x")
    assert is_inside("..x")
