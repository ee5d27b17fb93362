"""The history of a file in a real repository: versions, names, ends, bounds, and nothing of others' that runs."""

from __future__ import annotations

import pytest

from tests.traces.ranges.repositories import Repo
from traces.ranges import file_history, git_reader
from traces.ranges.file_history import read_file_history

BODY = "".join(f"line_{number}()\n" for number in range(12))


@pytest.fixture
def repo(tmp_path):
    return Repo(tmp_path / "repo")


def read(repo, path="a.py", **how):
    return read_file_history(str(repo.folder), path, **how)


def test_each_commit_that_changed_the_file_is_a_version_with_its_parent(repo):
    first = repo.commit("a.py", "one\n")
    repo.commit("b.py", "other\n")
    second = repo.commit("a.py", "one\ntwo\n")
    found = read(repo)
    assert [(one.revision, one.lines, one.parents) for one in found.versions] == [
        (first, (b"one\n",), ()), (second, (b"one\n", b"two\n"), (0,)),
    ]  # fmt: skip
    assert (found.head_content, found.removal, found.renames, found.note, found.is_truncated) == (
        b"one\ntwo\n",
        None,
        (),
        "",
        False,
    )
    assert (found.commits[0].author, found.versions[0].timestamp) == ("pat", 1767229200)


def test_a_workspace_may_be_a_folder_of_the_repository(repo):
    repo.commit("deep/down/a.py", "one\n")
    found = read_file_history(str(repo.folder / "deep"), "down/a.py")
    assert [one.lines for one in found.versions] == [(b"one\n",)]


def test_a_merge_has_both_its_parents(repo):
    repo.commit("a.py", BODY)
    repo.git("checkout", "-q", "-b", "side")
    repo.commit("a.py", BODY + "side()\n")
    repo.git("checkout", "-q", "main")
    repo.commit("a.py", "main()\n" + BODY)
    repo.git("merge", "-q", "side", at="2026-01-05T00:00:00Z")
    found = read(repo)
    assert found.head_content == f"main()\n{BODY}side()\n".encode()
    assert found.versions[-1].parents == (1, 2)
    assert {one.parents for one in found.versions[1:3]} == {(0,)}


def test_a_renamed_file_is_read_on_under_its_names_before(repo):
    repo.commit("old.py", BODY)
    repo.git("mv", "old.py", "mid.py")
    first = repo.commit()
    repo.git("mv", "mid.py", "a.py")
    repo.write("a.py", BODY + "more()\n")
    second = repo.commit()
    found = read(repo)
    assert [(one.commit.revision, one.old, one.new) for one in found.renames] == [
        (second, "mid.py", "a.py"), (first, "old.py", "mid.py"),
    ]  # fmt: skip
    assert [(one.path, one.parents) for one in found.versions] == [
        ("old.py", ()),
        ("mid.py", (0,)),
        ("a.py", (1,)),
    ]
    gone = read(repo, "old.py")
    assert (gone.removal.commit.revision, gone.removal.new) == (first, "mid.py")
    assert gone.head_content is None


def test_a_file_that_is_gone_says_which_commit_took_it(repo):
    repo.commit("a.py", BODY)
    repo.git("rm", "-q", "a.py")
    gone = repo.commit()
    repo.commit("b.py", "other\n")
    found = read(repo)
    assert (found.removal.commit.revision, found.removal.new, found.removal.commit.author) == (
        gone,
        "",
        "pat",
    )


def test_a_file_that_came_back_has_an_empty_version_between(repo):
    repo.commit("a.py", BODY)
    repo.git("rm", "-q", "a.py")
    repo.commit()
    repo.commit("a.py", "back\n")
    found = read(repo)
    assert [len(one.lines) for one in found.versions] == [12, 0, 1]
    assert found.removal is None


def test_what_cannot_be_read_is_said_in_words(repo, tmp_path, monkeypatch):
    assert read(repo).note == file_history.NO_REPOSITORY  # no commit yet
    repo.commit("a.py", "one\n")
    assert read_file_history(str(tmp_path), "a.py").note == file_history.NO_REPOSITORY
    assert read_file_history(str(tmp_path / "nowhere"), "a.py").note == file_history.NO_REPOSITORY
    assert read(repo, "never.py").note == file_history.NOT_COMMITTED
    assert read(repo, "a\nHEAD:a.py").note == file_history.UNSUPPORTED_NAME
    assert read(repo, "a\0.py").note == file_history.NO_REPOSITORY
    assert read(repo, seconds=0).note == file_history.TOO_SLOW
    monkeypatch.setattr(git_reader, "MAX_OUTPUT", 3)
    assert read(repo).note == file_history.TOO_SLOW


def test_a_git_that_does_not_answer_is_ended(repo, tmp_path, monkeypatch):
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 30\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:/usr/bin:/bin")
    assert read(repo, seconds=0.2).note == file_history.TOO_SLOW


def test_nothing_that_the_repository_configures_is_run(repo, tmp_path):
    ran = tmp_path / "ran"
    bait = tmp_path / "bait"
    bait.write_text(f"#!/bin/sh\necho ran >> {ran}\ncat\n")
    bait.chmod(0o755)
    repo.commit("a.py", BODY)
    repo.commit(".gitattributes", "* diff=bait filter=bait\n")
    repo.git("mv", "a.py", "b.py")
    repo.commit()
    for name in (
        "diff.bait.textconv", "diff.bait.command", "diff.external", "filter.bait.smudge", "filter.bait.clean",
        "core.fsmonitor", "core.pager", "pager.log", "gpg.program", "core.sshCommand", "alias.log",
    ):  # fmt: skip
        repo.git("config", name, f"!{bait}" if name.startswith("alias") else str(bait))
    repo.git("config", "log.showSignature", "true")
    repo.git("config", "core.hooksPath", str(tmp_path))
    assert len(read(repo, "b.py").versions) == 2
    assert not ran.exists()


@pytest.mark.parametrize(
    "name", ["-n1", ":(glob)*", "a b.py", "*.py", "HEAD", "ünï.py", 'q"uote.py', "a:b", "..x", "x^{}"]
)
def test_a_name_is_only_a_name(repo, name):
    repo.commit("a.py", "not this\n")
    repo.commit(name, "one\n")
    assert [one.lines for one in read(repo, name).versions] == [(b"one\n",)]


def test_old_and_large_versions_are_left_out_and_that_is_said(repo, monkeypatch):
    for number in range(6):
        repo.commit("a.py", BODY + f"{number}\n")
    monkeypatch.setattr(file_history, "MAX_LINES", 40)
    found = read(repo)
    assert (found.is_truncated, [one.parents for one in found.versions]) == (True, [(), (0,), (1,)])
    assert [one.revision for one in found.versions] == [one.revision for one in found.commits]
    monkeypatch.setattr(file_history, "MAX_COMMITS", 2)
    assert (len(read(repo).versions), read(repo).is_truncated) == (2, True)
    monkeypatch.setattr(file_history, "MAX_BYTES", 200)
    assert (len(read(repo).versions), read(repo).is_truncated) == (1, True)


def test_a_version_that_is_too_large_ends_the_reading(repo, monkeypatch):
    repo.commit("a.py", BODY)
    repo.commit("a.py", BODY * 100)
    repo.commit("a.py", "small\n")
    monkeypatch.setattr(file_history, "MAX_BLOB", 2000)
    found = read(repo)
    assert [one.lines for one in found.versions] == [(b"small\n",)]
    assert found.is_truncated
