"""What dash and zsh read otherwise than bash is unknown where one of them may run the command."""

from __future__ import annotations

import pytest

from controlplane.policy.shell import analyse
from controlplane.policy.shell.shells import SHELLS_BY_NAME
from tests.policy.shell.scratch import Scratch


def is_known(command, shell, **where):
    return not analyse(command, root="/ws", shells=SHELLS_BY_NAME[shell], **where).unknown


@pytest.mark.parametrize(
    "command",
    [
        "[[ a > docs/g.md ]]",
        "[[ a && make ]]",
        "[[ a =~ ^(b|c)$ ]]",
        "(( 1 > 2 ))",
        "for ((i = 0; i < 2; i++)); do :; done",
        "echo &> src/b.txt rm docs/g.md",
        "echo $'it\\'s; x'",
    ],
)
def test_dash_reads_it_otherwise(command):
    assert is_known(command, "bash")
    assert is_known(command, "zsh")
    assert not is_known(command, "dash")
    assert not is_known(command, "sh")


@pytest.mark.parametrize(
    "command",
    [
        "cd src && echo x >! ../docs/g.md",
        "echo x >>! docs/g.md",
        "echo x >&! docs/g.md",
        "cat =ls",
        'x=zz.env; cat "$x[3,6]"',
        "x=docs/.env; cat $x:t",
        "rm src/**/b.txt",
    ],
)
def test_zsh_reads_it_otherwise(command, tmp_path):
    filesystem = Scratch(tmp_path / "base").filesystem()
    assert is_known(command, "bash", filesystem=filesystem) or "**" in command
    assert not is_known(command, "zsh", filesystem=filesystem)


@pytest.mark.parametrize(
    "command",
    [
        "[[ -f a && ! -d b ]] && cat a",
        "grep '[[:space:]]' a",
        "cat [[:alpha:]]*",
        "echo '[[ a > b ]] (( &> >! =x'",
        "cat <<'E'\n[[ a > b ]] >! x\nE",
        "echo $((1 + 2))",
        "x=src; ls $x/auth ${x}[0-9] # (( >!",
        "touch src/{a,b}",
        "cat src/{a,b}",
        "for i in {1..3}; do echo $i; done",
        "grep $'\\t' a",
        "echo a = b",
    ],
)
def test_what_all_of_them_read_alike_is_known(command):
    assert all(is_known(command, shell) for shell in SHELLS_BY_NAME)


def written(command, shell):
    analysis = analyse(command, shells=SHELLS_BY_NAME[shell])
    assert not analysis.unknown
    return {path.raw for path in analysis.writes}


@pytest.mark.parametrize(
    ("command", "in_bash", "more_in_dash"),
    [
        ("touch src/{a,b}", {"src/a", "src/b"}, {"src/{a,b}"}),
        ("touch src/{a/../x,b}", {"src/a/../x", "src/b"}, {"src/{a/../x,b}"}),
        ("touch {1..1}", {"1"}, {"{1..1}"}),
        ("rm {-f,a}", {"a"}, {"{-f,a}"}),
        ("cp a.md {b,c}/d", {"c/d/a.md", "c/d/d"}, {"{b,c}/d"}),
        ("for i in {a,b}; do touch $i.md; done", {"a.md", "b.md"}, {"{a,b}.md"}),
        ("echo x > $'a\\x62'", {"ab"}, {"$a\\x62"}),
        ("touch {a,b}$'\\x62'", {"ab", "bb"}, {"{a,b}$\\x62", "{a,b}b"}),
        ("sh -c 'touch {a,b}'", {"a", "b", "{a,b}"}, set()),
    ],
)
def test_what_dash_writes_is_written_as_well(command, in_bash, more_in_dash):
    assert written(command, "bash") >= in_bash
    assert not written(command, "bash") & more_in_dash
    assert written(command, "sh") >= in_bash | more_in_dash


@pytest.mark.parametrize(
    "command",
    [
        "sh -c $'cat \\x27 > b \\x27'",
        "x=$'a\\x62'; touch $x",
        "{touch,rm} a",
        "$'touch' a",
        "eval $'touch a'",
        "find . -exec sh -c $'touch a' \\;",
        "ls | xargs sh -c $'touch a'",
        "git -c $'core.pager=x' log",
    ],
)
def test_code_that_dash_reads_otherwise_is_unknown(command):
    assert not is_known(command, "dash")
    assert not is_known(command, "sh")


def test_what_dash_would_write_is_reported_where_it_is_unknown():
    analysis = analyse("sh -c $'cat \\x27 > b \\x27'", shells=SHELLS_BY_NAME["sh"])
    assert {path.raw for path in analysis.writes} == {"b"}


def test_two_stars_are_any_depth_for_zsh(tmp_path):
    filesystem = Scratch(tmp_path / "base").filesystem()
    found = analyse("cat src/**/a.ts", shells=SHELLS_BY_NAME["zsh"], filesystem=filesystem)
    assert (found.reads[0].raw, found.reads[0].recursive) == ("src", True)
    assert [(each.raw, each.use) for each in found.patterns] == [("src/**/a.ts", "filter")]


def test_a_folder_of_the_stack_is_no_folder_that_is_known():
    assert analyse("cd +1").directories is None
    assert not is_known("cd +1; touch a", "zsh")


def test_dash_has_no_stack_of_folders(tmp_path):
    filesystem = Scratch(tmp_path / "base").filesystem()
    for shell, places in (("bash", ["src"]), ("dash", ["src", ""])):
        found = analyse("pushd src; touch a", shells=SHELLS_BY_NAME[shell], filesystem=filesystem)
        assert [path.cwd for path in found.writes] == places
    back = analyse("pushd src; popd; touch a", shells=SHELLS_BY_NAME["dash"], filesystem=filesystem)
    assert back.directories is None
