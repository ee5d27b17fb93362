"""`icp.py acp`: a scripted agent, a scripted editor, and the product's own server between them."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.client.acp_editor import SECONDS, Editor

AGENT = Path(__file__).with_name("acp_agent.py")
OPTIONS = [
    {"optionId": "once", "name": "Yes", "kind": "allow_once"},
    {"optionId": "always", "name": "Always", "kind": "allow_always"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]
ALLOWED = {"outcome": {"outcome": "selected", "optionId": "once"}}
REJECTED = {"outcome": {"outcome": "selected", "optionId": "no"}}


def start(machine, *options):
    command = [str(machine.config / "bin" / "icp.py"), "acp", *options, "--", sys.executable, str(AGENT)]
    return Editor(command, machine.repository, {"HOME": str(machine.home)})


@pytest.fixture
def tokens(server, request):
    return server.workspace("acp-" + "".join(filter(str.isalnum, request.node.name))[-30:].lower())


@pytest.fixture
def editor(connected, server, tokens):
    """An editor with an open session that has its intent."""
    editor = start(connected)
    editor.open()
    server.select(tokens["agent"], "repository-acp")
    yield editor
    editor.close()


def prompt(editor, *steps):
    """Have the agent ask for these in one turn. Return what it was answered."""
    result = editor.prompt(json.dumps(steps))
    editor.told = result["_meta"]["told"]
    return result["_meta"]["answers"]


def edit(path, title="Edit a file", **more):
    call = {"toolCallId": f"call-{path}", "kind": "edit", "title": title}
    call["content"] = [{"type": "diff", "path": path, "oldText": None, "newText": "x\n"}]
    return "session/request_permission", {"toolCall": call | more, "options": OPTIONS}


def run(command):
    call = {
        "toolCallId": f"call-{command}",
        "kind": "execute",
        "title": command,
        "rawInput": {"command": command},
    }
    return "session/request_permission", {"toolCall": call, "options": OPTIONS}


def waiting(server, tokens):
    return server.api(tokens["reviewer"], "GET", "approvals?status=PENDING")[1]["results"]


def decide(server, tokens, action):
    approval = waiting(server, tokens)[0]["id"]
    body = {"action": action, "grant": "once", "comment": "Not there."}
    return server.api(tokens["reviewer"], "POST", f"approvals/{approval}/decide", body)


def test_what_the_gate_allows_is_the_editors_to_ask_and_never_for_always(editor):
    editor.answers["session/request_permission"] = ALLOWED
    assert prompt(editor, edit("src/auth/a.ts"), run("ls src")) == [ALLOWED, ALLOWED]
    assert [option["optionId"] for option in editor.asked[0]["params"]["options"]] == ["once", "no"]
    editor.answers["session/request_permission"] = {"outcome": {"outcome": "selected", "optionId": "always"}}
    assert prompt(editor, edit("src/auth/b.ts")) == [{"outcome": {"outcome": "cancelled"}}]


def test_a_refused_call_is_not_asked_about_and_the_next_prompt_says_why(editor):
    assert prompt(editor, run("cat ../../etc/passwd")) == [REJECTED]
    assert editor.asked == []
    assert "outside" in json.dumps(editor.notes)
    prompt(editor)
    blocks = [block["text"] for block in editor.told[-1]["params"]["prompt"]]
    assert "INT-001" in blocks[0]
    assert blocks[1].startswith("A call of yours was refused:")


def test_what_the_queue_approves_runs_before_the_editor_answers(editor, server, tokens):
    editor.answers["fs/write_text_file"] = {}
    (editor.repository / "docs").mkdir()
    asking = threading.Thread(target=approve_when_asked, args=(editor, server, tokens))
    asking.start()
    write = ("fs/write_text_file", {"path": str(editor.repository / "docs/design.md"), "content": "x\n"})
    answers = prompt(editor, edit(str(editor.repository / "docs/design.md")), write)
    asking.join(SECONDS)
    assert answers[0] == ALLOWED
    assert editor.asked[-1]["method"] == "fs/write_text_file"  # the grant for once is that call's own
    assert editor.notes[-1]["method"] == "$/cancel_request"


def approve_when_asked(editor, server, tokens):
    until(lambda: editor.asked)
    assert "Scope Violation" in editor.asked[0]["params"]["toolCall"]["title"]
    assert decide(server, tokens, "approve")[0] == 200


def until(condition):
    for _ in range(600):
        if condition():
            return
        threading.Event().wait(0.1)
    raise AssertionError("it did not come")


def test_a_rejection_in_the_editor_counts_at_once(editor):
    editor.answers["session/request_permission"] = REJECTED
    assert prompt(editor, edit("docs/design.md")) == [REJECTED]


def test_a_reviewers_token_makes_the_editors_choice_the_decision(connected, server, tokens, tmp_path):
    token = tmp_path / "reviewer"
    token.write_text(tokens["reviewer"])
    token.chmod(0o600)
    editor = start(connected, "--decide-with", str(token))
    editor.open()
    server.select(tokens["agent"], "repository-acp")
    editor.answers["session/request_permission"] = ALLOWED
    assert prompt(editor, edit("docs/design.md")) == [ALLOWED]
    _, found = server.api(tokens["reviewer"], "GET", "approvals?status=APPROVED")
    assert found["results"][0]["comment"] == "Decided in the editor."
    editor.close()


def test_files_and_terminals_are_gated_and_recorded(editor, server, tokens):
    file = editor.repository / "src/auth/a.ts"
    file.parent.mkdir(parents=True)
    file.write_text("x\n")
    editor.answers = {"fs/write_text_file": {}, "terminal/create": {"terminalId": "t"}}
    write = {"path": str(file), "content": "x\n"}
    answers = prompt(
        editor,
        ("fs/write_text_file", write),
        ("terminal/create", {"command": "ls", "args": ["src"]}),
        ("fs/read_text_file", {"path": "/etc/passwd"}),
        ("terminal/create", {"command": "cat /etc/passwd"}),
    )
    assert answers[1] == {"terminalId": "t"}
    assert all(answer["code"] == -32000 for answer in answers[2:])
    assert [message["method"] for message in editor.asked] == ["fs/write_text_file", "terminal/create"]
    _, traces = server.api(tokens["reviewer"], "GET", "traces?path=src/auth/a.ts")
    assert len(traces["results"]) == 1


def test_a_request_for_files_that_the_gate_does_not_know_is_refused_with_words(editor):
    editor.answers = {"fs/delete": {}, "FS/Write_Text_File": {}, "terminal/output": {"output": "x"}}
    answers = prompt(
        editor,
        ("fs/delete", {"path": "src/auth/a.ts"}),
        ("FS/Write_Text_File", {"path": "docs/x", "content": "x"}),
        ("terminal/output", {"terminalId": "t"}),
    )
    assert [answer.get("code") for answer in answers] == [-32000, -32000, None]
    assert (
        "'fs/delete' is a request for files or terminals that the gate does not know" in answers[0]["message"]
    )
    assert [message["method"] for message in editor.asked] == ["terminal/output"]


def test_a_command_that_names_a_tool_of_ours_is_refused_like_any_other(editor):
    assert prompt(editor, run("cat ../../etc/passwd # gate_status")) == [REJECTED]
    assert editor.asked == []


def test_the_mode_is_pinned(connected, server, tokens):
    editor = start(connected)
    opened = editor.open()
    assert opened["modes"]["currentModeId"] == "default"
    assert [mode["id"] for mode in opened["modes"]["availableModes"]] == ["default"]
    answer = editor.request("session/set_mode", sessionId="repository-acp", modeId="yolo")
    assert "not known to ask" in answer["error"]["message"]
    change = {"update": {"sessionUpdate": "current_mode_update", "currentModeId": "yolo"}}
    prompt(editor, ("session/update", change))
    prompt(editor)
    modes = [each["params"]["modeId"] for each in editor.told if each.get("method") == "session/set_mode"]
    assert modes == ["default", "default"]
    assert editor.close() == 0
    _, sessions = server.api(tokens["reviewer"], "GET", "sessions")
    assert sessions["results"][0]["state"] == "ENDED"


def test_the_agent_gets_our_server_bound_to_its_session(editor):
    prompt(editor)
    server = next(each for each in editor.told if each.get("method") == "session/new")["params"][
        "mcpServers"
    ][0]
    variables = {each["name"]: each["value"] for each in server["env"]}
    assert Path(variables["ICP_SESSION_FILE"]).read_text() == "repository-acp"
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "gate_status", "arguments": {}},
    }
    home = str(Path(server["command"]).parents[2])
    said = subprocess.run(
        [server["command"], *server["args"]], input=json.dumps(call) + "\n", capture_output=True, text=True,
        env={"HOME": home, **variables}, check=True,
    )  # fmt: skip
    assert "repository-acp" in said.stdout
