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


def found_patterns(command, **where):
    return [(each.raw, each.use.value) for each in analyse(command, **where).patterns]


@pytest.mark.parametrize(
    ("command", "patterns"),
    [
        ("grep -r --include=.env x", [("./**/.env", "filter")]),
        ("grep --include='*.py' -rn x src docs", [("src/**/*.py", "filter"), ("docs/**/*.py", "filter")]),
        ("grep x a", []),
        ("grep -r x config", [("config", "content")]),
        ("rg -g '!.env' x config", [("config", "content")]),
        ("rg -g '/.env' x", [("./**/.env", "filter")]),
        ("rg --files -g .env", []),
        ("rg --files -g .env | xargs cat", [("./**/.env", "filter")]),
        ("diff -r a b", [("a", "content"), ("b", "content")]),
        ("find . -name .env", []),
        ("find . -name .env -exec cat {} +", [("./**/.env", "filter")]),
        ("find . -name .env | xargs echo", []),
        ("find a -iname '.E*' | xargs cat", [("a/**/.E*", "filter"), ("a/**/.e*", "filter")]),
        ("find a -path '*/x/.env' -exec sed -n 1p {} \\;", [("a/**/.env", "filter")]),
        ("find a -regex '.*/\\.env' -exec cat {} +", [("a/**/[.]env", "filter")]),
        ("find a ! -name .env -exec cat {} +", [("a", "content")]),
        ("find a -name x -prune -o -exec cat {} +", [("a", "content")]),
        ("cat $(find . -name .env)", [("./**/.env", "filter")]),
        ("fd -H '^\\.env$' | xargs cat", [("./**/[.]env", "filter")]),
        ("fd -e pem . keys | xargs cat", [("keys/**/*.pem", "filter")]),
        ("fd -g '.e*' | xargs cat", [("./**/.e*", "filter")]),
        ("fd x", []),
        ("git ls-files config | xargs cat", [("config", "content")]),
        ("cp -r config src/x", [("config", "copy")]),
        ("cat .e*", [(".e*", "wildcard")]),
        ("bash -c 'cat .e*'", [(".e*", "wildcard")]),
        ("cd $x; grep -r --include=a b", []),
    ],
)
def test_what_is_read_without_being_named(command, patterns):
    assert found_patterns(command) == patterns


def test_a_pager_prints_like_cat_unless_it_is_given_commands():
    assert reads("less -N README.md") == [("", "README.md")]
    assert analyse("more a b").safe
    assert reasons("less +!ls README.md") == reasons("less $x") == ["a pager may be given commands"]
    assert reasons("less -o out.txt a") == ["the option -o is not known to be safe"]


def test_a_deletion_by_name_is_one_of_each_match(tmp_path):
    scratch = Scratch(tmp_path / "base")
    (scratch.root / "src" / "x.bak").write_text("x")
    disk = scratch.filesystem()
    assert writes("find src -name '*.bak' -type f -delete", filesystem=disk) == [("", "src/x.bak")]
    for command in (
        "find src -name '*.bak' -delete",  # without a disk
        "find src -name none -delete",
        "find src -name src -delete",
        "find src -name '*.bak' -o -name x -delete",
        "find src -delete -name",
    ):
        where = {} if command == "find src -name '*.bak' -delete" else {"filesystem": disk}
        assert ("", "src") in writes(command, **where) or reasons(command, **where)
    assert writes("find . -name '*.bak' -delete", filesystem=disk) == [("", ".")]
    assert writes("find ../outside -name '*.bak' -delete", filesystem=disk) == [("", "../outside")]


def test_too_many_files_are_not_searched_for_a_name(tmp_path, monkeypatch):
    monkeypatch.setattr("controlplane.policy.shell.wildcards.MAX_NAMES", 1)
    disk = Scratch(tmp_path / "base").filesystem()
    assert writes("find src -name '*.ts' -delete", filesystem=disk) == [("", "src")]


def test_a_count_of_a_script_is_read_by_no_program():
    assert analyse("FILE_COUNT=$(ls | wc -l); echo $FILE_COUNT").safe
    assert reasons("GIT_CONFIG_COUNT=1; git status")
