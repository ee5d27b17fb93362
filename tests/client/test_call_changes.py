"""What the hook adds after a tool has run: the lines that an edit changed, the files that a command left."""

from __future__ import annotations

import hashlib
import json

import pytest

TEN_LINES = "".join(f"line {number}\n" for number in range(1, 11))
EDITED = TEN_LINES.replace("line 5\n", "line five\nline five and a half\n")


def sha(text):
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


HI = sha("hi\n")
OLD, NEW = "line 4\nline 5\nline 6", "line 4\nline five\nline five and a half\nline 6"


def claude(path, **edit):
    return "claude-code", "PostToolUse", {"tool_name": "Edit", "tool_input": {"file_path": path, **edit}}


def copilot(path, old, new):
    return (
        "copilot",
        "postToolUse",
        {"toolName": "edit", "toolArgs": {"path": path, "old_str": old, "new_str": new}},
    )


def opencode(path, old, new):
    args = {"filePath": path, "oldString": old, "newString": new}
    return (
        "opencode",
        "tool.execute.after",
        {"input": {"tool": "edit", "args": args}, "output": {"title": path}},
    )


@pytest.fixture(scope="module")
def tokens(server):
    return server.workspace("changes")


@pytest.fixture
def sent(machine, stub):
    """Run a hook after a tool and return what it added to the payload."""

    def run(agent, event, payload):
        machine.connect(agent, stub.url)
        machine.hook(agent, event, payload={"session_id": "s-1", **payload})
        return stub.payload()["icp"]

    return run


@pytest.mark.parametrize("client", [claude, copilot, opencode], ids=lambda client: client.__name__)
def test_the_lines_that_an_edit_changed_are_sent(machine, sent, client):
    (machine.repository / "a.ts").write_text(EDITED)
    old, new = {"old_string": OLD}, {"new_string": NEW}
    call = client("a.ts", **old, **new) if client is claude else client("a.ts", OLD, NEW)
    assert sent(*call)["changed_lines"] == {"a.ts": [5, 6]}


def test_several_edits_are_one_range(machine, sent):
    text = TEN_LINES.replace("line 2\n", "two\n").replace("line 9\n", "nine\n")
    (machine.repository / "a.ts").write_text(text)
    edits = [{"old_string": "line 2", "new_string": "two"}, {"old_string": "line 9", "new_string": "nine"}]
    assert sent(*claude("a.ts", edits=edits))["changed_lines"] == {"a.ts": [2, 9]}


def test_each_hunk_is_sent_with_hashes_of_what_it_brought_and_took(machine, sent):
    text = TEN_LINES.replace("line 2\n", "two\n").replace("line 8\nline 9\n", "line 8\n")
    (machine.repository / "a.ts").write_text(text)
    edits = [
        {"old_string": "line 2", "new_string": "two"},
        {"old_string": "line 8\nline 9\n", "new_string": "line 8\n"},
    ]
    changed, deleted = sent(*claude("a.ts", edits=edits))["line_changes"]["a.ts"]
    assert changed == {
        "start_line": 2, "line_count": 1, "content_hash": sha("two\n"),
        "previous_line_count": 1, "previous_hash": sha("line 2\n"),
    }  # fmt: skip
    assert deleted == {
        "start_line": 9, "line_count": 0, "content_hash": sha(""),
        "previous_line_count": 1, "previous_hash": sha("line 9\n"),
    }  # fmt: skip


UNKNOWN = {
    "in two places": ("x\nx\n", {"old_string": "y", "new_string": "x"}),
    "everywhere": ("x\n", {"old_string": "y", "new_string": "x", "replace_all": True}),
    "only deleted": ("a\nb\n", {"old_string": "gone\n", "new_string": ""}),
    "not there any more": ("other\n", {"old_string": "y", "new_string": "x"}),
    "not a text": (b"\xff\xfe x", {"old_string": "y", "new_string": "x"}),
    "no file": (None, {"old_string": "y", "new_string": "x"}),
    "outside": (None, {"old_string": "root", "new_string": "daemon"}),
}


@pytest.mark.parametrize("reason", UNKNOWN)
def test_lines_that_are_not_known_are_not_sent(machine, sent, reason):
    content, edit = UNKNOWN[reason]
    if content is not None:
        data = content if isinstance(content, bytes) else content.encode()
        (machine.repository / "a.ts").write_bytes(data)
    path = "/etc/passwd" if reason == "outside" else "a.ts"
    added = sent(*claude(path, **edit))
    assert not {"changed_lines", "line_changes"} & set(added)


COMMANDS = {
    "echo hi > src/sh.ts": "src/sh.ts",
    "cd src && echo hi >sh.ts": "src/sh.ts",
    "tee -a 'src/sh.ts' <<< hi": "src/sh.ts",
    "cp a.ts src/sh.ts && cat src/sh.ts": "src/sh.ts",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_files_that_a_command_names_are_hashed_after_it(machine, sent, command):
    (machine.repository / "src").mkdir()
    (machine.repository / "src/sh.ts").write_text("hi\n")
    payload = {"tool_name": "Bash", "tool_input": {"command": command}}
    hashes = sent("claude-code", "PostToolUse", payload)["current_content_hashes"]
    assert hashes[COMMANDS[command]] == HI


def test_before_a_command_nothing_of_it_is_hashed(machine, stub):
    (machine.repository / "sh.ts").write_text("hi\n")
    machine.connect("claude-code", stub.url)
    machine.hook("claude-code", payload={"tool_name": "Bash", "tool_input": {"command": "echo hi > sh.ts"}})
    assert stub.payload()["icp"]["current_content_hashes"] == {}


@pytest.mark.parametrize("client", [copilot, opencode], ids=lambda client: client.__name__)
def test_the_lines_reach_the_ledger(connected, server, tokens, client):
    session = f"s-{client.__name__}"
    agent, event, payload = client(f"{connected.repository}/src/auth/a.ts", OLD, NEW)
    done = connected.icp("connect", agent, "--url", server.url, ICP_TOKEN=tokens["agent"])
    assert done.returncode == 0, done.stderr
    file = connected.repository / "src/auth/a.ts"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(EDITED)
    server.select(tokens["agent"], session)
    if agent == "copilot":
        payload |= {"sessionId": session, "toolResult": {"resultType": "success"}}
    else:
        payload["input"] |= {"sessionID": session, "callID": "c-1"}
    assert connected.hook(agent, event, payload=payload).stderr == ""
    assert ranges(server, tokens, session) == [("src/auth/a.ts", 5, 6)]
    server.api(tokens["agent"], "POST", f"sessions/{session}/end")


def test_a_command_that_wrote_is_in_the_ledger(connected, server, tokens):
    file = connected.repository / "src/auth/sh.ts"
    file.parent.mkdir(parents=True, exist_ok=True)
    server.select(tokens["agent"], "s-shell")
    call = {
        "session_id": "s-shell",
        "tool_name": "Bash",
        "tool_input": {"command": "cd src && echo hi > auth/sh.ts"},
    }
    assert json.loads(connected.hook("claude-code", payload=call).stdout) == {}
    file.write_text("hi\n")
    assert connected.hook("claude-code", "PostToolUse", payload=call | {"tool_response": {}}).stderr == ""
    _, traces = server.api(tokens["reviewer"], "GET", "traces?session=s-shell")
    (entry,) = traces["results"]
    (written,) = entry["files"]
    assert written["relative_path"] == "src/auth/sh.ts"
    server.api(tokens["agent"], "POST", "sessions/s-shell/end")


def ranges(server, tokens, session):
    _, traces = server.api(tokens["reviewer"], "GET", f"traces?session={session}")
    return [
        (file["relative_path"], lines["start_line"], lines["end_line"])
        for entry in traces["results"]
        for file in entry["files"]
        for conversation in file["conversations"]
        for lines in conversation["ranges"]
    ]
