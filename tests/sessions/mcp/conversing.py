"""A client of the official SDK against a live server, as a coding agent is one."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from contextlib import asynccontextmanager

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.sessions.adapters import captured

LEGACY, MODERN = "legacy", "2026-07-28"


@asynccontextmanager
async def client(server, token, *, mode=LEGACY, heard=None, **headers):
    """`headers` are X-ICP-… ones; `heard` gets the name of every notification."""

    async def listen(message):
        if heard is not None:
            heard.append(type(getattr(message, "root", message)).__name__)

    sent = {"Authorization": f"Bearer {token}"} | {f"X-ICP-{name}": text for name, text in headers.items()}
    async with httpx2.AsyncClient(headers=sent, timeout=70) as http:
        transport = streamable_http_client(f"{server.url}/mcp", http_client=http)
        async with Client(transport, mode=mode, message_handler=listen) as made:
            yield made


async def names(made):
    return {tool.name for tool in (await made.list_tools()).tools}


async def say(made, tool, **arguments):
    """(text, whether it is an error)."""
    result = await made.call_tool(tool, arguments)
    return result.content[0].text, bool(result.is_error)


async def hook(made, **fields):
    """The hook's answer of `gate_tool_call`."""
    text, is_error = await say(made, "gate_tool_call", **fields)
    assert not is_error, text
    return json.loads(text)


def post(server, token, body, **headers):
    """(status, body) of a bare request."""
    request = urllib.request.Request(f"{server.url}/mcp", json.dumps(body).encode())
    sent = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"} | headers
    if token:
        sent["Authorization"] = f"Bearer {token}"
    for name, value in sent.items():
        request.add_header(name, value)
    try:
        with urllib.request.urlopen(request, timeout=70) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def call(name, **arguments):
    return {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": name, "arguments": arguments},
    }


def claude(name, **more):
    """The arguments that Claude Code makes of its placeholders: objects and numbers become text."""
    payload = captured.one("claude-code", name).payload
    known = (
        "hook_event_name",
        "session_id",
        "cwd",
        "tool_name",
        "tool_use_id",
        "tool_input",
        "tool_response",
    )
    told = {key: payload[key] for key in known if key in payload} | more
    return {"agent": "claude-code"} | {
        key: json.dumps(value) if isinstance(value, dict) else value for key, value in told.items()
    }


def codex(name, **more):
    payload = captured.one("codex", name).payload
    known = (
        "hook_event_name",
        "session_id",
        "cwd",
        "tool_name",
        "tool_use_id",
        "tool_input",
        "tool_response",
        "model",
    )
    return {"agent": "codex"} | {key: payload[key] for key in known if key in payload} | more
