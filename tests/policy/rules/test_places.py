"""Places outside the workspace."""

from __future__ import annotations

import pytest

from controlplane.policy.model import Place
from controlplane.policy.rules.places import (
    compile_places,
    find_place_problem,
    list_recommended,
    to_place_path,
)

RULES = compile_places((Place("/tmp/**", "write"), Place("~/.cache/**"), Place("D:\\scratch\\**", "write")))


def permits(path, *, writing=False, recursive=False):
    return RULES.permits(to_place_path(path), writing=writing, recursive=recursive)


@pytest.mark.parametrize(
    "path",
    [
        "/tmp/a.txt",
        "/tmp",
        "~/.cache/x",
        "/home/dev/.cache/x",
        "/Users/dev/.cache/x/y",
        "/root/.cache/x",
        "C:/Users/dev/.cache/x",
        "d:/scratch/x",
    ],
)
def test_what_may_be_read(path):
    assert permits(path)


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "/home/dev/x",
        "~/.ssh/id_rsa",
        "/tmp/.env",
        "/tmp/a/.AWS/credentials",
        "~/.cache/key.pem",
        "/home/dev/x/.cache/y",
    ],
)
def test_what_may_not_be_read(path):
    assert not permits(path)


def test_only_scratch_space_is_written():
    assert permits("/tmp/a", writing=True)
    assert permits("D:/scratch/a", writing=True)
    assert not permits("/tmp", writing=True, recursive=True)
    assert not permits("~/.cache/a", writing=True)


def test_a_folder_with_credentials_below_is_not_read_as_a_whole():
    rules = compile_places((Place("~/.config/**"),))
    assert rules.permits("home/.config/x", writing=False, recursive=True)
    assert not rules.permits("home/.config", writing=False, recursive=True)
    assert not rules.permits("home/.config/gh/hosts.yml", writing=False, recursive=False)


@pytest.mark.parametrize(
    "pattern", ["/tmp/**", "~/.claude/plans/**", "C:\\scratch\\**", "/var/folders/*/*/T/**"]
)
def test_a_place(pattern):
    assert find_place_problem({"pattern": pattern, "access": "write"}) is None


@pytest.mark.parametrize(
    "place",
    [
        "x",
        {},
        {"pattern": "/tmp/**", "more": 1},
        {"pattern": "/tmp/**", "access": "all"},
        {"pattern": "/tmp/**", "access": []},
        {"pattern": 7},
        {"pattern": "src/**"},
        {"pattern": "/tmp/../etc/**"},
        {"pattern": "/**"},
        {"pattern": "~/**"},
        {"pattern": "/*/x"},
        {"pattern": "/home/**"},
        {"pattern": "/home/dev/**"},
        {"pattern": "~/.ssh/**"},
        {"pattern": "/tmp/[/**"},
        {"pattern": "/a\n/**"},
        {"pattern": "/" + "x" * 600},
    ],
)
def test_what_is_no_place(place):
    assert find_place_problem(place)


def test_the_recommended_places_are_places():
    places = list_recommended()
    assert all(find_place_problem({"pattern": p.pattern, "access": p.access}) is None for p in places)
    assert Place("~/.claude/plans/**", "write") in list_recommended(["claude-code"])
    assert Place("~/.codex/skills/**", "read") not in list_recommended(["claude-code"])


def test_without_places_nothing_outside_is_permitted():
    rules = compile_places(())
    assert not rules.permits(to_place_path("/tmp/a.txt"), writing=False, recursive=False)
