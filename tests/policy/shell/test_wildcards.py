"""Wildcards against the names that are on disk: never fewer than bash finds, and where links lead."""

from __future__ import annotations

import re
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controlplane.policy.decision import decide
from controlplane.policy.model import Reason, Snapshot, ToolCall
from controlplane.policy.paths.filesystem import UnknownFilesystem
from controlplane.policy.shell import analyse
from controlplane.policy.shell.wildcards import find_matches
from tests.policy.builders import NOW
from tests.policy.local_filesystem import LocalFilesystem
from tests.policy.shell.scratch import Scratch
from tests.workload import bounded

NAMES = (".env", ".e]v", "a", "b", "ab", "a.ts", "]", "[a]", "a]v", "-", "é", "A b", "*", "x-y", "^")


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    root = tmp_path_factory.mktemp("names")
    for name in NAMES:
        (root / name).touch()
    return root


@pytest.fixture
def scratch(tmp_path):
    return Scratch(tmp_path / "base")


def found(scratch, command, kind="writes"):
    analysis = analyse(command, root=str(scratch.root), filesystem=scratch.filesystem())
    return sorted(path.raw for path in getattr(analysis, kind)), [each.reason for each in analysis.unknown]


@settings(max_examples=300, deadline=None)
@given(pattern=st.text("ab.*?[]!^-é\\", min_size=1, max_size=7).filter(lambda text: not text.endswith("\\")))
def test_no_name_that_bash_finds_is_missing(names, pattern):
    script = f"shopt -s nullglob; printf '%s\\0' {pattern}"
    done = subprocess.run(["bash", "-c", script], cwd=names, capture_output=True, check=True)
    expanded = {name for name in done.stdout.decode().split("\0") if name in NAMES}
    # The analysis is handed the word as it is without its quotes.
    assert expanded <= set(find_matches(LocalFilesystem(names), re.sub(r"\\(.)", r"\1", pattern)))


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.ts", ["a.ts"]),
        (".e*", [".e]v", ".env"]),
        ("?", ["*", "-", "]", "^", "a", "b", "é"]),
        ("[ab].ts", ["a.ts"]),
        ("[ab", []),
        ("a*b*", ["ab"]),
        ("*nothing*", []),
    ],
)
def test_what_a_pattern_finds(names, pattern, expected):
    assert find_matches(LocalFilesystem(names), pattern) == sorted(expected)


def test_no_name_makes_it_slow(tmp_path):
    (tmp_path / ("a" * 250)).touch()
    with bounded(100):
        assert find_matches(LocalFilesystem(tmp_path), "*a" * 40 + "*b") == []


def test_links_that_lead_round_in_circles_end(scratch):
    (scratch.root / "src" / "round").symlink_to(".")
    assert len(find_matches(scratch.filesystem(), "src" + "/r*" * 6)) == 1
    assert find_matches(scratch.filesystem(), "src" + "/r*" * 7) is None


def test_too_many_names_are_not_looked_at(scratch, monkeypatch):
    monkeypatch.setattr("controlplane.policy.shell.wildcards.MAX_NAMES", 2)
    assert find_matches(scratch.filesystem(), "src/auth/a*") == ["src/auth/a.ts"]
    assert find_matches(scratch.filesystem(), "*/a*") is None


def test_nobody_knows_what_is_in_a_folder():
    assert find_matches(UnknownFilesystem(), "src/*") is None


@pytest.mark.parametrize(
    ("command", "changed"),
    [
        ("rm src/auth/*.ts", ["src/auth/a.ts", "src/auth/b.ts"]),
        ("rm -r src/a*", ["src/auth"]),
        ("chmod +x src/*.txt v?.d/i*", ["src/b.txt", "v1.d/in.txt"]),
        ("sed -i s/a/b/ docs/?.md", ["docs/g.md"]),
        ("cd src && rm auth/b.*", ["src/auth/b.ts"]),
        ("cd docs && chmod 600 ../src/*.txt", ["docs/../src/b.txt"]),
        ("chmod 600 $PWD/docs/*", ["docs/g.md"]),
    ],
)
def test_a_change_of_what_is_there_is_one_of_each_match(scratch, command, changed):
    assert found(scratch, command) == (changed, [])


@pytest.mark.parametrize(
    "command",
    [
        "rm src/auth/*.js",  # nothing matches: bash would pass the pattern itself
        "touch src/auth/*.ts",  # makes what is not there
        "cp top.txt src/auth/*.ts",
        "mv src/auth/*.ts docs",
        "sed -i.bak s/a/b/ src/auth/*.ts",
        "echo > docs/*.md",
        'for f in docs/*; do rm "$f"; done',  # what a variable carries may be older than the files
        "rm *.txt",  # a name may begin with a dash
        "rm ~/*",
        "rm ../outside/*",
        "chmod 600 $PWD/src/../docs/*",
    ],
)
def test_a_wildcard_stays_unclear_where_more_than_the_matches_may_change(scratch, command):
    assert found(scratch, command)[1] != []


def test_a_link_that_the_same_command_makes_may_match(scratch):
    _, reasons = found(scratch, "ln -s ../top.txt docs/l && chmod 600 docs/*")
    assert reasons == ["may be written through a link that the same command creates"]


@pytest.mark.parametrize(
    "command",
    [
        "cat src/*/keep",
        "cat s*/lnk/keep",
        "ls src/l*/",
        "cat src/lnk/../outside/k*",
        "cd src && cat lnk/../outside/k*",
        "grep x src/*/sub/../keep",
        "chmod 600 src/*/keep",
        "rm src/lnk/*",
    ],
)
def test_a_wildcard_follows_the_links_that_bash_follows(scratch, command):
    (scratch.base / "outside" / "sub").mkdir()
    (scratch.base / "outside" / "keep").touch()
    (scratch.root / "src" / "lnk").symlink_to(scratch.base / "outside")
    call = ToolCall("Bash", {"command": command}, root=str(scratch.root))
    decision = decide(call, Snapshot(), NOW, LocalFilesystem(scratch.root))
    assert decision.verdict != "allow"
    if not command.startswith(("chmod", "rm")):  # those are refused first for want of an intent
        assert decision.reason == Reason.OUTSIDE_WORKSPACE


def test_links_are_looked_for_where_too_much_matches(scratch):
    for number in range(501):
        (scratch.root / "empty" / str(number)).touch()
    assert found(scratch, "cat empty/*", "reads") == (["empty"], [])
    (scratch.root / "empty" / "link").symlink_to(scratch.base / "outside")
    assert found(scratch, "cat empty/*", "reads") == (["empty", "empty/link"], [])


def test_a_name_that_looks_like_a_home_is_a_name(scratch):
    (scratch.root / "~notes").touch()
    assert found(scratch, "cat ?notes", "reads") == (["./~notes"], [])
