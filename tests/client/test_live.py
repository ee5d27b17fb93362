"""The program as the server serves it, against that server: doctor, handshake, gate, trace."""

from __future__ import annotations

import ast
import json
import sys

import pytest

from controlplane.client.agents import CLIENTS
from controlplane.client.commands.canaries import CANARIES
from sessions.adapters.registry import CLIENTS as ADAPTERS
from tests.client.machine import Reply

HOOK = {"session_id": "s-1", "hook_event_name": "PreToolUse", "tool_name": "Write", "tool_use_id": "t-1"}


@pytest.fixture(scope="module")
def tokens(server):
    return server.workspace("acme")


def test_it_is_one_file_of_the_standard_library(connected):
    text = connected.file.read_text(encoding="utf-8")
    assert "noqa" not in text
    assert text.startswith("#!/usr/bin/env python3\n")
    found = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {name.name for node in found for name in node.names if isinstance(node, ast.Import)}
    names |= {node.module for node in found if isinstance(node, ast.ImportFrom)}
    installed = {"icp_program", "icp_runs"}  # its own parts, by `connect`
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names | installed


def test_no_two_parts_of_it_give_a_name_two_meanings(connected):
    tree = ast.parse(connected.file.read_text(encoding="utf-8"))
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    assert len(names) == len(set(names))


def test_every_event_is_one_that_the_server_knows_and_means_the_same():
    for agent, client in CLIENTS.items():
        known = ADAPTERS[agent].events
        assert {known[event] for event in client.gates.split()} == {"pre_tool"}, agent
        assert "pre_tool" not in {known[event] for event in client.others.split()}, agent


def test_a_write_outside_any_intent_is_denied_with_the_servers_words(connected):
    payload = {**HOOK, "session_id": "s-0", "tool_input": {"file_path": "src/auth/a.ts", "content": "x"}}
    done = connected.hook("claude-code", payload=payload)
    said = json.loads(done.stdout)["hookSpecificOutput"]
    assert done.returncode == 2
    assert said["permissionDecisionReason"].startswith("You must cite a valid active Intent ID.")


def test_after_the_handshake_a_write_in_scope_runs_and_leaves_a_trace(connected, server, tokens):
    server.select(tokens["agent"], "s-1")
    told = {"file_path": f"{connected.repository}/src/auth/a.ts", "content": "x\n"}
    assert json.loads(connected.hook("claude-code", payload={**HOOK, "tool_input": told}).stdout) == {}
    result = {"type": "create", "filePath": told["file_path"], "content": "x\n", "originalFile": None}
    after = {**HOOK, "hook_event_name": "PostToolUse", "tool_input": told, "tool_response": result}
    assert connected.hook("claude-code", "PostToolUse", payload=after).stderr == ""
    _, traces = server.api(tokens["reviewer"], "GET", "traces?session=s-1")
    assert [file["relative_path"] for entry in traces["results"] for file in entry["files"]] == [
        "src/auth/a.ts"
    ]


@pytest.mark.deep
class TestDoctor:
    def test_finds_everything_well(self, connected):
        done = connected.icp("doctor")
        assert (done.returncode, "FAIL" in done.stdout) == (0, False), done.stdout
        assert "ok   claude-code: its MCP server lists its tools" in done.stdout
        assert "note claude-code: known limits: " in done.stdout

    @pytest.mark.parametrize("agent", CLIENTS)
    def test_sends_what_must_be_denied_as_the_agent_and_as_its_sub_agent(self, connected, server, agent):
        tokens = server.workspace(f"canary-{agent}")
        connected.icp("connect", agent, "--url", server.url, "--no-mcp", ICP_TOKEN=tokens["agent"])
        lines = connected.icp("doctor").stdout.splitlines()
        assert f"ok   {agent}: its call is denied in its own form" in lines, lines
        told_apart = CANARIES[agent][1] is not None
        assert (f"ok   {agent}: so is its sub-agent's call" in lines) is told_apart
        assert server.api(tokens["reviewer"], "GET", "sessions")[1]["results"] == []

    def test_tells_of_a_gate_that_lets_everything_through(self, connected, server):
        tokens = server.workspace("canary-open")
        connected.icp("connect", "claude-code", "--url", server.url, ICP_TOKEN=tokens["agent"])
        server.api(tokens["admin"], "PATCH", "policy", {"enforcement": "off"})
        lines = connected.icp("doctor").stdout.splitlines()
        said = [line.partition(": it answered")[0] for line in lines if "answered a canary with" in line]
        assert said == [
            "FAIL the gate denies what it must",
            "FAIL claude-code: its call is denied in its own form",
            "FAIL claude-code: so is its sub-agent's call",
        ]

    @pytest.mark.parametrize(
        ("damage", "finds"),
        [
            (lambda m: (m.config / "connections.json").chmod(0o644), "the tokens are yours alone"),
            (lambda m: (m.config / "connections.json").unlink(), "the gate denies what it must"),
            (lambda m: (m.repository / CLIENTS["claude-code"].file).unlink(), "an agent is connected here"),
            (lambda m: m.launcher.write_text("#!/bin/sh\nexit 0\n"), "without a server nothing runs"),
            (lambda m: m.launcher.unlink(), "without a server nothing runs"),
            (lambda m: m.launcher.unlink(), "its MCP server lists its tools"),
            (lambda m: (m.repository / ".mcp.json").unlink(), "every entry is in place"),
            (lambda m: (m.repository / ".mcp.json").write_text("{"), "every entry is in place"),
        ],
    )  # fmt: skip
    def test_finds_what_is_broken(self, connected, damage, finds):
        damage(connected)
        done = connected.icp("doctor")
        failed = [line for line in done.stdout.splitlines() if line.startswith("FAIL")]
        assert done.returncode == 1, done.stdout + done.stderr
        assert any(finds in line for line in failed), done.stdout

    def test_finds_a_missing_entry(self, connected):
        file = connected.repository / CLIENTS["claude-code"].file
        document = json.loads(file.read_text())
        del document["hooks"]["PreToolUse"]
        file.write_text(json.dumps(document))
        assert "FAIL claude-code: every entry is in place" in connected.icp("doctor").stdout

    @pytest.mark.parametrize(
        ("tools", "finds"), [(b'[{"name": "other"}]', "offers no handshake, only other"), (b"1", "said")]
    )
    def test_finds_an_mcp_server_that_is_not_ours(self, connected, stub, tools, finds):
        stub.reply = Reply(body=b'{"result": {"protocolVersion": "2025-06-18", "tools": %b}}' % tools)
        connected.connect("claude-code", stub.url)
        lines = connected.icp("doctor").stdout.splitlines()
        line = next(line for line in lines if "its MCP server" in line)
        assert line.startswith("FAIL")
        assert finds in line

    def test_finds_a_token_that_does_not_hold(self, connected, server):
        connected.connect("claude-code", server.url)
        assert "answered 401" in connected.icp("doctor").stdout
