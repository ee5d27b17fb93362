"""Wildcards that may match, and filters that name, what `.intentignore` keeps from agents."""

from __future__ import annotations

import pytest

from controlplane.policy.globs.ignored_patterns import find_matching_line, find_named_line

TEXT = """# secrets
.env*
!.env.example
*.pem
credentials.json
/config/secret.yml
build/
a[0-9]\\*
intent: INT-009
"""


def named(pattern, **options):
    return find_named_line(pattern, TEXT, **{"ignore_case": False, **options})


def matching(pattern, **options):
    return find_matching_line(pattern, TEXT, **{"ignore_case": False, **options})


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        ("**/.env", ".env*"),
        ("**/.e?v", ".env*"),
        ("src/**/.e*", ".env*"),
        ("**/.env.example", None),
        ("**/*.pem", "*.pem"),
        ("**/*.p?m", "*.pem"),
        ("**/cred*.json", "credentials.json"),
        ("**/*.json", None),
        ("**/*.{js,json}", None),
        ("**/test_*", None),
        ("**/*", None),
        ("src/**", None),
        ("config/s*", "/config/secret.yml"),
        ("docs/s*", None),
        ("**/buil?", "build/"),
        ("**/[", None),
    ],
)
def test_a_filter_that_spells_a_name_out(pattern, line):
    assert named(pattern) == line


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        (".e*", ".env*"),
        ("config/s*", "/config/secret.yml"),
        ("keys/*", "*.pem"),
        ("keys/?", None),
        ("*env", None),
        ("*?", "*.pem"),
        ("?env", None),
        ("src/*.ts", None),
        ("b*/x", "build/"),
        ("*/x", None),
        ("***/.env", ".env*"),
    ],
)
def test_a_wildcard_of_a_shell_that_may_match(pattern, line):
    assert matching(pattern) == line


def test_case_is_folded_where_the_disk_has_none():
    assert named("**/.ENV") is None
    assert named("**/.ENV", ignore_case=True) == ".env*"
    assert matching("KEYS/*.PEM", ignore_case=True) == "*.pem"


def test_a_file_of_too_many_lines_is_not_compared_without_end():
    assert find_named_line("**/.env", "x\n" * 500 + ".env\n", ignore_case=False) is None
