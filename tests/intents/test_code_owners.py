"""CODEOWNERS, held against the examples of GitHub's documentation."""

from __future__ import annotations

import os

import pytest

from intents.code_owners import MAX_LINES, find_code_owners

EXAMPLES = """
# the owners of everything
*       @global-owner1 @global-owner2
*.js    @js-owner #This is an inline comment.
*.go docs@example.com
/build/logs/ @doctocat
docs/*  docs@example.com
apps/ @octocat
/docs/ @doctocat
/scripts/ @doctocat @octocat
**/logs @octocat
/apps/github
"""


def owners(tmp_path, path: str, text: str = EXAMPLES, location: str = "CODEOWNERS") -> tuple[str, ...]:
    file = tmp_path / location
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return find_code_owners(str(tmp_path), path)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("README", ("@global-owner1", "@global-owner2")),
        ("src/a.js", ("@js-owner",)),
        ("main.go", ("docs@example.com",)),
        ("build/logs/today/a.txt", ("@octocat",)),
        ("src/build/logs.txt", ("@global-owner1", "@global-owner2")),
        ("lib/apps/x.py", ("@octocat",)),
        ("docs/a/b.md", ("@doctocat",)),
        ("scripts/run.sh", ("@doctocat", "@octocat")),
        ("deeply/nested/logs/x", ("@octocat",)),
        ("apps/github/x.rb", ()),
    ],
)
def test_the_last_matching_line_decides(tmp_path, path, expected):
    assert owners(tmp_path, path) == expected


@pytest.mark.parametrize(
    ("path", "owned"),
    [("docs/a.md", True), ("docs/build/a.md", False), ("lib/docs/a.md", False), ("docs", False)],
)
def test_a_star_at_the_end_owns_one_directory_only(tmp_path, path, owned):
    assert bool(owners(tmp_path, path, "docs/* @ada\n")) is owned


def test_the_first_of_the_locations_counts(tmp_path):
    owners(tmp_path, "a", "* @root\n")
    assert owners(tmp_path, "a", "* @hub\n", ".github/CODEOWNERS") == ("@hub",)


@pytest.mark.parametrize("line", ["!a @ada", "[Section] @ada", "^[Optional] @ada", "\\ @ada", "# * @ada", ""])
def test_a_line_that_is_no_rule_owns_nothing(tmp_path, line):
    assert owners(tmp_path, "a", f"{line}\n") == ()


def test_without_a_folder_or_file_nobody_owns_anything(tmp_path):
    assert find_code_owners("", "a") == ()
    assert find_code_owners(str(tmp_path), "a") == ()


def test_what_is_no_regular_file_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "CODEOWNERS")
    assert find_code_owners(str(tmp_path), "a") == ()


def test_a_hostile_file_is_read_in_part_and_in_linear_time(tmp_path):
    text = "\n".join(["*a" * 40 + "b @ada"] * MAX_LINES + ["* @late"])
    assert owners(tmp_path, "a" * 200, text) == ()
