"""`hook mcp AGENT`: the control plane's MCP server for a client that starts a program, over stdin and stdout.

Each request is carried to /mcp with the token of the repository, read anew, so that connecting again needs no
restart. Nothing is kept in between but the protocol's version: the server knows no sessions of a transport.
"""

from __future__ import annotations

import json
import sys

from controlplane.client.agents import CLIENTS
from controlplane.client.call_context import CannotAskError, connection
from controlplane.client.http_post import post

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CALL_SECONDS = 60.0
AT_ONCE = 8
FAILED, NO_METHOD, NO_REQUEST, NO_JSON = -32603, -32601, -32600, -32700
# Asked first by clients of 2026 protocols. Refused, they shake hands as before, which needs no headers
# that repeat the body.
DISCOVER = "server/discover"
SELF_NAMED = {"copilot-cli": "copilot"}  # which reads the entry of Claude Code too


class Bridge:
    """One client's connection; requests are answered side by side."""

    def __init__(self, agent: str) -> None:
        import threading

        self.agent, self.version, self.turn = agent, "", threading.Lock()

    def take(self, line: bytes) -> None:
        """Answer one line. Notifications and answers mean nothing to a server that keeps no state."""
        try:
            asked = json.loads(line)
        except (ValueError, RecursionError) as error:
            return self.say(None, failed(NO_JSON, f"This is no JSON ({error})."))
        if not isinstance(asked, dict):
            return self.say(None, failed(NO_REQUEST, "Send one request a line."))
        if "method" in asked and "id" in asked:
            self.say(asked["id"], self.answer(asked))
        return None

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The `result` or the `error`. Whatever goes wrong, the client is told."""
        if asked["method"] == DISCOVER:
            return failed(NO_METHOD, "Method not found")
        try:
            if asked["method"] == "initialize":
                said = asked["params"]["clientInfo"]["name"]
                self.agent = SELF_NAMED.get(said, self.agent)
            told = self.carried(asked)
            if asked["method"] == "initialize" and "result" in told:
                self.version = str(told["result"]["protocolVersion"])
        except CannotAskError as problem:
            return failed(FAILED, str(problem))
        except Exception as error:  # noqa: BLE001  a client that gets no answer waits for ever
            return failed(FAILED, f"The control plane could not be asked ({error!r}).")
        return {key: told[key] for key in ("result", "error") if key in told}

    def carried(self, asked: dict[str, Any]) -> dict[str, Any]:
        told = connection({})
        headers = {"Accept": "application/json", "X-ICP-Agent": self.agent, "X-ICP-Tools": "all"}
        if self.version.replace("-", "").isdigit():
            headers["MCP-Protocol-Version"] = self.version
        lines = "".join(f"{name}: {text}\r\n" for name, text in headers.items())
        body = json.dumps(asked).encode()
        return post(f"{told['url']}/mcp", told["token"], body, CALL_SECONDS, lines)[0]

    def say(self, number: Any, told: dict[str, Any]) -> None:
        line = json.dumps({"jsonrpc": "2.0", "id": number, **told}).encode() + b"\n"
        with self.turn:
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()


def failed(code: int, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message}}


def serve_mcp(agent: str) -> int:
    """Until the client closes the line, and what it asked is answered. LookupError for an unknown agent."""
    from concurrent.futures import ThreadPoolExecutor

    if agent not in CLIENTS:
        raise LookupError(f"there is no agent {agent}")
    bridge = Bridge(agent)
    try:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for line in sys.stdin.buffer:
                if line.strip():
                    pool.submit(bridge.take, line)
    except KeyboardInterrupt:
        pass  # the terminal's, meant for the client
    return 0
