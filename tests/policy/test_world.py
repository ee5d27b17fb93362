"""Where nothing is known about the disk, paths mean what they say and nothing more is claimed."""

from __future__ import annotations

import pytest

from controlplane.policy.paths.filesystem import NoWorld, Resolved, Where, follow_lexically


@pytest.mark.parametrize(
    ("path", "resolved"),
    [
        ("", Resolved(Where.INSIDE, "")),
        ("a/./b//c", Resolved(Where.INSIDE, "a/b/c")),
        ("a/../b", Resolved(Where.INSIDE, "b")),
        ("a/..", Resolved(Where.INSIDE, "")),
        ("..", Resolved(Where.OUTSIDE)),
        ("a/../../b", Resolved(Where.OUTSIDE)),
    ],
)
def test_dots_are_applied_as_text(path, resolved):
    assert follow_lexically(path) == resolved
    assert NoWorld().resolve(path) == resolved


def test_nothing_is_known_without_a_disk():
    world = NoWorld()
    assert [world.exists("a"), world.is_dir("a"), world.below("a"), world.content_hash("a")] == [None] * 4
    assert (world.links_below("a"), world.names_in("a"), world.text("a")) == (None, None, None)
    assert (list(world.changed_here()), dict(world.changed_by_others(["a"]))) == ([], {})
