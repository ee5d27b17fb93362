"""A file as a commit holds it, read from a repository that may be hostile."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from traces.anchors import git_notes
from traces.blame.git_blob import read_committed_text
from traces.errors import RepositoryError
from traces.interchange.repository import Repository


@pytest.fixture
def repository(tmp_path):
    root = tmp_path / "acme"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_text("x = 1\n", encoding="utf-8")
    (root / "raw").write_bytes(b"\xff\xfe")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "one")
    return root


def git(root, *words):
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(root), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_it_is_the_text_of_that_commit(repository):
    first = git(repository, "rev-parse", "HEAD")
    (repository / "src" / "a.py").write_text("x = 2\n", encoding="utf-8")
    git(repository, "commit", "-qam", "two")
    assert read_committed_text(str(repository), first, "src/a.py") == "x = 1\n"
    assert read_committed_text(str(repository), git(repository, "rev-parse", "HEAD"), "src/a.py") == "x = 2\n"
    assert read_committed_text(str(repository / "src"), first, "a.py") == "x = 1\n"


def test_what_is_not_there_or_no_text_is_none(repository):
    head = git(repository, "rev-parse", "HEAD")
    assert read_committed_text(str(repository), head, "src/none.py") is None
    assert read_committed_text(str(repository), head, "src") is None
    assert read_committed_text(str(repository), head, "raw") is None
    assert read_committed_text(str(repository), "0" * 40, "src/a.py") is None
    assert read_committed_text(str(repository.parent), head, "src/a.py") is None
    assert read_committed_text("", head, "src/a.py") is None


@pytest.mark.parametrize("revision", ["HEAD", "--help", "main", "HEAD~1", "abc", "g" * 40])
def test_only_a_commit_in_full_words_of_git_is_asked_for(repository, revision):
    assert read_committed_text(str(repository), revision, "src/a.py") is None


def test_without_a_commit_head_is_read(repository):
    assert read_committed_text(str(repository), "", "src/a.py") == "x = 1\n"


def a_commit(root, revision):
    assert read_committed_text(root, revision, "src/a.py") is None


def notes(root, revision):
    with pytest.raises(RepositoryError):
        Repository(Path(root)).run_git("cat-file", "blob", f"{revision}:src/a.py")


def anchors(root, revision):
    with pytest.raises(git_notes.GitNoteError):
        git_notes._run_git(root, "cat-file", "blob", f"{revision}:src/a.py")


@pytest.mark.parametrize("read", [a_commit, notes, anchors])
def test_a_missing_object_is_not_fetched_by_a_program_of_the_repository(repository, tmp_path, read):
    """A partial clone fetches what it lacks, and its settings may name a program for that."""
    head, blob = git(repository, "rev-parse", "HEAD"), git(repository, "rev-parse", "HEAD:src/a.py")
    ran = tmp_path / "ran"
    for name, value in (
        ("remote.evil.url", f"ext::touch {ran}"),
        ("remote.evil.promisor", "true"),
        ("protocol.ext.allow", "always"),
        ("extensions.partialClone", "evil"),
        ("core.repositoryFormatVersion", "1"),
    ):
        git(repository, "config", name, value)
    (repository / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    read(str(repository), head)
    assert not ran.exists()
