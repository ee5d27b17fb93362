"""A client of the official SDK against a live server, as a coding agent is one."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

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
