"""What an agent asks its editor for, as the calls that the gate judges."""

from __future__ import annotations

import pytest

from controlplane.client.acp.calls import read_file_request, read_permission_request
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
    "a tool of ours": ({"kind": "other", "title": "mcp__icp__select_active_intent"}, []),
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
