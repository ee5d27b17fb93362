"""What really changed, read from real repositories: names of every kind, renames, modes, links, modules."""

from __future__ import annotations

import hashlib

import pytest

from controlplane.client.commands import git_changes
from controlplane.client.commands.git_changes import (
    GitRangeError,
    empty_tree,
    list_changed_files,
    resolve_range,
)
from tests.client.git_repository import IDENTITY, Repository

HOSTILE = [
    "new\nline.txt",
    "quote\"'`.txt",
    "-dash.txt",
    "ünï-😀.txt",
    "tab\there",
    " ",
    "a\\b",
    "::error::x",
]


@pytest.fixture
def ada(tmp_path, monkeypatch):
    for name, value in IDENTITY.items():
        monkeypatch.setenv(name, value)
    return Repository(tmp_path / "work")


def sha(data):
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def between(ada, base, head="HEAD"):
    return {file["path"]: file for file in list_changed_files(str(ada.root), base, head)}


def test_hostile_names_come_through_whole(ada):
    first = ada.commit()
    for name in HOSTILE:
        ada.write(name, name)
    ada.commit()
    found = between(ada, first)
    assert {name: file["content_hash"] for name, file in found.items()} == {
        name: sha(name.encode()) for name in HOSTILE
    }
    assert all(file["readable"] and file["status"] == "A" for file in found.values())


def test_a_name_that_is_no_utf_8_is_told_as_unreadable(ada):
    first = ada.commit()
    ada.write(b"caf\xe9.txt", "x")
    ada.write("caf\\xe9.txt", "x")  # spelled as the other one is shown
    ada.commit()
    files = list_changed_files(str(ada.root), first, "HEAD")
    assert sorted(file["readable"] for file in files) == [False, True]


def test_renames_modes_deletions_links_and_binaries(ada):
    text = "line\n" * 50
    for name in ("old.txt", "mode.sh", "gone.txt"):
        ada.write(name, text + name)
    first = ada.commit()
    (ada.root / "old.txt").rename(ada.root / "new.txt")
    (ada.root / "mode.sh").chmod(0o755)
    (ada.root / "gone.txt").unlink()
    (ada.root / "link").symlink_to("/etc/passwd")
    ada.write("bin", b"\0\xff" * 1000)
    ada.commit()
    found = between(ada, first)
    assert (found["new.txt"]["status"], found["new.txt"]["old_path"]) == ("R", "old.txt")
    assert (found["mode.sh"]["status"], found["mode.sh"]["mode_only"]) == ("M", True)
    assert (found["gone.txt"]["status"], found["gone.txt"]["content_hash"]) == ("D", None)
    assert found["link"]["content_hash"] == sha(b"/etc/passwd")
    assert {name: file.get("old_content_hash") for name, file in found.items()} == {
        "new.txt": sha(f"{text}old.txt".encode()),
        "mode.sh": sha(f"{text}mode.sh".encode()),
        "gone.txt": sha(f"{text}gone.txt".encode()),
        "link": None,
        "bin": None,
    }
    assert found["bin"]["content_hash"] == sha(b"\0\xff" * 1000)


def test_a_submodule_shows_although_the_repository_says_to_ignore_it(ada, tmp_path):
    inner = Repository(ada.root / "vendor")
    inner.write("a", "a")
    inner.commit()
    module = '[submodule "vendor"]\n\tpath = vendor\n\turl = ./vendor\n\tignore = all\n'
    ada.write(".gitmodules", module)
    first = ada.commit()
    inner.write("a", "b")
    inner.commit()
    ada.git("update-index", "--cacheinfo", f"160000,{inner.git('rev-parse', 'HEAD')},vendor")
    ada.git("commit", "-qm", "moved")
    assert between(ada, first)["vendor"]["content_hash"] is None


def test_what_git_replace_hides_is_seen(ada):
    ada.write("a", "honest")
    first = ada.commit()
    ada.write("a", "evil")
    second = ada.commit()
    ada.git("replace", second, first)
    assert between(ada, first, second)["a"]["content_hash"] == sha(b"evil")


@pytest.fixture
def forked(ada):
    """main and a branch that parted: (where they parted, main, branch)."""
    parted = ada.commit("parted")
    ada.git("checkout", "-qb", "branch")
    ada.write("b", "b")
    branch = ada.commit("branch")
    ada.git("checkout", "-q", "main")
    ada.write("m", "m")
    return parted, ada.commit("main"), branch


def test_ranges_are_read_as_git_reads_them(ada, forked):
    parted, main, branch = forked
    root = str(ada.root)
    assert resolve_range(root, "main..branch", "", "") == (main, branch)
    assert resolve_range(root, "main...branch", "", "") == (parted, branch)
    assert resolve_range(root, "", "main", "branch") == (parted, branch)
    assert resolve_range(root, parted, "", "") == (parted, main)
    assert resolve_range(root, "branch..", "", "") == (branch, main)
    assert resolve_range(root, "", "0" * 40, "branch") == (empty_tree(root), branch)


def test_a_merge_is_what_it_adds_to_the_branch_that_it_is_merged_into(ada, forked):
    _, main, _ = forked
    ada.git("merge", "-q", "--no-ff", "-m", "merge", "branch")
    ada.write("sneaked", "in")
    ada.git("add", "-A")
    ada.git("commit", "-q", "--amend", "--no-edit")
    assert set(between(ada, *resolve_range(str(ada.root), f"{main}..HEAD", "", ""))) == {"b", "sneaked"}


@pytest.mark.parametrize("name", ["nowhere", "--output=/tmp/x", "a b", "", "-"])
def test_names_that_are_no_commit_are_refused(ada, name):
    ada.commit()
    with pytest.raises(GitRangeError):
        resolve_range(str(ada.root), f"{name}..HEAD" if name else "", "", "")


def test_a_shallow_clone_says_what_to_do(ada, tmp_path):
    first = ada.commit()
    ada.commit()
    ada.git("clone", "-q", "--depth", "1", f"file://{ada.root}", str(tmp_path / "shallow"))
    with pytest.raises(GitRangeError, match="fetch --unshallow"):
        resolve_range(str(tmp_path / "shallow"), f"{first}..HEAD", "", "")


def test_histories_without_a_common_commit_cannot_be_told(ada):
    ada.commit()
    ada.git("checkout", "-q", "--orphan", "other")
    ada.write("x", "x")
    ada.commit()
    with pytest.raises(GitRangeError, match="no commit in common"):
        resolve_range(str(ada.root), "", "main", "other")


def test_a_content_that_is_not_here_cannot_be_told(ada):
    first = ada.commit()
    ada.write("a", "lost")
    ada.commit()
    blob = ada.git("rev-parse", "HEAD:a")
    (ada.root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(GitRangeError, match="not in this clone"):
        list_changed_files(str(ada.root), first, "HEAD")


def test_a_content_before_that_is_not_here_is_left_out(ada):
    ada.write("a", "lost")
    first = ada.commit()
    ada.write("a", "here")
    ada.commit()
    blob = ada.git("rev-parse", f"{first}:a")
    (ada.root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    (file,) = list_changed_files(str(ada.root), first, "HEAD")
    assert file["content_hash"] == sha(b"here")
    assert "old_content_hash" not in file


def test_each_file_says_when_it_was_committed_last(ada):
    first = ada.commit()
    ada.write("sp ace\n", "a")
    ada.commit()
    time = ada.git("log", "-1", "--format=%cI").strip()
    ada.write("b", "b")
    ada.commit()
    assert between(ada, first)["sp ace\n"]["committed_at"] == time
    both = list_changed_files(str(ada.root), empty_tree(str(ada.root)), "HEAD")
    assert all(file["committed_at"] for file in both if file["path"] in {"b", "sp ace\n"})
    assert "committed_at" not in list_changed_files(str(ada.root), "HEAD", first)[0]  # only taken away


def test_too_many_files_cannot_be_told(ada, monkeypatch):
    monkeypatch.setattr(git_changes, "MAX_FILES", 1)
    first = ada.commit()
    for name in "ab":
        ada.write(name, name)
    ada.commit()
    with pytest.raises(GitRangeError, match="shorter range"):
        list_changed_files(str(ada.root), first, "HEAD")
