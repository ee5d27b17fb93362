"""PowerShell and cmd.exe: a few read-only commands; anything else is unknown."""

from __future__ import annotations

import pytest

from controlplane.policy.shell import analyse_cmd, analyse_powershell


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


def test_where_no_folder_is_told_a_windows_command_begins_at_the_top():
    for analysis in (analyse_powershell("Get-Content a"), analyse_cmd("type a")):
        assert [(path.cwd, path.raw) for path in analysis.reads] == [("", "a")]


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("Get-Content a\ud800", "the command is not valid Unicode"),
        ("Get-Content a |", "only plain PowerShell and cmd commands are understood"),
        ("| Get-Content a", "only plain PowerShell and cmd commands are understood"),
    ],
)
def test_why_a_windows_command_is_not_understood(command, why):
    assert [unknown.reason for unknown in analyse_powershell(command).unknown] == [why]
