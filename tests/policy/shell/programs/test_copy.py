"""Where copies, moves and links end up."""

from __future__ import annotations

from controlplane.policy.paths.filesystem import UnknownFilesystem
from tests.policy.shell.answers import reads, reasons, writes
from tests.policy.shell.scratch import Scratch


def test_the_disk_settles_where_cd_and_cp_lead(tmp_path):
    filesystem = Scratch(tmp_path / "base").filesystem()
    assert writes("cd src; touch a") == [("src", "a"), ("", "a")]
    assert writes("cd src; touch a", filesystem=filesystem) == [("src", "a")]
    assert writes("cp top.txt docs") == [("", "docs"), ("", "docs/top.txt")]
    assert writes("cp top.txt docs", filesystem=filesystem) == [("", "docs/top.txt")]
    assert writes("cp top.txt a.ts") == [("", "a.ts")]


def test_a_symbolic_link_counts_as_writing_what_it_points_to(tmp_path):
    filesystem = Scratch(tmp_path / "base").filesystem()
    assert writes("ln -s ../top.txt l.txt") == [("", "../top.txt"), ("", "l.txt")]
    assert writes("ln -s ../top.txt docs/l.txt") == [("", "docs/../top.txt"), ("", "docs/l.txt")]
    assert writes("ln -s ../top.txt docs/l", filesystem=filesystem) == [
        ("", "docs/../top.txt"),
        ("", "docs/l"),
    ]
    assert reads("ln -s ../top.txt docs/l", filesystem=filesystem) == []
    assert writes("ln -s ../../x docs/l", filesystem=filesystem) == [("", "docs/../../x"), ("", "docs/l")]


def test_a_tree_that_is_copied_writes_through_the_links_in_its_way(tmp_path):
    scratch = Scratch(tmp_path / "base")
    (scratch.root / "docs" / "l").symlink_to("../top.txt")
    assert writes("cp -r src/. docs", filesystem=scratch.filesystem()) == [("", "docs"), ("", "docs/l")]
    assert writes("cp -r src/b.txt docs", filesystem=scratch.filesystem()) == [("", "docs/b.txt")]


class Crowded(UnknownFilesystem):
    """A disk with more files than anybody looks through."""

    def is_dir(self, path):
        return True


def test_a_copy_into_a_crowded_folder_is_not_known():
    assert reasons("cp -r src/. docs", filesystem=Crowded()) == [
        "too many files to search for symbolic links"
    ]
    assert reasons("cp top.txt docs/a.txt", filesystem=Crowded()) == []


def test_without_a_disk_a_hidden_name_may_be_a_folder_and_one_with_an_ending_is_none():
    assert writes("cp b.txt .new") == [("", ".new"), ("", ".new/b.txt")]
    assert writes("cp b.txt new.") == [("", "new.")]
    assert writes("cp b.txt .new.ts") == [("", ".new.ts")]
