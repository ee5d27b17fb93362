"""`gate_tool_call` over the wire, with what the hooks of Claude Code and Codex make of their placeholders."""

from __future__ import annotations

import asyncio
import json
import threading

import pytest

from tests.sessions.mcp.conversing import LEGACY, MODERN, call, claude, client, codex, hook, post, say

REVOKE = (
    "from controlplane.shared.tokens import *; from controlplane.models import Token; "
    "revoke_token(Token.objects.get(digest=hash_secret('{}'))); print(1)"
)


def test_a_revoked_token_is_refused_but_its_hooks_are_denied(server, tokens):
    server.select(tokens["agent"], "s-1")
    made = json.loads(server.manage("shell", "-v0", "-c", REVOKE.format(tokens["agent"])) or "1")
    assert made == 1
    assert post(server, tokens["agent"], call("list_active_intents"))[0] == 401
    asked = call("gate_tool_call", **claude("PreToolUse-Write"))
    status, text = post(server, tokens["agent"], asked, Accept="application/json")
    assert status == 200
    said = json.loads(json.loads(text)["result"]["content"][0]["text"])["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    assert "revoked" in said["permissionDecisionReason"]


@pytest.mark.parametrize(
    ("fields", "handshake"),
    [
        (claude, "PreToolUse-mcp__icp__select_active_intent"),
        (codex, "PreToolUse-mcp__icp__select_active_intent"),
    ],
)
async def test_a_hook_is_denied_before_the_handshake_and_passes_after(server, tokens, fields, handshake):
    change = {"owned_scope": ["src/**", "app.py", "README.md"], "version": 1}
    assert server.api(tokens["admin"], "PATCH", "intents/INT-001", change)[0] == 200
    write = fields("PreToolUse-Write" if fields is claude else "PreToolUse-apply_patch")
    async with client(server, tokens["agent"]) as agent:
        said = (await hook(agent, **write))["hookSpecificOutput"]
        assert (said["hookEventName"], said["permissionDecision"]) == ("PreToolUse", "deny")
        assert said["permissionDecisionReason"].startswith("You must cite a valid active Intent ID.")
        took = fields(handshake)
        took["tool_input"] = {"intent_id": "INT-001"} if fields is codex else '{"intent_id": "INT-001"}'
        assert "permissionDecision" not in (await hook(agent, **took)).get("hookSpecificOutput", {})
        text, refused = await say(agent, "select_active_intent", intent_id="INT-001")
        assert not refused, text
        assert await hook(agent, **write) == {}
        status, _ = await say(agent, "gate_status")
        assert json.loads(status)["session"]["agent"]["name"] == write["agent"]


async def test_other_events_of_the_hook(server, tokens):
    server.select(tokens["agent"], "s-1")
    about = {"agent": "claude-code", "session_id": "s-1", "cwd": "/workspace"}
    async with client(server, tokens["agent"]) as agent:
        said = await hook(agent, **about, hook_event_name="UserPromptSubmit", prompt="Go on")
        assert "INT-001" in said["hookSpecificOutput"]["additionalContext"]
        written = {"filePath": "/workspace/src/auth/a.ts", "content": "x\n", "originalFile": None}
        done = about | {"hook_event_name": "PostToolUse", "tool_name": "Write", "tool_use_id": "t-1"}
        given = json.dumps({"file_path": "/workspace/src/auth/a.ts", "content": "x\n"})
        assert await hook(agent, **done, tool_input=given, tool_response=json.dumps(written)) == {}
    traces = server.api(tokens["agent"], "GET", "traces?session=s-1")[1]["results"]
    assert "src/auth/a.ts" in json.dumps(traces)


@pytest.mark.parametrize(
    "wrong",
    [
        {"agent": "nobody"},
        {"agent": ["codex"]},
        {"hook_event_name": "pretooluse"},
        {"hook_event_name": {"a": 1}},
        {"session_id": ""},
        {"tool_input": '{"file_path": "a", "file_path": "b"}'},
        {"tool_input": "not an object"},
        {"tool_input": ""},
        {"wait_seconds": "long"},
        {"wait_seconds": 1e9},
        {"tool_name": "Wr\x00ite"},
        {"dry_run": "perhaps"},
        {"unexpected": 1, "tool_name": 5},
    ],
)
async def test_whatever_is_wrong_with_a_hook_is_a_denial(server, shared, wrong):
    async with client(server, shared["agent"]) as agent:
        said = await hook(agent, **claude("PreToolUse-Write") | wrong)
    assert said["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert said["hookSpecificOutput"]["permissionDecisionReason"]


async def pending(server, token):
    for _ in range(100):
        found = server.api(token, "GET", "approvals?status=PENDING")[1]["results"]
        if found:
            return found[0]["id"]
        await asyncio.sleep(0.1)
    raise AssertionError("no approval was asked for")


@pytest.mark.deep
@pytest.mark.parametrize("action", ["approve", "reject"])
@pytest.mark.parametrize("mode", [LEGACY, MODERN])
async def test_held_hooks_hold_no_thread_and_are_answered_when_decided(server, tokens, action, mode):
    """More calls wait than the pool of threads has."""
    server.select(tokens["agent"], "s-1")
    asked = claude("PreToolUse-Write", session_id="s-1", cwd="/workspace", wait_seconds="40")
    asked["tool_input"] = json.dumps({"file_path": "docs/design.md", "content": "x"})
    async with client(server, tokens["agent"], mode=mode) as agent:
        waiting = [asyncio.create_task(hook(agent, **asked)) for _ in range(40)]
        approval = await asyncio.to_thread(asyncio.run, pending(server, tokens["reviewer"]))
        await asyncio.sleep(1)
        text, _ = await say(agent, "list_active_intents")
        assert "INT-001" in text
        assert not any(task.done() for task in waiting)
        decision = {"action": action, "grant": "session", "comment": "Not this file, please."}
        path = f"approvals/{approval}/decide"
        status, body = await asyncio.to_thread(server.api, tokens["reviewer"], "POST", path, decision)
        assert status == 200, body
        answers = await asyncio.gather(*waiting)
    for answer in answers:
        if action == "approve":
            assert answer == {}
        else:
            assert "Not this file, please." in answer["hookSpecificOutput"]["permissionDecisionReason"]


@pytest.mark.deep
def test_a_held_hook_is_denied_when_the_server_is_stopped(server, tokens):
    server.select(tokens["agent"], "s-1")
    asked = claude("PreToolUse-Write", session_id="s-1", cwd="/workspace", wait_seconds="40")
    asked["tool_input"] = json.dumps({"file_path": "docs/design.md", "content": "x"})
    answers = []
    body = call("gate_tool_call", **asked)
    ask = threading.Thread(
        target=lambda: answers.append(post(server, tokens["agent"], body, Accept="application/json"))
    )
    ask.start()
    try:
        asyncio.run(pending(server, tokens["reviewer"]))
        server.stop()
        ask.join(5)
    finally:
        server.start()
    ((status, text),) = answers
    assert status == 200
    said = json.loads(json.loads(text)["result"]["content"][0]["text"])
    assert said["hookSpecificOutput"]["permissionDecision"] == "deny"
