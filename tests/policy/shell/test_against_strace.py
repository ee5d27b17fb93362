"""Commands run by three shells under `strace`: whatever they open for writing, make, rename or remove was reported.

It needs the Debian package strace. Where that is missing, these tests say so and are skipped; in CI they fail.
"""

from __future__ import annotations

import os
import subprocess

import pytest
from hypothesis import HealthCheck, assume, given, settings

from tests.policy.shell import strace
from tests.policy.shell.grammar import COMMANDS
from tests.policy.shell.scratch import SHELLS, Scratch
from tests.policy.shell.test_examples import EXAMPLES as CASES
from tests.policy.shell.test_examples import is_harmless
from tests.programs import require

pytestmark = pytest.mark.deep

EXAMPLES = int(os.environ.get("SHELL_EXAMPLES", "100"))


@pytest.fixture(scope="module", params=SHELLS)
def scratch(request, tmp_path_factory):
    require(strace.missing_reason())
    return Scratch(tmp_path_factory.mktemp("traced") / "base", request.param)


@pytest.mark.parametrize(
    ("command", "written"),
    [
        ("cat top.txt", []),
        ("touch top.txt", ["top.txt"]),
        ("cat top.txt > top.txt", ["top.txt"]),
        ("chmod 644 top.txt", ["top.txt"]),
        ("cd src && touch b.txt", ["src/b.txt"]),
        ("(cd src; cd auth; : >> a.ts) & wait; mkdir n", ["n", "src/auth/a.ts"]),
        ("mv top.txt 'a b'", ["a b", "top.txt"]),
        ("echo x | (cd docs; tee é > /dev/null)", ["docs/é"]),
        ("rm -rf src/auth", ["src/auth", "src/auth/a.ts", "src/auth/b.ts"]),
        ("sed -i s/none/x/ top.txt", ["top.txt"]),
        ("ln -sf src l", ["l"]),
        ("cat 3<> top.txt < src/b.txt", ["top.txt"]),
    ],
)
def test_the_trace_sees_what_a_tree_does_not_show(scratch, command, written):
    assert sorted(scratch.written_by(command)) == [f"{scratch.root}/{name}" for name in written]


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
@given(command=COMMANDS)
def test_nothing_is_written_that_is_not_reported(scratch, command):
    analysis = scratch.analyse(command)
    assume(not analysis.unknown)
    assert scratch.missed_in_trace(command, analysis) == set(), analysis.writes


def test_no_example_writes_what_it_does_not_report(scratch):
    missed = {}
    for case in CASES:
        command = case["command"]
        analysis = scratch.analyse(command)
        if is_harmless(command, analysis) and (found := scratch.missed_in_trace(command, analysis)):
            missed[command] = found
    assert missed == {}


def test_a_missing_strace_is_named(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert strace.missing_reason.__wrapped__() == "strace is missing: install the Debian package strace"


def test_a_strace_that_may_not_trace_is_named(monkeypatch):
    refused = subprocess.CompletedProcess([], 1, b"", b"ptrace(PTRACE_TRACEME): Operation not permitted")
    monkeypatch.setattr("shutil.which", lambda name: "/usr/bin/strace")
    monkeypatch.setattr("subprocess.run", lambda *args, **more: refused)
    assert "Operation not permitted" in strace.missing_reason.__wrapped__()


def test_what_is_missing_fails_in_ci_and_is_skipped_with_a_warning_elsewhere(monkeypatch):
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="zsh is missing"):
        require("zsh is missing")
    monkeypatch.delenv("CI")
    with pytest.warns(UserWarning, match="zsh is missing"), pytest.raises(pytest.skip.Exception):
        require("zsh is missing")
