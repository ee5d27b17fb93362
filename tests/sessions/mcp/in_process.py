"""A call of a tool at /mcp on the ASGI application of this process, inside a test's own transaction."""

from __future__ import annotations

import json
from dataclasses import dataclass

from asgiref.sync import async_to_sync, sync_to_async

from controlplane.asgi import application


@dataclass
class Answered:
    status: int
    headers: dict[str, str]
    text: str

    @property
    def said(self):
        """(text of the tool's result, whether it is an error)."""
        result = json.loads(self.text)["result"]
        return result["content"][0]["text"], result.get("isError", False)

    @property
    def hook(self):
        return json.loads(self.said[0])["hookSpecificOutput"]


async def _in_thread(function, *arguments):
    return await sync_to_async(function)(*arguments)


def stay_in_the_transaction(monkeypatch):
    """Database work goes to the test's own thread."""
    for module in ("http", "server", "hooks"):
        monkeypatch.setattr(f"sessions.mcp.{module}.in_thread", _in_thread)


@async_to_sync
async def ask(headers, name, arguments):
    params = {"name": name, "arguments": arguments}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    sent = {"host": "localhost", "content-type": "application/json", "accept": "application/json"} | headers
    scope = {"type": "http", "method": "POST", "path": "/mcp", "query_string": b"", "http_version": "1.1"}
    scope["headers"] = [(key.encode(), value.encode()) for key, value in sent.items()]
    unread, got = [{"type": "http.request", "body": body, "more_body": False}], []

    async def receive():
        return unread.pop() if unread else {"type": "http.disconnect"}

    async def send(message):
        got.append(message)

    await application(scope, receive, send)
    text = b"".join(part.get("body", b"") for part in got[1:]).decode()
    return Answered(
        got[0]["status"], {key.decode(): value.decode() for key, value in got[0]["headers"]}, text
    )
