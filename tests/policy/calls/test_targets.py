from __future__ import annotations

from dataclasses import replace

import pytest

from controlplane.policy.calls import input_fields, shell_targets
from controlplane.policy.calls.targets import find_targets
from controlplane.policy.model import Policy, ToolClass
from controlplane.policy.shell import ShellAnalysis
from tests.policy.builders import FakeFilesystem, bash, call, intent, judge, no_intent, said, snapshot
from tests.workload import bounded


def found(the_call, **policy):
    return find_targets(the_call, Policy(**policy))


def writes(the_call):
    return [(named.raw, named.op) for named in found(the_call).writes]


def reads(the_call):
    return [named.raw for named in found(the_call).reads]


CHANGING = [
        ("claude-code", "Write", {"file_path": "a", "content": "x"}, [("a", "write")]),
        ("claude-code", "MultiEdit", {"file_path": "a", "edits": []}, [("a", "write")]),
        ("claude-code", "NotebookEdit", {"notebook_path": "a.ipynb", "new_source": "x"}, [("a.ipynb", "write")]),
        ("roo", "write_to_file", {"path": "a", "content": "x"}, [("a", "write")]),
        ("roo", "apply_diff", {"args": "<file><path>a</path></file><file><path>b</path></file>"}, [("a", "write"), ("b", "write")]),
        ("roo", "apply_diff", {"diff": "--- a/x\n+++ b/x\n--- a/y\n+++ b/y\n"}, [("x", "write"), ("y", "write")]),
        ("roo", "apply_diff", {"files": [{"path": "a", "diff": "x"}, {"path": "b"}]}, [("a", "write"), ("b", "write")]),
        ("roo", "generate_image", {"path": "a.png", "prompt": "x"}, [("a.png", "write")]),
        ("cline", "editor", {"path": "a", "old_text": "x", "new_text": "y"}, [("a", "write")]),
        ("cline", "delete", {"path": "a"}, [("a", "delete")]),
        ("gemini-cli", "replace", {"file_path": "a", "old_string": "x"}, [("a", "write")]),
        ("qwen-code", "notebook_edit", {"notebook_path": "a.ipynb"}, [("a.ipynb", "write")]),
        ("opencode", "patch", {"filePath": "a", "edits": []}, [("a", "write")]),
        ("opencode", "apply_patch", {"patchText": "*** Add File: a\n+x"}, [("a", "write")]),
        ("codex", "apply_patch", {"command": "*** Update File: a\n*** Move to: b\n"}, [("a", "move"), ("b", "write")]),
        ("copilot", "apply_patch", "*** Begin Patch\n*** Delete File: a\n*** End Patch", [("a", "delete")]),
        ("copilot", "create", {"path": "a", "file_text": "x"}, [("a", "write")]),
        ("vscode", "editFiles", {"files": ["a", "b"]}, [("a", "write"), ("b", "write")]),
        ("vscode", "createDirectory", {"dirPath": "a/"}, [("a", "folder")]),
        ("cursor", "Delete", {"file_path": "a"}, [("a", "delete")]),
        ("cursor", "FetchMcpResource", {"uri": "x", "download_path": "a"}, [("a", "write")]),
        ("windsurf", "pre_write_code", {"file_path": "a", "edits": []}, [("a", "write")]),
        ("", "delete_file", {"path": "a/"}, [("a", "delete")]),
        ("", "delete_directory", {"path": "/"}, [("/.", "delete")]),
        ("", "move_file", {"source": "a", "destination": "b"}, [("a", "move"), ("b", "write")]),
        ("", "rename_file", {"from": "a", "to": "b"}, [("a", "move"), ("b", "write")]),
        ("", "move_file", {"path": "a", "new_path": "b", "file": "c"}, [("a", "move"), ("c", "move"), ("b", "write")]),
        ("", "apply_patch", {"path": "a", "old_string": "x", "new_string": "y"}, [("a", "write")]),
        ("", "apply_patch", {"patch": "*** Add File: a\n", "path": "b"}, [("a", "write"), ("b", "write")]),
        ("", "Write", {"file_path": "a", "path": "b", "content": "x"}, [("a", "write"), ("b", "write")]),
        ("", "Write", {"file_path": ["a"], "content": "x"}, [(["a"], "write")]),
        ("", "Frobnicate", {"path": "a", "paths": ["b", 5]}, [("a", "write"), ("b", "write"), (5, "write")]),
        ("", "Frobnicate", {"files": "a"}, [("a", "write")]),
        ("", "Frobnicate", {"options": [{"path": "a", "files": ["b", 5], "to": "c"}]}, [("a", "write"), ("b", "write")]),
        ("", "Frobnicate", {"path": "a", "x": {"path": "a"}}, [("a", "write")]),
        ("", "Frobnicate", {"x": {"file": "Report: Q3", "folder": "a/"}, "y": {"path": "/etc"}}, [("/etc", "write")]),
        ("", "Frobnicate", {"uri": "FILE://localhost/a", "x": {"url": "file:///b%20c"}}, [("/a", "write")]),
        ("roo", "apply_diff", {"args": "<path x='1'><![CDATA[a&amp;]]></path ><path>\n b&amp;c </path>"}, [("a&amp;", "write"), ("b&c", "write")]),
        ("roo", "apply_diff", {"path": "a", "diff": "--- a/b\n+++ b/b\n@@\n-x\n+y"}, [("a", "write"), ("b", "write")]),
        ("", "str_replace_editor", {"command": "create", "path": "a", "file_text": "x"}, [("a", "write")]),
        ("", "str_replace_editor", {"command": "view", "path": "a", "new_str": "x"}, [("a", "write")]),
        ("codex", "Bash", {"command": "apply_patch <<'E'\n*** Add File: a\n+x\nE\n"}, [("a", "write")]),
        ("codex", "shell", {"command": ["apply_patch", "*** Add File: a\n+x"]}, [("a", "write")]),
        ("codex", "shell", {"command": ["bash", "-lc", "apply_patch <<'E'\n*** Add File: a\n+x\nE"]}, [("a", "write")]),
]  # fmt: skip


@pytest.mark.parametrize(("agent", "tool", "data", "expected"), CHANGING)
def test_what_a_call_would_change(agent, tool, data, expected):
    assert writes(call(tool, data, agent=agent)) == expected


LOOKING = [
    ("", "Read", {"file_path": "a"}, ["a"]),
    ("", "Read", {}, []),
    ("", "Grep", {"pattern": "/etc/*", "path": None}, []),
    ("roo", "read_file", {"files": [{"path": "a", "line_ranges": []}, {"path": "b"}]}, ["a", "b"]),
    ("cline", "read_files", {"files": [{"path": "a"}]}, ["a"]),
    ("", "Glob", {"pattern": "**/*.ts"}, []),
    ("", "Glob", {"pattern": "/etc/*.conf"}, ["/etc"]),
    ("", "Glob", {"pattern": "/*"}, ["/"]),
    ("", "Glob", {"pattern": "../x/*", "path": "src"}, ["src", "src/../x"]),
    ("", "Glob", {"pattern": "/etc/*", "path": "src"}, ["src", "/etc"]),
    ("", "Glob", {"pattern": "*", "path": "src"}, ["src", "src/"]),
    ("", "Glob", {"pattern": "src/a.ts"}, ["src/a.ts"]),
    ("gemini-cli", "read_many_files", {"paths": ["a/*.ts", "b"]}, ["a", "b"]),
    ("gemini-cli", "read_many_files", {"include": [".env"]}, [".env"]),
    ("", "access_mcp_resource", {"uri": "x", "path": "/etc"}, []),
    ("", "str_replace_editor", {"command": "view", "path": "a"}, ["a"]),
    (
        "cline",
        "fetch_web_content",
        {"requests": [{"url": "file:///a"}, "junk", {"url": "http://b"}]},
        ["file:///a"],
    ),
    ("cursor", "FetchMcpResource", {"uri": "file:///a"}, ["file:///a"]),
    ("", "apply_patch", {"patch": "diff --git a/x b/y\ncopy from x\ncopy to y\n"}, ["x"]),
]


@pytest.mark.parametrize(("agent", "tool", "data", "expected"), LOOKING)
def test_what_a_call_would_read(agent, tool, data, expected):
    assert reads(call(tool, data, agent=agent)) == expected


@pytest.mark.parametrize(("agent", "tool", "data", "_expected"), CHANGING + LOOKING)
def test_every_file_is_named_from_the_folder_of_the_call(agent, tool, data, _expected):
    effect = found(replace(call(tool, data, agent=agent), cwd="src"))
    assert {named.cwd for named in (*effect.writes, *effect.reads)} <= {"src"}
    assert {named.op for named in effect.reads} <= {"read"}


@pytest.mark.parametrize(
    "data",
    [
        call("Read", {"file_path": "docs/.."}),
        call("LS", {"path": "src/"}),
        call("Glob", {"path": "src/", "pattern": "*"}),
    ],
)
def test_a_folder_may_be_looked_at_by_a_name_that_no_file_could_be_written_under(data):
    assert said(judge(data, no_intent())) == ("allow", None, None)


NO_OBJECT = "The tool's input must be a JSON object."
NO_PATH = "The input names no path."
NO_PATTERN = "A pattern must be a string or a list of strings."
STEPS_BACK = "The pattern [{}] goes up (`..`) or to another root after a wildcard. Begin at a folder without wildcards."
NO_PATCH = "A patch must be a non-empty string."
NO_COMMAND = "The input holds no command."
EMPTY_COMMAND = "A command must be a non-empty string."
NO_NAME = "The tool's name must be a non-empty string."
NO_MOVE = "A move names a source and a destination."


@pytest.mark.parametrize(
    ("tool", "data", "why"),
    [
        ("Write", "src/a.ts", NO_OBJECT),
        ("Write", None, NO_PATH),
        ("Write", [], NO_OBJECT),
        ("Write", {}, NO_PATH),
        ("Write", {"file_path": None}, NO_PATH),
        ("Read", {"file_path": None}, "A path must be a non-empty string."),
        ("Read", "a", NO_OBJECT),
        ("Glob", {"pattern": 5}, NO_PATTERN),
        ("Glob", {"pattern": []}, NO_PATTERN),
        ("Glob", {"pattern": "*/../../x"}, STEPS_BACK.format("*/../../x")),
        ("Glob", {"pattern": "{/etc,src}/x"}, STEPS_BACK.format("{/etc,src}/x")),
        ("apply_diff", {"diff": "x"}, NO_PATH),
        ("apply_diff", {}, NO_PATH),
        ("apply_patch", {}, NO_PATCH),
        ("apply_patch", {"patch": " "}, NO_PATCH),
        ("apply_patch", {"patch": ["x"]}, NO_PATCH),
        ("delete_file", {}, NO_PATH),
        ("move_file", {"source": "a"}, NO_MOVE),
        ("move_file", {"destination": "a"}, NO_MOVE),
        ("create_directory", {}, NO_PATH),
        ("Bash", {}, NO_COMMAND),
        ("Bash", {"command": None}, NO_COMMAND),
        ("Bash", {"command": ""}, EMPTY_COMMAND),
        ("Bash", {"command": " \n"}, EMPTY_COMMAND),
        ("Bash", {"command": []}, EMPTY_COMMAND),
        ("Bash", {"command": ["ls", 5]}, EMPTY_COMMAND),
        (None, {}, NO_NAME),
        ("", {}, NO_NAME),
        ({"name": "Read"}, {}, NO_NAME),
        ("Frobnicate", "x", NO_OBJECT),
    ],
)
def test_input_that_makes_no_sense_is_refused(tool, data, why):
    assert found(call(tool, data) if data is not None else call(tool, None)).input_error == why
    decision = judge(call(tool, data), snapshot("**"))
    assert said(decision)[1:] == ("HOOK_BLOCKED", "invalid_input")
    assert decision.verdict.value == "deny"
    assert why in decision.error


def test_a_text_that_is_no_patch_has_unknown_targets():
    assert said(judge(call("apply_patch", {"patch": "x"}), snapshot("**")))[2] == "unknown_target"


def test_a_carried_call_keeps_its_paths():
    data = {"server_name": "fs", "tool_name": "write", "arguments": {"path": "a"}}
    assert writes(call("use_mcp_tool", data)) == [("a", "write")]


def test_an_unknown_tool_is_judged_by_its_paths_and_yet_unknown():
    effect = found(call("mcp__fs__write_file", {"path": "src/a.ts"}))
    assert [named.raw for named in effect.writes] == ["src/a.ts"]
    assert [part.reason for part in effect.unknown] == ["the gate does not know all that this tool changes"]


def test_a_tool_declared_safe_reads_the_paths_that_it_names():
    safe = (("mcp__fs__read", ToolClass.SAFE),)
    the_call = call("mcp__fs__read", {"path": ".env"})
    assert [named.raw for named in found(the_call, tool_classes=safe).reads] == [".env"]
    decision = judge(the_call, no_intent(policy=Policy(tool_classes=safe), intentignore=".env\n"))
    assert said(decision) == ("ask", "INTENTIGNORE_PATH_BLOCKED", "intentignore")


def test_a_reading_tool_that_is_distrusted_may_change_what_it_names():
    distrust = (("Read", ToolClass.DESTRUCTIVE),)
    effect = found(call("Read", {"file_path": "a.ts"}), tool_classes=distrust)
    assert [(named.raw, named.op) for named in effect.writes] == [("a.ts", "write")]
    assert not effect.reads
    assert effect.unknown


def test_a_call_may_not_name_thousands_of_paths():
    many = call("apply_patch", {"patch": "".join(f"*** Add File: src/f{n}\n" for n in range(2001))})
    assert said(judge(many, snapshot("**"))) == ("deny", "HOOK_BLOCKED", "invalid_input")
    assert found(many).input_error == "The call names more than 2000 paths; make several calls of it."
    enough = call("apply_patch", {"patch": "".join(f"*** Add File: src/f{n}\n" for n in range(2000))})
    assert said(judge(enough, snapshot("**"))) == ("allow", None, None)


# --- shells ---------------------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("agent", "command"),
    [
        ("", "apply_patch <<'E'\n*** Add File: a\nE"),
        ("codex", "apply_patch <<E\n*** Add File: a\nE"),
        ("codex", "apply_patch <<'E'\n*** Add File: a\nE\nrm b\nE"),
        ("codex", "apply_patch <<'E'\n*** Add File: a\nE\nrm b"),
        ("codex", ["apply_patch", "*** Add File: a", "b"]),
        ("codex", ["zsh", "-c", "apply_patch <<'E'\n*** Add File: a\nE"]),
    ],
)
def test_what_a_shell_gets_to_see_is_no_patch(agent, command):
    assert found(call("Bash", {"command": command}, agent=agent)).unknown


def test_a_patch_of_the_shell_is_read_in_the_folder_of_the_command():
    patch = "*** Begin Patch\n*** Add File: a\n+x\n*** Frob\n*** End Patch"
    the_call = call("shell", {"command": ["apply_patch", patch], "workdir": "src"}, agent="codex")
    decision = judge(the_call, snapshot("src/**"))
    assert [target.path for target in decision.targets] == ["src/a"]
    assert said(decision)[2] == "unknown_target"


def test_what_a_carried_call_says_beside_its_arguments_counts():
    carried = {"server_name": "fs", "tool_name": "write", "arguments": {"path": "src/a"}}
    other = judge(call("use_mcp_tool", {**carried, "intent_id": "INT-002"}), snapshot("src/**"))
    assert said(other)[2] == "mismatch"
    world = FakeFilesystem.from_texts({"src/a": "x"})
    stale = call("use_mcp_tool", {**carried, "expected_content_hash": "sha256:" + "0" * 64})
    assert said(judge(stale, snapshot("src/**"), world))[2] == "hash_mismatch"


def test_arguments_of_a_carried_call_that_nest_too_deep_are_no_input():
    deep = {"server_name": "fs", "tool_name": "write", "arguments": "[" * 100_000}
    assert said(judge(call("use_mcp_tool", deep), snapshot("**"))) == (
        "deny",
        "HOOK_BLOCKED",
        "invalid_input",
    )


def test_a_tool_declared_safe_reads_nothing_under_a_deeper_key_that_it_may_not_read():
    trusted = Policy(tool_classes=(("mcp__fs__*", ToolClass.SAFE),))
    state = no_intent(policy=trusted, intentignore=".env\n")
    for data, reason in (
        ({"options": {"path": "/etc/passwd"}}, "outside_workspace"),
        ({"uri": "file:///etc/passwd"}, "outside_workspace"),
        ({"uri": "file:///%65tc"}, "invalid_path"),
        ({"args": [{"file": ".env"}]}, "intentignore"),
        ({"uri": "file:///home/ada/shop/a.ts", "options": {"path": "b"}}, None),
    ):
        assert said(judge(call("mcp__fs__look", data), state))[2] == reason


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


AIMED = ".env\n*.pem\nsecrets/\n/config/*.yml\n"


@pytest.mark.parametrize(
    ("tool", "key", "pattern", "reason"),
    [
        ("Bash", "command", "cat .env*", "intentignore"),
        ("Bash", "command", "cat [.]env", "intentignore"),
        ("Bash", "command", "head src/*.pem", "intentignore"),
        ("Bash", "command", "cat src/*.pem > out/x", "intentignore"),
        ("Bash", "command", "cat /home/ada/shop/*.pem", "intentignore"),
        ("Bash", "command", "cat README.* a.*.b src/**/*.ts config/* ./*", None),
        ("Bash", "command", "cat ..?* *\\:x *. ../shop/*", None),
        ("PowerShell", "command", "gc '*.pem'", "intentignore"),
        ("read_many_files", "include", ["a", "**/*.pem"], "intentignore"),
        ("Glob", "pattern", "config/*.yml", "intentignore"),
        ("Glob", "pattern", "secrets/**", "intentignore"),
        ("Glob", "pattern", "**/*.{ts,md}", None),
        ("Glob", "pattern", "*", None),
    ],
)
def test_a_wildcard_that_is_aimed_at_something_ignored_is_refused_where_nobody_can_look(
    tool, key, pattern, reason
):
    decision = judge(call(tool, {key: pattern}), snapshot("out/**", intentignore=AIMED))
    assert said(decision)[2] == reason
    assert not any("*" in target.path for target in decision.reads)


# --- placing --------------------------------------------------------------------------------------


def test_the_same_place_twice_is_one_target():
    decision = judge(call("Write", {"file_path": "src/a.ts", "path": "./src//a.ts"}), snapshot("src/**"))
    assert [target.path for target in decision.targets] == ["src/a.ts"]


def test_a_folder_that_is_moved_brings_all_below_it_along():
    world = FakeFilesystem(src__a__x="1")
    move = call("move_file", {"source": "src/a", "destination": "src/b"})
    assert said(judge(move, snapshot("src/**"), world)) == ("allow", None, None)
    narrow = intent("src/a", "src/a/**", "src/b")
    assert said(judge(move, snapshot(intent=narrow), world))[2] == "not_in_scope"
    assert said(judge(move, snapshot(intent=narrow)))[0] == "allow"  # nobody knows that it is a folder


# --- content --------------------------------------------------------------------------------------


def test_whole_content_of_every_spelling():
    for key in input_fields.CONTENT_KEYS:
        assert input_fields.get_content({key: "x"}) == "x"
    assert input_fields.get_content({}) == ""
    assert input_fields.get_content({"content": ["ä"]}) == '["ä"]'


@pytest.mark.parametrize(
    "the_call",
    [
        call("apply_diff", {"path": "src/a.ts", "diff": "<<<<<<< SEARCH\n" * 60_000}),
        call("apply_diff", {"path": "src/a.ts", "diff": "<<<<<<< SEARCH\n=======\n" * 40_000}),
        call("apply_patch", {"patch": "*** Update File: src/a\n" + "+x\n" * 300_000}),
        call("Edit", {"file_path": "package.json", "new_string": "\n" * 900_000}),
        call("Edit", {"file_path": "pyproject.toml", "new_string": '"a[' * 300_000}),
        call("Edit", {"file_path": "requirements.txt", "new_string": "a" * 900_000 + "!"}),
        call("Glob", {"pattern": "*/" + "../" * 100_000}),
        call("apply_diff", {"args": "<path>" * 150_000}),
        call("apply_patch", {"patch": "".join(f"*** Add File: f{n}\n" for n in range(50_000))}),
        call("editFiles", {"files": [f"f{n}" for n in range(100_000)]}, agent="vscode"),
        call("Write", {"file_path": "pyproject.toml", "content": "a." * 400_000 + "a = 1"}),
        call("Write", {"file_path": "package.json", "content": '{"a":' * 180_000}),
        call("Write", {"file_path": "a.ipynb", "content": "[" * 900_000}),
        call("Edit", {"file_path": "src/a", "diff": "--- a/x\n+++ b/x\n" + "@@\n-a\n+b\n" * 90_000}),
        call("Bash", {"command": "apply_patch <<'E'\n" + "\nE x" * 200_000}, agent="codex"),
        call("mcp__x__y", {"a": [{"file": f"f{n}"} for n in range(50_000)]}),
        call("Glob", {"pattern": "[*]" * 300_000}),
    ],
    ids=range(17),
)
def test_no_input_takes_long(the_call):
    """A mebibyte of anything, under constraints that look at every line."""
    own = intent(
        "**",
        constraints=(
            {"type": "no_new_dependency"},
            {"type": "library_version", "library": "x", "version": "1"},
            {"type": "forbid_pattern", "pattern": "(x+)+y"},
        ),
    )
    with bounded(500):  # 30 on a quiet machine; quadratic work takes thousands
        judge(the_call, snapshot(intent=own))


def test_what_is_only_read_says_so_and_stands_below_its_folder():
    fetched = found(call("WebFetch", {"url": "file:///etc/passwd"}))
    searched = found(call("Glob", {"pattern": "src/*.ts"}, cwd="/home/ada/shop/web"))
    trusted = found(call("mcp__x__look", {"path": "a"}), tool_classes=(("mcp__x__look", ToolClass.SAFE),))
    assert [(named.raw, named.op) for named in fetched.reads] == [("file:///etc/passwd", "read")]
    assert [(named.raw, named.cwd) for named in searched.reads] == [("src", "/home/ada/shop/web")]
    assert [(named.raw, named.op) for named in trusted.reads] == [("a", "read")]
