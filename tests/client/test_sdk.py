"""The SDK as it is served, against that server and against servers that fail."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import hashlib
import importlib.util
import json
import sys
import threading
import urllib.request
from pathlib import Path

import pytest

from tests.client.machine import Reply


@pytest.fixture(scope="module")
def tokens(server):
    return server.workspace("acme")


@pytest.fixture(scope="module")
def sdk(server, tmp_path_factory):
    """The module, downloaded and imported."""
    file = tmp_path_factory.mktemp("sdk") / "icp_sdk.py"
    with urllib.request.urlopen(f"{server.url}/client/icp_sdk.py") as answer:
        file.write_bytes(answer.read())
    spec = importlib.util.spec_from_file_location("icp_sdk", file)
    module = importlib.util.module_from_spec(spec)
    sys.modules["icp_sdk"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def icp(sdk, server, tokens, tmp_path):
    plane = sdk.ControlPlane(server.url, tokens["agent"], agent="my-agent", root=str(tmp_path))
    yield plane
    with contextlib.suppress(sdk.Refused):  # nobody opened it
        plane.end()


def write(icp, path):
    return icp.check("write_file", {"path": path, "content": "x"})


def approve_all(server, tokens):
    """A reviewer who approves what waits."""
    _, found = server.api(tokens["reviewer"], "GET", "approvals?status=PENDING")
    for one in found["results"]:
        server.api(
            tokens["reviewer"],
            "POST",
            f"approvals/{one['id']}/decide",
            {"action": "approve", "grant": "once"},
        )
    return len(found["results"])


def test_it_needs_the_standard_library_only(sdk):
    tree = ast.parse(Path(sdk.__file__).read_text())
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {name.name.split(".")[0] for node in found for name in node.names if isinstance(node, ast.Import)}
    names |= {node.module.split(".")[0] for node in found if isinstance(node, ast.ImportFrom)}
    assert names <= sys.stdlib_module_names


def test_a_session_from_the_prompt_to_the_end(icp):
    assert "call select_active_intent" in icp.prompt()
    refused = write(icp, "src/auth/a.py")
    assert (refused.verdict, refused.error_type) == ("ask", "MISSING_OR_INVALID_INTENT")
    assert "INT-001" in icp.select_intent("INT-001")["context"]
    assert "INT-001" in icp.prompt()
    assert write(icp, "src/auth/a.py").allowed
    assert not write(icp, "/etc/passwd").allowed


def test_a_handshake_that_fails_says_why(icp, sdk):
    with pytest.raises(sdk.Refused, match="INT-999") as refused:
        icp.select_intent("INT-999")
    assert refused.value.answer["error_type"] == "MISSING_OR_INVALID_INTENT"


def test_a_completion_names_what_proves_it(icp, sdk):
    icp.select_intent("INT-001")
    note = {"type": "note", "text": "Tried it"}
    answer = icp.complete_intent("Done", [{"criterion": 1, "evidence": [note]}])
    (record,) = answer["approval"]["acceptance_evidence"]
    assert (record["status"], record["evidence"]) == ("claimed", [note])
    with pytest.raises(sdk.Refused, match="no change of") as refused:
        icp.complete_intent("Done", [{"criterion": 1, "evidence": [{"type": "trace", "path": "src/no.py"}]}])
    assert refused.value.status == 400


def test_a_tool_asks_runs_and_reports(icp, sdk, tmp_path, server, tokens):
    @icp.tool("write_file", records="path")
    def save(path, content="new"):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text(content)
        return "saved"

    icp.select_intent("INT-001")
    assert save("src/auth/b.py") == "saved"
    _, traces = server.api(tokens["reviewer"], "GET", f"traces?session={icp.session_id}")
    (entry,) = traces["results"]
    wanted = f"sha256:{hashlib.sha256(b'new').hexdigest()}"
    assert wanted in json.dumps(entry)
    with pytest.raises(sdk.Denied, match="not authorized to edit"):
        save("docs/plan.md")
    assert not (tmp_path / "docs").exists()


def test_a_block_ends_its_session_so_that_the_next_run_gets_the_intent(sdk, server, tokens, tmp_path):
    for _ in range(2):
        with sdk.ControlPlane(server.url, tokens["agent"], agent="my-agent", root=tmp_path) as icp:
            icp.select_intent("INT-001")
    with pytest.raises(ZeroDivisionError), icp:
        raise ZeroDivisionError
    _, session = server.api(tokens["agent"], "GET", f"sessions/{icp.session_id}")
    assert session["state"] == "ENDED"


def test_an_asynchronous_block_ends_its_session(sdk, server, tokens, tmp_path):
    async def run():
        async with sdk.AsyncControlPlane(server.url, tokens["agent"], agent="my-agent", root=tmp_path) as icp:
            await icp.select_intent("INT-001")
            decision = await icp.check("write_file", {"path": "src/auth/a.py", "content": "x"})
            await icp.record_targets(decision)
        return icp.session_id

    session_id = asyncio.run(run())
    assert server.api(tokens["agent"], "GET", f"sessions/{session_id}")[1]["state"] == "ENDED"
    assert server.api(tokens["reviewer"], "GET", f"traces?session={session_id}")[1]["results"]


def test_a_tool_of_another_name_is_what_its_writer_says(sdk, server, tokens, tmp_path):
    tools = {"run_command": "shell"}
    plane = sdk.ControlPlane(server.url, tokens["agent"], agent="my-agent", root=tmp_path, tools=tools)
    with plane as icp:
        icp.select_intent("INT-001")
        assert icp.check("run_command", {"command": "ls"}).targets == []
        assert icp.check("run_command", {"command": "ls"}).allowed
        assert not icp.check("run_command", {"command": "echo x > docs/a.md"}).allowed
        written = icp.check("run_command", {"command": "echo x > src/auth/sh.txt"})
        (tmp_path / "src/auth").mkdir(parents=True)
        (tmp_path / "src/auth/sh.txt").write_text("x\n")
        icp.record_targets(written)
    _, traces = server.api(tokens["reviewer"], "GET", f"traces?session={icp.session_id}")
    assert traces["results"][0]["files"][0]["relative_path"] == "src/auth/sh.txt"


def test_a_refusal_can_be_told_to_the_model(icp):
    @icp.tool(tells=True)
    def write_file(path, content):
        raise AssertionError("it ran")

    assert "You must cite a valid active Intent ID." in write_file("src/auth/a.py", "x")


def test_a_wait_ends_with_a_persons_decision(icp, server, tokens):
    icp.select_intent("INT-001")
    found = []
    waiter = threading.Thread(
        target=lambda: found.append(icp.check("write_file", {"path": "docs/a.md", "content": "x"}, wait=20))
    )
    waiter.start()
    while not approve_all(server, tokens):
        assert waiter.is_alive()
    waiter.join(20)
    assert found[0].allowed


def test_a_wait_outlasts_what_one_call_may_be_held(icp, sdk, server, tokens, monkeypatch):
    monkeypatch.setattr(sdk, "MAX_WAIT", 0.5)
    icp.select_intent("INT-001")
    timer = threading.Timer(1.5, approve_all, (server, tokens))
    timer.start()
    assert icp.check("write_file", {"path": "docs/b.md", "content": "x"}, wait=20).allowed


def test_every_argument_is_shown_to_the_gate(icp, sdk):
    class Tools:
        def move(self, source, *more, target=Path("b"), **rest):
            pass

    tools = Tools()
    assert sdk.bind_arguments(Tools.move, (tools, Path("a"), 1), {"note": {2}, "n": float("nan")}) == {
        "source": "a", "more": [1], "target": "b", "note": "{2}", "n": "nan",
    }  # fmt: skip


@pytest.mark.parametrize(
    "reply",
    [Reply(500), Reply(200, b"no json"), Reply(200, b"[]"), Reply(200, b"{}"), Reply(200, b'{"decision": "maybe"}'),
     Reply(302, b"", {"Location": "http://127.0.0.1:9/"}), Reply(200, b'{"decision": "allow"', {"Content-Length": "99"})],
    ids=["500", "not JSON", "a list", "no decision", "another word", "a redirect", "cut off"],
)  # fmt: skip
def test_what_is_no_answer_is_a_refusal(sdk, stub, reply):
    stub.reply = reply
    decision = sdk.ControlPlane(stub.url, "icp_x", agent="a").check("write_file", {"path": "a"})
    assert (decision.verdict, decision.reason) == ("deny", "unreachable")
    assert "must not run" in decision.text


def test_a_server_that_is_down_is_a_refusal(sdk):
    decision = sdk.ControlPlane("http://127.0.0.1:9", "icp_x", agent="a").check("write_file", {"path": "a"})
    assert not decision.allowed


def test_an_input_that_is_no_json_is_a_refusal(icp):
    assert icp.check("write_file", {"path": {1, 2}}).reason == "unreachable"


def test_a_bad_token_is_a_refusal_in_the_servers_words(sdk, server):
    decision = sdk.ControlPlane(server.url, "icp_wrong", agent="a").check("write_file", {"path": "a"})
    assert decision.verdict == "deny"
    assert "token" in decision.text


def test_an_address_of_another_kind_is_refused(sdk):
    with pytest.raises(ValueError, match="https://"):
        sdk.ControlPlane("file:///etc/passwd", "icp_x", agent="a")


def test_a_change_that_cannot_be_reported_is_a_warning_and_no_failure(sdk, stub, tmp_path):
    stub.reply = Reply(200, b'{"decision": "allow"}')
    plane = sdk.ControlPlane(stub.url, "icp_x", agent="a", root=str(tmp_path))

    @plane.tool(records="path")
    def write_file(path):
        stub.reply = Reply(500)
        return "done"

    with pytest.warns(UserWarning, match="not reported"):
        assert write_file("a.txt") == "done"


async def test_the_same_for_asyncio(sdk, server, tokens, tmp_path):
    plane = sdk.AsyncControlPlane(server.url, tokens["agent"], agent="my-agent", root=str(tmp_path))

    @plane.tool(records="path")
    async def write_file(path, content):
        (tmp_path / path).write_text(content)
        return "saved"

    await plane.select_intent("INT-001")
    (tmp_path / "src/auth").mkdir(parents=True)
    assert await asyncio.gather(write_file("src/auth/a", "1"), write_file("src/auth/b", "2")) == ["saved"] * 2
    with pytest.raises(sdk.Denied):
        await write_file("docs/x", "x")
    await plane.end()
