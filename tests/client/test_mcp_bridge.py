"""The MCP server as a program: what a client says on the line is carried to /mcp, and tied to the hook's session."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from tests.client.machine import FAULTS, Machine, Reply

WRITE = {"tool_name": "Write", "tool_input": {"file_path": "docs/a.md", "content": "x"}}
HOOK = {"hook_event_name": "PreToolUse", "tool_use_id": "t-1"}


def said(number, method: str, **params) -> dict:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def hello(version: str = "2025-06-18", name: str = "a-client") -> dict:
    client = {"name": name, "version": "1"}
    return said(0, "initialize", protocolVersion=version, capabilities={}, clientInfo=client)


def call(number, tool: str, **arguments) -> dict:
    return said(number, "tools/call", name=tool, arguments=arguments)


def bridge(machine: Machine, *messages: object, agent: str = "claude-code", **env: str):
    """{id: what was answered}, of one run of the program that is given these lines."""
    given = "".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in messages)
    done = machine.run(str(machine.launcher), "mcp", agent, given=given, **env)
    assert (done.returncode, done.stderr) == (0, "")
    return {one["id"]: one for one in map(json.loads, done.stdout.splitlines())}


def text(answer: dict) -> str:
    return answer["result"]["content"][0]["text"]


@pytest.fixture(scope="module")
def tokens(server):
    return server.workspace("bridged")


def let_pass(machine: Machine, session: str, tool: str, **arguments) -> None:
    payload = {**HOOK, "session_id": session, "tool_name": f"mcp__icp__{tool}", "tool_input": arguments}
    done = machine.hook("claude-code", payload=payload)
    assert done.returncode == 0, done.stdout


class TestAgainstTheServer:
    @pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
    def test_every_client_shakes_hands_and_sees_every_tool(self, connected, version):
        found = bridge(connected, hello(version), said(1, "tools/list"))
        assert found[0]["result"]["serverInfo"]["name"] == "icp"
        assert {"select_active_intent", "record_lesson"} <= {
            tool["name"] for tool in found[1]["result"]["tools"]
        }

    def test_what_2026_clients_ask_first_is_refused_so_that_they_shake_hands(self, connected):
        assert bridge(connected, said("probe", "server/discover"))["probe"]["error"]["code"] == -32601

    def test_a_method_that_the_server_does_not_know_stays_its_error(self, connected):
        assert bridge(connected, said(7, "no/such"))[7]["error"]["code"] == -32601

    def test_of_two_conversations_the_one_whose_hook_let_the_call_pass_is_meant(self, connected):
        for session in ("one", "two"):
            let_pass(connected, session, "list_active_intents")
        unclear = bridge(connected, call(1, "gate_status"))[1]
        assert unclear["result"]["isError"]
        assert "SESSION_UNKNOWN" in text(unclear)
        let_pass(connected, "two", "gate_status")
        assert (
            json.loads(text(bridge(connected, call(1, "gate_status"))[1]))["session"]["session_id"] == "two"
        )

    def test_the_handshake_is_the_hooks_own_session(self, connected, server, tokens):
        let_pass(connected, "hands", "select_active_intent", intent_id="INT-001")
        shaken = bridge(connected, call(1, "select_active_intent", intent_id="INT-001"))[1]
        assert '<intent_context intent_id="INT-001">' in text(shaken)
        _, session = server.api(tokens["reviewer"], "GET", "sessions/hands")
        assert session["intent_id"] == "INT-001"

    def test_a_decision_is_told_as_it_is_made(self, connected, server, tokens):
        words = [str(connected.launcher), "mcp", "claude-code"]
        with subprocess.Popen(
            words, cwd=connected.repository, env={"HOME": str(connected.home)}, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        ) as line:  # fmt: skip
            line.stdin.write(json.dumps(hello()) + "\n")
            line.stdin.flush()
            offered = json.loads(line.stdout.readline())["result"]["capabilities"]
            assert offered["experimental"] == {"claude/channel": {}}
            connected.hook("claude-code", payload=HOOK | WRITE | {"session_id": "notices"})
            _, found = server.api(tokens["reviewer"], "GET", "approvals?status=PENDING")
            (approval,) = (one["id"] for one in found["results"] if one["session_id"] == "notices")
            decision = {"action": "reject", "comment": "Not there."}
            assert server.api(tokens["reviewer"], "POST", f"approvals/{approval}/decide", decision)[0] == 200
            notice, message = (json.loads(line.stdout.readline())["params"] for _ in range(2))
            line.stdin.close()
        assert "Not there" in notice["data"]
        assert message == {"content": notice["data"], "meta": {"approval": approval}}

    def test_many_calls_at_once_are_each_answered(self, connected):
        found = bridge(connected, hello(), *(said(number, "tools/list") for number in range(1, 30)))
        assert sorted(found) == list(range(30))
        assert all("result" in one for one in found.values())


class TestWhoAndWhat:
    @pytest.fixture
    def stubbed(self, machine, stub):
        stub.reply = Reply(body=b'{"result": {"protocolVersion": "2025-06-18"}}')
        machine.connect("claude-code", stub.url)
        return machine

    def test_the_server_is_told_who_asks_with_the_token_of_the_repository(self, stubbed, stub):
        bridge(stubbed, said(1, "ping"))
        path, headers, body = stub.asked[-1]
        assert (path, headers["Authorization"]) == ("/mcp", "Bearer icp_secret")
        assert (headers["X-ICP-Agent"], headers["X-ICP-Tools"]) == ("claude-code", "all")
        assert json.loads(body) == said(1, "ping")

    def test_copilot_which_reads_the_entry_of_claude_code_goes_by_its_own_name(self, stubbed, stub):
        bridge(stubbed, hello(name="copilot-cli"))
        assert stub.asked[-1][1]["X-ICP-Agent"] == "copilot"

    def test_notifications_and_answers_go_no_further(self, stubbed, stub):
        note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        assert bridge(stubbed, note, {"jsonrpc": "2.0", "id": 5, "result": {}}, "") == {}
        assert stub.asked == []

    def test_a_new_token_holds_without_a_restart(self, stubbed, stub):
        words = [str(stubbed.launcher), "mcp", "claude-code"]
        env = {"HOME": str(stubbed.home), "PATH": os.environ["PATH"]}
        with subprocess.Popen(
            words, cwd=stubbed.repository, env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as line:
            for number, token in enumerate(("icp_secret", "icp_newer")):
                stubbed.icp("connect", "claude-code", "--url", stub.url, "--token", token)
                line.stdin.write(json.dumps(said(number, "ping")) + "\n")
                line.stdin.flush()
                assert json.loads(line.stdout.readline())["id"] == number
                assert stub.asked[-1][1]["Authorization"] == f"Bearer {token}"
            line.stdin.close()


@pytest.mark.deep
class TestWhatGoesWrongIsTold:
    @pytest.mark.parametrize("fault", sorted(set(FAULTS) - {"slow", "elsewhere"}))
    def test_by_a_server_that_fails(self, machine, stub, fault):
        machine.connect("claude-code", f"{stub.url}/{fault}")
        told = bridge(machine, said(1, "ping"))[1]["error"]
        assert "control plane" in told["message"]

    def test_by_no_server(self, machine):
        machine.connect("claude-code")
        assert "cannot be reached" in bridge(machine, said(1, "ping"))[1]["error"]["message"]

    def test_by_a_folder_that_is_not_connected(self, machine):
        machine.connect("claude-code")
        machine.repository = machine.home
        assert "No connection is saved for" in bridge(machine, hello())[0]["error"]["message"]

    def test_by_connections_that_cannot_be_read(self, machine):
        machine.connect("claude-code")
        (machine.config / "connections.json").write_text("{")
        assert "could not be asked" in bridge(machine, hello())[0]["error"]["message"]

    @pytest.mark.parametrize(("line", "code"), [("{", -32700), ("[]", -32600), ('"ping"', -32600)])
    def test_by_a_line_that_is_no_request(self, machine, line, code):
        machine.connect("claude-code")
        assert bridge(machine, line)[None]["error"]["code"] == code

    def test_by_an_agent_that_nobody_knows(self, machine):
        machine.connect("claude-code")
        done = machine.run(str(machine.launcher), "mcp", "nobody")
        assert (done.returncode, done.stdout) == (2, "")
        assert "no agent nobody" in done.stderr
