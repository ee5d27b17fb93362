"""Where nothing is known about the disk, paths mean what they say and nothing more is claimed."""

from __future__ import annotations

import pytest

from controlplane.policy.paths.filesystem import Location, ResolvedPath, UnknownFilesystem, resolve_lexically


@pytest.mark.parametrize(
    ("path", "resolved"),
    [
        ("", ResolvedPath(Location.INSIDE, "")),
        ("a/./b//c", ResolvedPath(Location.INSIDE, "a/b/c")),
        ("a/../b", ResolvedPath(Location.INSIDE, "b")),
        ("a/..", ResolvedPath(Location.INSIDE, "")),
        ("..", ResolvedPath(Location.OUTSIDE)),
        ("a/../../b", ResolvedPath(Location.OUTSIDE)),
    ],
)
def test_dots_are_applied_as_text(path, resolved):
    assert resolve_lexically(path) == resolved
    assert UnknownFilesystem().resolve(path) == resolved


def test_nothing_is_known_without_a_disk():
    world = UnknownFilesystem()
    assert [world.exists("a"), world.is_dir("a"), world.list_files("a"), world.content_hash("a")] == [
        None
    ] * 4
    assert (world.list_links("a"), world.list_names("a"), world.read_text("a")) == (None, None, None)
    assert (list(world.list_session_changes()), dict(world.find_changes_by_others(["a"]))) == ([], {})
