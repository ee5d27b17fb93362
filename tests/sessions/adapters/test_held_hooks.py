"""A hook that waits for a human on a real server: held open, then answered in the client's form."""

from __future__ import annotations

import json
import threading
import time
import urllib.request

import pytest


@pytest.fixture(scope="session")
def server(running_server):
    return running_server


def post(server, token, agent, event, payload, *, seconds=70):
    request = urllib.request.Request(f"{server.url}/hooks/{agent}/{event}", json.dumps(payload).encode())
    request.add_header("Authorization", f"Bearer {token}")
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=seconds) as answer:
        return json.loads(answer.read()), dict(answer.headers)


def pending(server, token):
    for _ in range(100):
        found = server.api(token, "GET", "approvals?status=PENDING")[1]["results"]
        if found:
            return found[0]["id"]
        time.sleep(0.1)
    raise AssertionError("no approval was asked for")


@pytest.mark.parametrize("action", ["approve", "reject"])
def test_a_held_hook_is_answered_when_a_human_has_decided(server, action):
    tokens = server.workspace(f"held-{action}")
    server.select(tokens["agent"], "s-1")
    payload = {
        "session_id": "s-1",
        "cwd": "/workspace",
        "tool_name": "Write",
        "tool_input": {"file_path": "docs/design.md", "content": "x"},
        "icp": {"wait_seconds": 40},
    }
    answers = []
    ask = threading.Thread(
        target=lambda: answers.append(post(server, tokens["agent"], "claude-code", "PreToolUse", payload))
    )
    ask.start()
    approval = pending(server, tokens["reviewer"])
    decision = {"action": action, "comment": "Not this file, please."}
    assert server.api(tokens["reviewer"], "POST", f"approvals/{approval}/decide", decision)[0] == 200
    ask.join(30)
    (body, headers), = answers  # fmt: skip
    assert "X-ICP-Hold" not in headers
    if action == "approve":
        assert body == {}
    else:
        said = body["hookSpecificOutput"]
        assert said["permissionDecision"] == "deny"
        assert "Not this file, please." in said["permissionDecisionReason"]


def test_a_client_that_cannot_wait_is_answered_at_once(server):
    tokens = server.workspace("at-once")
    server.select(tokens["agent"], "s-1")
    payload = {
        "sessionContext": {"rootSessionId": "s-1"},
        "workspaceRoots": ["/workspace"],
        "toolCall": {"toolCallId": "c", "toolName": "editor", "input": {"path": "a.md", "new_text": "x"}},
        "icp": {"wait_seconds": 40},
    }
    body, _ = post(server, tokens["agent"], "cline", "beforeTool", payload, seconds=30)
    assert body["skip"] is True
    assert pending(server, tokens["reviewer"]) in body["reason"]
