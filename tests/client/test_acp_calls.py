"""What an agent asks its editor for, as the calls that the gate judges."""

from __future__ import annotations

import pytest

from controlplane.client.acp.calls import (
    is_unknown_file_request,
    read_file_request,
    read_permission_request,
)
from controlplane.client.acp.modes import ModeRule

DIFF = {"type": "diff", "path": "/r/a.ts", "oldText": "1", "newText": "2"}
WRITE = ("write_file", {"path": "/r/a.ts", "content": "2"})


def text(content):
    return [{"type": "content", "content": {"type": "text", "text": content}}]


CASES = {
    "a difference": ({"kind": "edit", "content": [DIFF]}, [WRITE]),
    "a path of the input besides": (
        {"kind": "edit", "content": [DIFF], "rawInput": {"file_path": "/r/b.ts"}},
        [WRITE, ("write_file", {"path": "/r/b.ts"})],
    ),
    "a place alone": ({"kind": "edit", "locations": [{"path": "/r/c"}]}, [("write_file", {"path": "/r/c"})]),
    "a deletion": ({"kind": "delete", "locations": [{"path": "/r/c"}]}, [("delete_file", {"path": "/r/c"})]),
    "a read": ({"kind": "read", "locations": [{"path": "/r/c"}]}, [("read_file", {"path": "/r/c"})]),
    "a search": ({"kind": "search", "rawInput": {"pattern": "x"}}, [("search_file_content", {"pattern": "x"})]),
    "a command": (
        {"kind": "execute", "title": "Run it", "rawInput": {"command": "rm a", "cwd": "/r/src"}},
        [("shell", {"command": "rm a", "cwd": "/r/src"})],
    ),
    "a command that is not shown": ({"kind": "execute", "title": "ls"}, [("acp: ls", {})]),
    "an address": ({"kind": "fetch", "title": "https://a.example"}, [("web_fetch", {"url": "https://a.example"})]),
    "a thought": ({"kind": "think", "title": "Ask a helper"}, []),
    "a thought in words": ({"kind": "think", "title": "Ask a helper", "content": text("Why?")}, []),
    "a tool of ours": ({"kind": "other", "title": "mcp__icp__select_active_intent"}, []),
    "a tool of ours with its input": (
        {"kind": "other", "title": "icp_record_lesson", "rawInput": {"file": "a.py", "problems": 'Use "command": x'}}, [],
    ),
    "a tool of ours as Gemini asks": (
        {"kind": "other", "title": "gate_status (icp MCP Server)", "content": text('{"approval_id": "1"}')}, [],
    ),
    "a tool of others": ({"kind": "other", "title": "deploy\nnow", "rawInput": {"to": "x"}}, [("acp: deploy now", {"to": "x"})]),
    "a change that names nothing": ({"kind": "edit", "title": "Edit"}, [("acp: Edit", {})]),
}  # fmt: skip


@pytest.mark.parametrize(("tool_call", "calls"), CASES.values(), ids=CASES)
def test_a_question_is_read_as_calls(tool_call, calls):
    assert read_permission_request(tool_call, "scripted") == calls


@pytest.mark.parametrize(
    ("content", "calls"),
    [
        (text("[in /r/src] (Lists it)"), [("shell", {"command": "ls", "cwd": "/r/src"})]),
        (text("[current working directory /r]"), [("shell", {"command": "ls", "cwd": "/r"})]),
        (text("Lists it"), [("acp: ls", {})]),
        ([], [("acp: ls", {})]),
    ],
)
def test_gemini_shows_a_command_as_its_title_and_the_directory_beside_it(content, calls):
    call = {"kind": "execute", "title": "ls", "content": content}
    assert read_permission_request(call, "gemini-cli") == calls


OURS = "gate_status (icp MCP Server)"
HOSTILE = {
    "a command with the name in a comment": {"kind": "execute", "title": "rm -rf src # gate_status"},
    "a command that is the name": {"kind": "execute", "title": "gate_status"},
    "a file of that name": {"kind": "edit", "title": "gate_status"},
    "a change of that name": {"kind": "other", "title": "gate_status", "content": [DIFF]},
    "a place besides": {"kind": "other", "title": "gate_status", "locations": [{"path": "/r/c"}]},
    "more than the name": {"kind": "other", "title": "gate_status; rm a"},
    "a line after the name": {"kind": "other", "title": "gate_status\n"},
    "no kind and more than the name": {"title": "deploy with mcp__icp__gate_status"},
    "a tool of another server": {"kind": "other", "title": "gate_status (other MCP Server)"},
    "another server that names ours": {"kind": "other", "title": "mcp__evil__icp__gate_status"},
    "a kind that nobody knows": {"kind": "deploy", "title": "gate_status"},
    "a command of another server's tool": {"kind": "other", "title": OURS, "rawInput": {"command": OURS}},
    "a command as text": {"kind": "other", "title": OURS, "content": text('{"cwd":"/","command":"x"}')},
    "a long input with a command": {
        "kind": "other", "title": OURS, "content": text("[Payload omitted due to length with parameters: a, command]"),
    },
    "a long input that is not shown whole": {
        "kind": "other", "title": OURS, "content": text("[Payload omitted due to length with parameters: a, b, c, d, e, ...]"),
    },
    "an input that is no object": {"kind": "other", "title": "gate_status", "rawInput": "rm a"},
    "a thought with a command": {"kind": "think", "title": "Hm", "rawInput": {"command": "rm a"}},
    "a thought with an input": {"kind": "think", "title": "Hm", "rawInput": ["rm a"]},
    "a thought with a place": {"kind": "think", "title": "Hm", "locations": [{"path": "/r/c"}]},
    "a thought with a change": {"kind": "think", "title": "Hm", "content": [DIFF]},
    "a thought with a terminal": {"kind": "think", "title": "Hm", "content": [{"type": "terminal", "terminalId": "t"}]},
    "a thought about our tool": {"kind": "think", "title": "gate_status", "rawInput": {"command": "rm a"}},
}  # fmt: skip


@pytest.mark.parametrize("tool_call", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("agent", ["gemini-cli", "scripted"])
def test_what_only_looks_like_a_tool_of_ours_or_a_thought_reaches_the_gate(tool_call, agent):
    assert read_permission_request(tool_call, agent) != []


def test_what_acts_under_the_name_of_a_tool_of_ours_is_judged_as_what_it_is():
    call = {"kind": "execute", "title": "rm -rf src # gate_status", "content": text("[in /r] (Asks)")}
    shell = ("shell", {"command": "rm -rf src # gate_status", "cwd": "/r"})
    assert read_permission_request(call, "gemini-cli") == [shell]


@pytest.mark.parametrize(
    "method",
    [
        "fs/delete", "fs/rename", "FS/write_text_file", " fs/write_text_file", "fs/write_text_file ",
        "fs//read_text_file", "/fs/delete", "_fs/delete", "fs.delete", "f\u200bs/delete", "\uff46\uff53/delete",
        "fs", "terminal/exec", "Terminal/Create", "terminal/create\n", "terminal\\create", ["fs/delete"],
    ],
)  # fmt: skip
def test_a_request_for_files_that_no_gate_knows(method):
    assert is_unknown_file_request(method)


@pytest.mark.parametrize(
    "method",
    [
        "fs/read_text_file", "terminal/create", "terminal/output", "terminal/release", "session/update",
        "session/request_permission", "$/cancel_request", "_zed.dev/fs", "fsync/now", None,
    ],
)  # fmt: skip
def test_a_request_that_is_passed_on_or_gated(method):
    assert not is_unknown_file_request(method)


def test_a_terminal_runs_words_or_a_line():
    words = {"command": "rm", "args": ["a b"], "cwd": "/r", "env": [{"name": "A", "value": "1"}]}
    assert read_file_request("terminal/create", words) == (
        "shell",
        {"command": "rm 'a b'", "cwd": "/r", "env": {"A": "1"}},
    )
    assert read_file_request("terminal/create", {"command": "rm a; ls"}) == ("shell", {"command": "rm a; ls"})


def test_only_modes_that_ask_may_be_set():
    rule = ModeRule()
    assert rule.choose("yolo", ["yolo", "autoEdit", "default"]) == "default"
    assert rule.allows("https://agentclientprotocol.com/protocol/session-modes#plan")
    assert not any(map(rule.allows, ("bypassPermissions", "acceptEdits", "auto", None)))
    with pytest.raises(LookupError, match="Name one with --mode"):
        rule.choose("turbo", ["turbo", "yolo"])
    assert ModeRule("turbo").choose("default", ["default", "turbo"]) == "turbo"
