"""The workspace's own safe commands, and what may not hide in them."""

from __future__ import annotations

import pytest

from controlplane.policy.shell import analyse
from tests.policy.shell.answers import reasons, writes

LISTED = (
    "pytest",
    "pytest *",
    "npm test",
    "npm run *",
    "make check",
    "./run *",
    "go * ./...",
    "* --help",
    "sort *",
    "deno ta?k [ab]*",
)


@pytest.mark.parametrize(
    "command",
    [
        "pytest",
        "pytest -q tests/a.py",
        "pytest 'a b'",
        "npm test",
        "npm test && make check | tail -3",
        "timeout 60 pytest -q",
        "./run a b c",
        "go vet ./...",
        "CI=1 pytest",
        "env CI=1 PAGER=cat pytest",
        "export CI=1; x=2; pytest",
        "pytest tests/*.py",
        "cd src && pytest",
        "sort --compress-program=x a",
        "npm run build",
        "npm run lint -- --quiet",
        "deno task build",
    ],
)
def test_a_listed_command_is_safe(command):
    analysis = analyse(command, safe_commands=LISTED)
    assert analysis.safe
    assert not analyse(command).safe
    assert "runs" in [part.verdict for part in analysis.parts]


@pytest.mark.parametrize(
    "command",
    [
        "pytest; rm a",
        "pytest $(rm a)",
        "pytest `rm a`",
        'pytest "$x"',
        "pytest ~",
        "npm test -- --fix",
        "npm install x",
        "npm",
        "make",
        "make check all",
        "deno task clean",
        "deno task",
        "PYTEST_ADDOPTS=x pytest",
        "SRC='$(shell rm a)' make check",
        "env SRC=x make check",
        "export SRC=x; make check",
        "export SRC; make check",
        "frob --help",
        "bash -c pytest",
        "xargs pytest",
        "/tmp/pytest",
        "go vet a ./...",
        "echo pytest | sh",
        "pytest > out.txt",
        "sort -o a b",
    ],
)
def test_nothing_hides_in_a_listed_command(command):
    assert not analyse(command, safe_commands=LISTED).safe


def test_a_redirect_of_a_listed_command_is_a_write():
    assert writes("pytest > out.txt", safe_commands=LISTED) == [("", "out.txt")]
    assert not reasons("pytest > out.txt", safe_commands=LISTED)


def test_an_empty_pattern_lists_nothing():
    assert not analyse("pytest", safe_commands=("", " ")).safe


def test_a_listed_command_loses_its_unknown_but_keeps_its_targets():
    analysis = analyse("curl -o out.txt https://example.org", safe_commands=("curl *",))
    assert [path.raw for path in analysis.writes] == ["out.txt"]
    assert not analysis.unknown


def test_a_listed_command_is_trusted_with_what_no_table_knows_of_it():
    analysis = analyse("wget -O out.txt https://example.org", safe_commands=("wget *",))
    assert [path.raw for path in analysis.writes] == ["out.txt"]
    assert not analysis.unknown
