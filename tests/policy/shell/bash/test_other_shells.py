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
        "touch src/{a/../x,b/../x}",
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
        "echo a = b",
    ],
)
def test_what_all_of_them_read_alike_is_known(command):
    assert all(is_known(command, shell) for shell in SHELLS_BY_NAME)


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
