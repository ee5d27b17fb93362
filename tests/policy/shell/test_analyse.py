"""What the analysis tells about a command: directories, reads, wildcards, strings that run as commands."""

from __future__ import annotations

import pytest

from controlplane.policy.shell import analyse
from tests.policy.shell.answers import reads, reasons, writes
from tests.policy.shell.scratch import Scratch


def test_a_command_starts_in_its_folder():
    assert writes("touch a; cd ..; touch b", cwd="src") == [("src", "a"), ("", "b"), ("src", "b")]


def test_without_a_known_folder_only_absolute_paths_are_known():
    assert reasons("touch a", cwd=None) == ["the current directory is not known here"]
    assert writes("touch /ws/a ~/b", cwd=None) == [("", "/ws/a"), ("", "~/b")]
    assert reasons("cd src && touch a", cwd=None) == ["the current directory is not known here"]


def test_pwd_is_known_below_the_root():
    assert writes('cd src && touch "$PWD/a"', root="/ws") == [("", "/ws/src/a")]
    assert writes('touch "$PWD/a"', root="/ws") == [("", "/ws/a")]
    assert reasons('touch "$PWD/a"')
    assert reasons('cd .. && touch "$PWD/a"', root="/ws")


def test_wildcards_are_looked_up_on_disk(tmp_path):
    filesystem = Scratch(tmp_path / "base").filesystem()
    assert reads("cat src/auth/*.ts", filesystem=filesystem) == [("", "src/auth/a.ts"), ("", "src/auth/b.ts")]
    assert reads("cat src/*/[ab].t?", filesystem=filesystem) == [("", "src/auth/a.ts"), ("", "src/auth/b.ts")]
    assert reads("cat src/auth/*.ts") == [("", "src/auth")]
    assert reads("cat *a*b*c*d*e*", filesystem=filesystem) == []
    assert reads("cat /etc/*", filesystem=filesystem) == [("", "/etc")]


def test_a_wildcard_that_matches_too_much_is_its_folder(tmp_path):
    scratch = Scratch(tmp_path / "base")
    for number in range(501):
        (scratch.root / "empty" / str(number)).touch()
    assert reads("cat empty/*", filesystem=scratch.filesystem()) == [("", "empty")]


def test_reads_are_told_beside_writes():
    assert reads("cp .env src/a") == [("", ".env")]
    assert reads("cat < a > b") == [("", "a")]
    assert reads("grep -f a b; test -f c; [ -d d ]; [[ -e e ]]") == [("", name) for name in "abcde"]
    assert reads("git show HEAD:a b") == [("", "."), ("", "a"), ("", "b")]
    assert reads("git show HEAD:./a", cwd="src") == [("src", "."), ("src", "./a")]
    assert reads("tar -cf x -C src a b /c") == [("", "src/a"), ("", "src/b"), ("", "/c")]
    assert reads("ls") == reads("find") == reads("grep -r x") == reads("rg x") == reads("fd x") == [("", ".")]


def test_a_string_is_judged_like_a_command_but_never_trusted_by_a_list():
    analysis = analyse("bash -c 'cd src && rm a'")
    assert [path.raw for path in analysis.writes] == ["a"]
    assert not analysis.unknown
    assert analyse("bash -lc 'git log | head'").safe
    assert reads("bash -c 'cat .env'") == [("", ".env")]
    assert not analyse("bash -c pytest", safe_commands=("pytest",)).safe
    (effect,) = analyse("sh -ec 'go test ./x'").effects
    assert (effect.kind, effect.part) == ("go test", "sh -ec 'go test ./x'")


@pytest.mark.parametrize(
    "command",
    [
        'bash -c "$x"',
        "bash -c",
        "bash",
        "bash -O extglob -c ls",
        "ksh -c ls",
        "PATH=src bash -c ls",
        "export GOFLAGS=-exec=x; bash -c 'go test'",
        "cd $x; bash -c ls",
        "bash -c 'ls; $x'",
        "bash -c 'bash -c \"bash -c ls\"'",
        "eval ls",
        "eval 'ls'; eval 'if'",
        "bash -c 'if'",
    ],
)
def test_a_string_that_is_not_certain_is_unknown(command):
    assert analyse(command).unknown


def test_strings_that_loops_multiply_are_bounded():
    text = "ls " + "a" * 3_000
    assert "the command is too long to analyse" in reasons(f"for i in {{1..32}}; do bash -c '{text}'; done")


def test_a_link_that_a_string_makes_is_followed_in_the_command():
    assert reasons("bash -c 'ln -s a src/l'; echo x > src/l")[-1].startswith("may be written through a link")


def test_a_string_in_an_unknown_folder_names_nothing():
    assert writes("cd $x; eval 'touch a'") == []


def test_a_brace_that_the_parser_would_read_too_far_never_gets_there():
    assert reasons("echo {1\u4e2d") == ["a brace before a character that the parser cannot handle"]


def test_a_word_that_is_too_long_is_marked_alone():
    long = "a" * 9_000 + "{b,c}"
    (unknown,) = analyse(f"touch b; cat {long}").unknown
    assert (unknown.text, unknown.reason) == (long, "a word that is too long for a path")
