"""Files under a local root, held against git's own list."""

from __future__ import annotations

import os
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from traces.local_files import MAX_GITIGNORE_BYTES, walk_files

TREE = (
    "a.ts",
    "b.log",
    "keep.log",
    "dist/x.js",
    "src/a.ts",
    "src/b.log",
    "src/gen/c.ts",
    "src/dist/d.js",
    "docs/a b.md",
)
RULES = (
    "*.log",
    "!keep.log",
    "dist/",
    "/dist",
    "src/gen",
    "**/gen/*",
    "a.*",
    "!src/a.ts",
    "# no rule",
    "",
    "!",
    "b\\",
    "docs/a b.md",
)


def lay_out(root, files: dict[str, str]) -> None:
    for name, text in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def listed_by_git(root) -> list[str]:
    subprocess.run(["git", "init", "-q", root], check=True)
    command = ["git", "-C", root, "ls-files", "-z", "--others", "--exclude-standard"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return sorted(name for name in done.stdout.split("\0") if name)


def test_without_rules_every_file_is_listed_but_those_of_packages(tmp_path):
    lay_out(tmp_path, {"b.ts": "", "a/c.ts": "", "node_modules/x/index.js": "", ".venv/bin/python": ""})
    assert list(walk_files(str(tmp_path))) == ["b.ts", "a/c.ts"]


def test_a_directory_that_is_not_there_has_no_files(tmp_path):
    assert list(walk_files(str(tmp_path / "gone"))) == []


def test_a_deeper_file_of_rules_decides(tmp_path):
    lay_out(tmp_path, {".gitignore": "*.log\n", "a.log": "", "src/.gitignore": "!*.log\n", "src/b.log": ""})
    assert set(walk_files(str(tmp_path))) == {".gitignore", "src/.gitignore", "src/b.log"}


def test_nothing_comes_back_below_an_ignored_directory(tmp_path):
    lay_out(tmp_path, {".gitignore": "dist/\n!dist/keep.js\n", "dist/keep.js": "", "dist/.gitignore": "!*\n"})
    assert list(walk_files(str(tmp_path))) == [".gitignore"]


def test_links_are_not_followed(tmp_path):
    lay_out(tmp_path, {"inside/a.ts": "", "outside/b.ts": ""})
    (tmp_path / "inside" / "link").symlink_to(tmp_path / "outside", target_is_directory=True)
    assert list(walk_files(str(tmp_path / "inside"))) == ["a.ts"]


@pytest.mark.parametrize("line", ["*a" * 40 + "b", "[", "!", "\\", "\x00", "a/**/**/**/b"])
def test_a_hostile_line_costs_nothing_and_hides_nothing(tmp_path, line):
    lay_out(tmp_path, {".gitignore": f"{line}\n", "a" * 200: "", "src/x.ts": ""})
    assert "src/x.ts" in set(walk_files(str(tmp_path)))


def test_an_endless_file_of_rules_is_read_in_part(tmp_path):
    lay_out(
        tmp_path, {".gitignore": "*.log\n" + "#" * MAX_GITIGNORE_BYTES + "\n*.ts\n", "a.log": "", "b.ts": ""}
    )
    assert set(walk_files(str(tmp_path))) == {".gitignore", "b.ts"}


def test_rules_that_are_no_regular_file_are_no_rules(tmp_path):
    """A FIFO would wait for ever, a link could read any file of the server."""
    lay_out(tmp_path, {"rules": "*.ts\n", "a/x.ts": "", "b/y.ts": ""})
    os.mkfifo(tmp_path / "a" / ".gitignore")
    (tmp_path / "b" / ".gitignore").symlink_to(tmp_path / "rules")
    assert {"a/x.ts", "b/y.ts"} < set(walk_files(str(tmp_path)))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(RULES), max_size=5), st.lists(st.sampled_from(RULES), max_size=3))
def test_the_list_is_that_of_git(tmp_path_factory, rules, rules_below):
    root = tmp_path_factory.mktemp("tree")
    rows = {".gitignore": "\n".join(rules), "src/.gitignore": "\n".join(rules_below)}
    lay_out(root, dict.fromkeys(TREE, "") | rows)
    assert sorted(walk_files(str(root))) == listed_by_git(root)
