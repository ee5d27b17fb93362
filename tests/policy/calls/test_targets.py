"""Which paths a call writes and reads, by agent and tool."""

from __future__ import annotations

from dataclasses import replace

import pytest

from controlplane.policy.calls.targets import find_targets
from controlplane.policy.effects import Effect
from controlplane.policy.model import Policy, ToolClass
from tests.policy.builders import FakeFilesystem, call, intent, judge, no_intent, said, snapshot
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


def test_a_person_decides_about_a_call_that_names_many_hundred_paths():
    many = call("apply_patch", {"patch": "".join(f"*** Add File: src/f{n}\n" for n in range(501))})
    assert said(judge(many, snapshot("**"))) == ("ask", "SCOPE_VIOLATION", "unknown_target")
    assert found(many).unknown[0].reason == "the call names more than 500 paths; make several calls of it"
    enough = call("apply_patch", {"patch": "".join(f"*** Add File: src/f{n}\n" for n in range(500))})
    assert said(judge(enough, snapshot("**"))) == ("allow", None, None)


@pytest.mark.parametrize(
    ("tool", "tool_input"),
    [
        ("Read", {f"k{number}": "src/a" for number in range(5_001)}),
        ("Write", {"file_path": "src/a", "content": "", "x": [0] * 5_001}),
        ("Bash", {"command": "true", "x": [[0]] * 2_501}),
        ("mcp__any__tool", {"x": [{"a": 1}] * 2_501}),
        ("MultiEdit", {"file_path": "src/a", "edits": [{"old_string": "a", "new_string": "b"}] * 1_700}),
    ],
)
def test_a_person_decides_about_a_call_with_thousands_of_values(tool, tool_input):
    assert said(judge(call(tool, tool_input), snapshot("**"))) == ("ask", "SCOPE_VIOLATION", "unknown_target")


# --- shells ---------------------------------------------------------------------------------------


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


@pytest.mark.deep
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


def test_a_reading_tool_that_names_an_output_is_unknown_unless_its_server_vouches_for_it():
    download = call("mcp__store__get_file", {"url": "https://example.org/x", "output_path": "src/x"})
    assert [effect.effect for effect in found(download).effects] == [Effect.UNKNOWN]
    vouched = find_targets(download, Policy(), read_only_hints={"mcp:store.get_file": True})
    assert [effect.effect for effect in vouched.effects] == [Effect.FETCHES]
