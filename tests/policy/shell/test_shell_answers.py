"""What the analysis tells about a command: folders, spans, verdicts, the workspace's own safe commands."""

from __future__ import annotations

import pytest

from controlplane.policy.paths.filesystem import UnknownFilesystem
from controlplane.policy.shell import analyse, analyse_cmd, analyse_powershell
from controlplane.policy.shell.lexical_path import change_directory, is_inside, resolve_lexically
from tests.policy.shell.scratch import Scratch


def writes(command, **where):
    return [(path.cwd, path.raw) for path in analyse(command, **where).writes]


def reads(command, **where):
    return [(path.cwd, path.raw) for path in analyse(command, **where).reads]


def whys(command, **where):
    return [unknown.reason for unknown in analyse(command, **where).unknown]


# ---- folders


@pytest.mark.parametrize(
    ("folder", "raw", "expected"),
    [
        ("", "src", "src"),
        ("src", "auth", "src/auth"),
        ("src/auth", "..", "src"),
        ("src", "../..", ".."),
        ("..", "..", "../.."),
        ("../..", "x/..", "../.."),
        ("", "../../x/../y", "../../y"),
        ("/etc", "../..", "/"),
        ("..", "ws", "../ws"),
        ("", "./a//b/.", "a/b"),
        ("src", "/etc", "/etc"),
        ("src", "~", "~"),
        ("~", "x/..", "~/x/.."),
        ("", "/../etc", "/etc"),
    ],
)
def test_cd_counts_dots_on_names(folder, raw, expected):
    assert change_directory(folder, raw, None) == expected


@pytest.mark.parametrize(
    ("folder", "raw", "expected"),
    [
        ("", "/home/ada/ws", ""),
        ("", "/home/ada/ws/src", "src"),
        ("", "/home/ada/ws-evil", "/home/ada/ws-evil"),
        ("", "..", "/home/ada"),
        ("", "../ws/src", "src"),
        ("/home/ada", "ws", ""),
    ],
)
def test_an_absolute_folder_below_the_root_is_inside(folder, raw, expected):
    assert change_directory(folder, raw, "/home/ada/ws/") == expected


def test_a_root_of_another_kind_places_nothing():
    assert change_directory("", "/c/ws", "C:\\ws") == "/c/ws"


def test_a_folder_outside_is_written_into_the_path():
    assert resolve_lexically("..", "x", None).raw == "../x"
    assert resolve_lexically("src", "../x/", None) == resolve_lexically("src", "../x", None)
    assert not is_inside("../x")
    assert is_inside("..x")


def test_a_command_starts_in_its_folder():
    assert writes("touch a; cd ..; touch b", cwd="src") == [("src", "a"), ("", "b"), ("src", "b")]


def test_without_a_known_folder_only_absolute_paths_are_known():
    assert whys("touch a", cwd=None) == ["the folder is not known here"]
    assert writes("touch /ws/a ~/b", cwd=None) == [("", "/ws/a"), ("", "~/b")]
    assert whys("cd src && touch a", cwd=None) == ["the folder is not known here"]


def test_pwd_is_known_below_the_root():
    assert writes('cd src && touch "$PWD/a"', root="/ws") == [("", "/ws/src/a")]
    assert writes('touch "$PWD/a"', root="/ws") == [("", "/ws/a")]
    assert whys('touch "$PWD/a"')
    assert whys('cd .. && touch "$PWD/a"', root="/ws")


def test_the_disk_settles_where_cd_and_cp_lead(tmp_path):
    world = Scratch(tmp_path / "base").world()
    assert writes("cd src; touch a") == [("src", "a"), ("", "a")]
    assert writes("cd src; touch a", filesystem=world) == [("src", "a")]
    assert writes("cp top.txt docs") == [("", "docs"), ("", "docs/top.txt")]
    assert writes("cp top.txt docs", filesystem=world) == [("", "docs/top.txt")]
    assert writes("cp top.txt a.ts") == [("", "a.ts")]


def test_a_symbolic_link_counts_as_its_target_where_nobody_can_follow_it(tmp_path):
    world = Scratch(tmp_path / "base").world()
    assert writes("ln -s ../top.txt l.txt") == [("", "../top.txt"), ("", "l.txt")]
    assert writes("ln -s ../top.txt docs/l.txt") == [("", "docs/../top.txt"), ("", "docs/l.txt")]
    assert writes("ln -s ../top.txt docs/l", filesystem=world) == [("", "docs/l")]
    assert reads("ln -s ../top.txt docs/l", filesystem=world) == [("", "docs/../top.txt")]
    assert writes("ln -s ../../x docs/l", filesystem=world) == [("", "docs/../../x"), ("", "docs/l")]


def test_a_tree_that_is_copied_writes_through_the_links_in_its_way(tmp_path):
    scratch = Scratch(tmp_path / "base")
    (scratch.root / "docs" / "l").symlink_to("../top.txt")
    assert writes("cp -r src/. docs", filesystem=scratch.world()) == [("", "docs"), ("", "docs/l")]
    assert writes("cp -r src/b.txt docs", filesystem=scratch.world()) == [("", "docs/b.txt")]


def test_wildcards_are_looked_up_on_disk(tmp_path):
    world = Scratch(tmp_path / "base").world()
    assert reads("cat src/auth/*.ts", filesystem=world) == [("", "src/auth/a.ts"), ("", "src/auth/b.ts")]
    assert reads("cat src/*/[ab].t?", filesystem=world) == [("", "src/auth/a.ts"), ("", "src/auth/b.ts")]
    assert reads("cat src/auth/*.ts") == [("", "src/auth")]
    assert reads("cat *a*b*c*d*e*", filesystem=world) == []
    assert reads("cat /etc/*", filesystem=world) == [("", "/etc")]


def test_a_wildcard_that_matches_too_much_is_its_folder(tmp_path):
    scratch = Scratch(tmp_path / "base")
    for number in range(501):
        (scratch.root / "empty" / str(number)).touch()
    assert reads("cat empty/*", filesystem=scratch.world()) == [("", "empty")]


# ---- spans and verdicts


@pytest.mark.parametrize(
    ("command", "verdicts"),
    [
        ("ls; touch a", ["reads", "writes"]),
        ("rm a | mv b c", ["deletes", "moves"]),
        ("chmod +x a && ln a b", ["writes", "writes"]),
        ("make; foo $x; sort --frob", ["runs", "runs", "unknown"]),
        ("echo $(rm a)", ["unknown", "deletes"]),
        ("echo a > b", ["writes"]),
        ("for f in a b; do ls; done", ["reads"]),
        ("[ a > b ]", ["writes"]),
    ],
)
def test_every_simple_command_is_a_part(command, verdicts):
    assert [part.verdict for part in analyse(command).parts] == verdicts


def test_spans_count_code_points():
    command = "echo 'é日' > ü.txt; rm naïve"
    analysis = analyse(command)
    assert [command[path.start : path.end] for path in analysis.writes] == ["ü.txt", "naïve"]
    assert [command[part.start : part.end] for part in analysis.parts] == ["echo 'é日'", "rm naïve"]


def test_an_unknown_marks_its_word():
    command = 'touch a; rm "$x" b'
    (unknown,) = analyse(command).unknown
    assert command[unknown.start : unknown.end] == unknown.text == '"$x"'


def test_reads_are_told_beside_writes():
    assert reads("cp .env src/a") == [("", ".env")]
    assert reads("cat < a > b") == [("", "a")]
    assert reads("grep -f a b; test -f c; [ -d d ]; [[ -e e ]]") == [("", name) for name in "abcde"]
    assert reads("git show HEAD:a b") == [("", "."), ("", "a"), ("", "b")]
    assert reads("git show HEAD:./a", cwd="src") == [("src", "."), ("src", "./a")]
    assert reads("tar -cf x -C src a b /c") == [("", "src/a"), ("", "src/b"), ("", "/c")]
    assert reads("ls") == reads("find") == reads("grep -r x") == reads("rg x") == reads("fd x") == [("", ".")]


# ---- the workspace's own safe commands

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
    assert not whys("pytest > out.txt", safe_commands=LISTED)


def test_an_empty_pattern_lists_nothing():
    assert not analyse("pytest", safe_commands=("", " ")).safe


# ---- strings that run as commands, and too many wrappers


def test_a_string_is_judged_but_never_trusted():
    analysis = analyse("bash -c 'cd src && rm a'")
    assert [path.raw for path in analysis.writes] == ["a"]
    assert analysis.unknown


def test_a_string_in_an_unknown_folder_names_nothing():
    assert writes("cd $x; eval 'touch a'") == []


# ---- Windows


@pytest.mark.parametrize(
    "command",
    [
        "Get-Content README.md",
        "gc -Path src\\a.ts -TotalCount 5",
        "Get-ChildItem -Recurse -Filter *.ts | Select-Object -First 3",
        "ls src | sort",
        "dir",
        "pwd",
        "git status",
        "Select-String -Pattern 'a b' -Path src/a.ts",
        'Write-Output "hi" ',
    ],
)
def test_powershell_that_looks_is_safe(command):
    assert analyse_powershell(command).safe


@pytest.mark.parametrize(
    "command",
    [
        "Remove-Item a",
        "ri a",
        "Get-Content a > b",
        "Get-Content a; rm b",
        "Get-Content $x",
        "Get-Content (rm a)",
        "Get-Content a | Out-File b",
        "Get-Content a |",
        "Get-Content -Foo a",
        "Get-Content -Path",
        "git push",
        "sed -n 1p a",
        "Get-Content 'a'b",
        "",
        "Get-Content a\nrm b",
        "Get-Content a\0",
    ],
)
def test_powershell_that_may_do_more_is_unknown(command):
    analysis = analyse_powershell(command)
    assert analysis.unknown
    assert not analysis.safe


def test_powershell_reads_below_a_wildcard():
    assert [path.raw for path in analyse_powershell("Get-Content src/a/*.ts").reads] == ["src/a"]
    assert [path.raw for path in analyse_powershell("Get-Content 'src/*.ts'").reads] == ["src"]


def test_cmd_has_its_own_names():
    assert analyse_cmd("type src\\a.ts").safe
    assert analyse_cmd("DIR").safe
    assert not analyse_cmd("gc a").safe
    assert not analyse_cmd("del a").safe
    assert [path.raw for path in analyse_cmd("dir").reads] == ["."]


# ---- folders that are made


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("mkdir new", [("new", "folder")]),
        ("mkdir -p new/deep", [("new", "folder"), ("new/deep", "folder")]),
        ("install -d new/deep", [("new", "folder"), ("new/deep", "folder")]),
        ("install -D top.txt new/x", [("new", "folder"), ("new/x", "write")]),
        (
            "cd src && mkdir auth/more && touch auth/more/x",
            [("auth/more", "folder"), ("auth/more/x", "write")],
        ),
    ],
)
def test_a_folder_that_is_made_is_no_file_that_is_written(command, expected, tmp_path):
    world = Scratch(tmp_path).world()
    made = analyse(command, root="/ws", filesystem=world).writes
    assert sorted((path.raw, path.op) for path in made) == expected


def test_a_folder_made_through_a_link_of_the_same_command_is_not_known():
    assert "may be written through a link that the same command makes" in whys("ln -s src x; mkdir -p x/y")
    assert "may be written through a link that the same command makes" in whys("ln -s src x; mkdir x")


class Crowded(UnknownFilesystem):
    """A disk with more files than anybody looks through."""

    def is_dir(self, path):
        return True


def test_a_copy_into_a_crowded_folder_is_not_known():
    assert whys("cp -r src/. docs", filesystem=Crowded()) == ["too many files to look for links among them"]
    assert whys("cp top.txt docs/a.txt", filesystem=Crowded()) == []


def test_a_brace_that_the_parser_would_read_too_far_never_gets_there():
    assert whys("echo {1\u4e2d") == ["a brace before a letter that the parser cannot hold"]


def test_where_no_folder_is_told_a_windows_command_begins_at_the_top():
    for analysis in (analyse_powershell("Get-Content a"), analyse_cmd("type a")):
        assert [(path.cwd, path.raw) for path in analysis.reads] == [("", "a")]


def test_a_word_that_is_too_long_is_marked_alone():
    long = "a" * 9_000 + "{b,c}"
    (unknown,) = analyse(f"touch b; cat {long}").unknown
    assert (unknown.text, unknown.reason) == (long, "a word longer than any path")


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("Get-Content a\ud800", "the command is not valid Unicode"),
        ("Get-Content a |", "more than a plain Windows command"),
        ("| Get-Content a", "more than a plain Windows command"),
    ],
)
def test_why_a_windows_command_is_not_understood(command, why):
    assert [unknown.reason for unknown in analyse_powershell(command).unknown] == [why]


def test_without_a_disk_a_hidden_name_may_be_a_folder_and_one_with_an_ending_is_none():
    assert writes("cp b.txt .new") == [("", ".new"), ("", ".new/b.txt")]
    assert writes("cp b.txt new.") == [("", "new.")]
    assert writes("cp b.txt .new.ts") == [("", ".new.ts")]
