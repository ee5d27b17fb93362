"""Shell calls: their command lines, the folder they run in, and what is unknown about them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from controlplane.policy.calls import shell_targets
from controlplane.policy.calls.targets import find_targets
from controlplane.policy.model import Place, Policy, ToolClass
from controlplane.policy.shell import ShellAnalysis
from tests.policy.builders import bash, call, judge, no_intent, said, snapshot


def found(the_call, **policy):
    return find_targets(the_call, Policy(**policy))


def test_a_shell_is_classed_by_its_command():
    assert found(bash("ls")).tool_class is ToolClass.SAFE
    assert found(bash("echo x > a.ts")).tool_class is ToolClass.DESTRUCTIVE
    assert (
        found(call("run_commands", {"commands": ["ls", "echo x > a.ts"]}, agent="cline")).tool_class
        is ToolClass.DESTRUCTIVE
    )
    assert found(call("run_commands", {"commands": ["ls", "ls"]}, agent="cline")).tool_class is ToolClass.SAFE


def test_a_shell_that_policy_calls_destructive_needs_an_intent_even_to_read():
    classes = {"tool_classes": (("Bash", ToolClass.DESTRUCTIVE),)}
    assert found(bash("ls"), **classes).tool_class is ToolClass.DESTRUCTIVE


def test_a_vector_of_arguments_is_one_command():
    effect = found(call("shell", {"command": ["rm", "-rf", "src/billing"]}))
    assert [named.raw for named in effect.writes] == ["src/billing"]


def test_a_command_runs_in_the_folder_that_it_names():
    decision = judge(bash("echo x > a.ts", cwd="src"), snapshot("src/**"))
    assert [target.path for target in decision.targets] == ["src/a.ts"]
    moved = call("run_shell_command", {"command": "echo x > a.ts", "dir_path": "src"}, cwd="/home/ada/shop")
    assert [target.path for target in judge(moved, snapshot("src/**")).targets] == ["src/a.ts"]


def test_a_folder_outside_the_workspace_is_refused():
    assert said(judge(bash("ls", cwd="../x"), no_intent())) == (
        "deny",
        "SCOPE_VIOLATION",
        "outside_workspace",
    )
    assert said(judge(bash("echo x > a", cwd="../x"), snapshot("**")))[:2] == ("deny", "SCOPE_VIOLATION")
    assert said(judge(bash("ls", cwd=5), snapshot("**"))) == ("deny", "HOOK_BLOCKED", "invalid_input")
    assert said(judge(bash("echo x > a", cwd="/etc"), snapshot("**")))[2] == "outside_workspace"
    assert said(judge(replace(bash("cat a", cwd="x"), cwd="/etc"), no_intent()))[2] == "outside_workspace"


def test_the_folder_of_a_command_may_be_spelled_as_a_folder():
    for folder in ("src/", "./src", "src/../src"):
        assert said(judge(bash("echo x > a.ts", cwd=folder), snapshot("src/**"))) == ("allow", None, None)


@pytest.mark.parametrize(
    ("cwd", "folder", "path"),
    [
        (None, "/etc", "/etc/a"),
        ("/home/ada/shop/src", "/etc", "/etc/a"),
        ("/home/ada/shop/src", "~", "~/a"),
        ("/etc", "x", "/etc/x/a"),
        (None, "../x", "/home/ada/x/a"),
    ],
)
def test_a_file_in_a_folder_outside_is_named_with_it(cwd, folder, path):
    the_call = replace(bash("echo x > a", cwd=folder), cwd=cwd)
    (named,) = found(the_call).writes
    assert f"{named.cwd or ''}/{named.raw}".lstrip("/") == path.lstrip("/")


def test_a_command_in_the_background_is_never_safe():
    effect = found(call("Monitor", {"command": "ls"}))
    assert effect.tool_class is ToolClass.DESTRUCTIVE
    assert not effect.unknown
    assert found(call("Monitor", {"ws": "wss://x"})).unknown


def test_what_types_into_an_open_shell_is_unknown():
    decision = judge(call("write_stdin", {"chars": "rm -rf /\n"}, agent="codex"), snapshot("**"))
    assert said(decision) == ("ask", "SCOPE_VIOLATION", "unknown_target")


def test_an_analysis_that_says_nothing_is_unknown(monkeypatch):
    monkeypatch.setattr(shell_targets, "analyse", lambda *_, **__: ShellAnalysis(safe=False))
    assert said(judge(bash("ls"), snapshot("**")))[2] == "unknown_target"
    (unknown,) = found(bash("ls")).unknown
    assert (unknown.text, unknown.reason) == ("ls", "what this command changes is not known")


def test_on_windows_a_shell_is_powershell_unless_it_is_bash_by_name(monkeypatch):
    seen = []

    def analyser(name):
        return lambda *_, **__: seen.append(name) or ShellAnalysis(safe=True)

    monkeypatch.setattr(shell_targets, "analyse", analyser("bash"))
    monkeypatch.setattr(shell_targets, "analyse_powershell", analyser("powershell"))
    for tool, root in (("Bash", "C:\\shop"), ("execute_command", "C:\\shop"), ("execute_command", "/shop"),
                       ("execute_command", "\\\\host\\shop"), ("PowerShell", None), ("Bash", None)):  # fmt: skip
        found(call(tool, {"command": "ls"}, root=root))
    assert seen == ["bash", "powershell", "bash", "powershell", "powershell", "bash"]


def test_powershell_is_not_read_as_bash():
    effect = found(call("PowerShell", {"command": "Get-ChildItem | Remove-Item"}))
    assert effect.tool_class is ToolClass.DESTRUCTIVE


def test_every_folder_that_a_command_may_start_in_counts():
    for data in ({"cwd": "src", "workdir": "docs"}, {"workdir": "docs", "cwd": "src"}):
        decision = judge(call("shell", {"command": ["touch", "a"], **data}), snapshot("src/**"))
        assert [target.path for target in decision.targets] == ["src/a", "docs/a"]
        assert said(decision)[2] == "not_in_scope"


@pytest.mark.parametrize("root", ["C:\\shop", "C:\\work\\shop", "\\\\host\\share\\shop", "/home/ada/shop"])
@pytest.mark.parametrize(
    "command",
    [
        "cd .. && cat x",
        "cd .. && touch x",
        "cd ../other && ls",
        "git -C .. status",
        "cd src && cd ../.. && touch x",
        "cd '..\\' && touch x",
        "(cd ..; ls)",
    ],
)
def test_a_step_out_of_the_workspace_is_one_from_any_root(root, command):
    assert judge(replace(bash(command), root=root), snapshot("**")).verdict.value != "allow"
    back = replace(bash("cd ../shop && touch src/x"), root=root)
    assert said(judge(back, snapshot("src/**"))) == ("allow", None, None)


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("gc a,.env", ["a", ".env"]),
        ("gc a, .env", ["a", ".env"]),
        ("type a=.env", ["a=.env", "a", ".env"]),
        ("gc 'a,b'", ["a,b"]),
    ],
)
def test_commas_part_the_files_of_a_windows_command(command, files):
    the_call = call("PowerShell", {"command": command}, root="C:\\shop")
    assert [target.path for target in judge(the_call, no_intent()).reads] == files
    assert found(call("PowerShell", {"command": "gc ,"})).unknown


def test_a_request_to_a_host_that_policy_lists_fetches():
    the_call = bash("curl -s https://example.org/a")
    assert [effect.effect for effect in found(the_call).effects] == ["browses"]
    assert [effect.effect for effect in found(the_call, hosts=("example.org",)).effects] == ["fetches"]
    assert found(the_call, hosts=("example.org",)).tool_class is ToolClass.SAFE
    assert [effect.effect for effect in found(bash("ping a"), hosts=("a",)).effects] == ["browses"]


@pytest.mark.parametrize(
    ("command", "places", "verdict"),
    [
        ("cd ..", (), "ask"),
        ("cd /tmp", (), "ask"),
        ("cd /tmp", (Place("/tmp/**", "read"),), "allow"),
        ("cd ~/notes", (Place("~/notes/**", "read"),), "allow"),
        ("cd src && cd ..", (), "allow"),
        ("(cd ..)", (), "allow"),
        ("cd ../shop", (), "allow"),
    ],
)
def test_a_shell_that_stays_outside_is_told(command, places, verdict):
    policy = Policy(places=places)
    assert judge(bash(command), snapshot("src/**", policy=policy)).verdict == verdict
    everywhere = Policy(reads_outside_workspace="allow")
    assert judge(bash(command), snapshot("src/**", policy=everywhere)).verdict == "allow"


@pytest.mark.parametrize(
    ("tool", "shell", "known"),
    [
        ("Bash", None, True),
        ("execute_command", None, False),
        ("Bash", "/bin/bash", True),
        ("Bash", "dash", False),
        ("Bash", "sh", False),
        ("Bash", "ksh", False),
        ("execute_command", "bash", True),
    ],
)
def test_the_shell_that_a_call_names_is_the_one_that_reads_it(tool, shell, known):
    data = {"command": "[[ 2 > 1 ]]", **({"shell": shell} if shell else {})}
    assert (not found(call(tool, data)).unknown) is known
