"""`hook mcp AGENT`: bridge a client's stdin and stdout to the control plane's MCP server.

Each request goes to /mcp with the repository's token, read each time, so that connecting again needs no
restart. The only state is the protocol version: the server has no transport sessions.
"""

from __future__ import annotations

import json
import os
import sys

from controlplane.client.agents import CLIENTS
from controlplane.client.commands.hook import USER_SCOPE
from controlplane.client.commands.mcp_notices import DecisionNotices
from controlplane.client.commands.run_command import RUN_TOOL, describe_client, run_for_model
from controlplane.client.connection import ControlPlaneError, NotConnectedError, find_connection
from controlplane.client.containment_claim import read_containment
from controlplane.client.http_post import post

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CALL_SECONDS = 60.0
ACP_AGENT, SESSION_FILE_VARIABLE = "acp", "ICP_SESSION_FILE"  # of a server that `icp.py acp` starts
MAX_CONCURRENT = 8
PROTOCOL = "2025-06-18"  # where there is no server to ask
FAILED, NO_METHOD, NO_REQUEST, NO_JSON = -32603, -32601, -32600, -32700
# Clients of 2026 protocols ask this first. If it is refused they initialize as before, which needs no headers
# that repeat the body.
DISCOVER = "server/discover"
AGENTS_BY_CLIENT_NAME = {"copilot-cli": "copilot"}  # Copilot CLI reads the entry of Claude Code too


class Bridge:
    """One client's connection; requests are answered concurrently."""

    def __init__(self, agent: str, scope: str) -> None:
        import threading

        self.agent, self.scope, self.version, self.output_lock = agent, scope, "", threading.Lock()
        self.notices = DecisionNotices(self.notify)

    def handle_line(self, line: bytes) -> None:
        """Answer one line. Notifications and responses are ignored: the server keeps no state."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError) as error:
            return self.write_message(None, error_response(NO_JSON, f"Not JSON ({error})."))
        if not isinstance(message, dict):
            return self.write_message(None, error_response(NO_REQUEST, "Send one request per line."))
        if "method" in message and "id" in message:
            self.write_message(message["id"], self.answer(message))
        return None

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return the `result` or the `error`; every failure becomes an error, as the client waits for one."""
        if message["method"] in OWN_ANSWERS:
            return OWN_ANSWERS[message["method"]]
        try:
            if message["method"] == "initialize":
                client_name = message["params"]["clientInfo"]["name"]
                self.agent = AGENTS_BY_CLIENT_NAME.get(client_name, self.agent)
            response = self.forward(message)
            if message["method"] == "initialize" and "result" in response:
                result = response["result"]
                self.version = str(result["protocolVersion"])
                result["capabilities"] = self.notices.declare(result.get("capabilities") or {}, self.agent)
        except NotConnectedError as problem:
            if self.scope == USER_SCOPE:
                return answer_unconnected(message)
            return error_response(FAILED, str(problem))
        except ControlPlaneError as problem:
            return error_response(FAILED, str(problem))
        except Exception as error:  # noqa: BLE001  a client that gets no answer waits for ever
            return error_response(FAILED, f"The control plane could not be asked ({error!r}).")
        return {key: response[key] for key in ("result", "error") if key in response}

    def forward(self, message: dict[str, Any]) -> dict[str, Any]:
        connection = find_connection({})
        headers = {"Accept": "application/json", "X-ICP-Agent": self.agent, "X-ICP-Tools": "all"}
        if read_containment():
            headers["X-ICP-Client"] = describe_client(connection)
        if session_id := read_session_id():
            headers["X-ICP-Session"] = session_id
        if self.version.replace("-", "").isdigit():
            headers["MCP-Protocol-Version"] = self.version
        header_lines = "".join(f"{name}: {text}\r\n" for name, text in headers.items())
        body = json.dumps(message).encode()
        response = post(f"{connection['url']}/mcp", connection["token"], body, CALL_SECONDS, header_lines)[0]
        return run_allowed(connection, message, response)

    def write_message(self, number: Any, response: dict[str, Any]) -> None:
        self.write({"jsonrpc": "2.0", "id": number, **response})

    def notify(self, method: str, params: dict[str, Any]) -> None:
        self.write({"jsonrpc": "2.0", "method": method, "params": params})

    def write(self, message: dict[str, Any]) -> None:
        line = json.dumps(message).encode() + b"\n"
        with self.output_lock:
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()


def run_allowed(
    connection: dict[str, Any], message: dict[str, Any], response: dict[str, Any]
) -> dict[str, Any]:
    """Return the response. Of an allowed `run_command` it gets the command's output instead of the terms."""
    params, result = message.get("params") or {}, response.get("result") or {}
    if message["method"] != "tools/call" or params.get("name") != RUN_TOOL or result.get("isError"):
        return response
    text = run_for_model(connection, result["content"][0]["text"], params["arguments"])
    return {"result": {**result, "content": [{"type": "text", "text": text}]}}


def read_session_id() -> str:
    """Return the session of the conversation that started this server, where its proxy tells it."""
    try:
        with open(os.environ.get(SESSION_FILE_VARIABLE, ""), encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


def error_response(code: int, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message}}


OWN_ANSWERS = {
    DISCOVER: error_response(NO_METHOD, "Method not found"),
    "logging/setLevel": {"result": {}},  # notices have one level
}


def answer_unconnected(message: dict[str, Any]) -> dict[str, Any]:
    """Answer as a server without tools, so that other repositories show no failed server."""
    if message["method"] == "initialize":
        return {
            "result": {
                "protocolVersion": message["params"].get("protocolVersion", PROTOCOL),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "icp", "version": "1"},
            }
        }
    empty: dict[str, Any] = {"ping": {}, "tools/list": {"tools": []}}
    if message["method"] in empty:
        return {"result": empty[message["method"]]}
    return error_response(NO_METHOD, "This repository is not connected to the control plane.")


def serve_mcp(agent: str, scope: str = "") -> int:
    """Serve until stdin is closed and every request answered. Raise LookupError for an unknown agent."""
    from concurrent.futures import ThreadPoolExecutor

    if agent not in {*CLIENTS, ACP_AGENT} or scope not in {"", USER_SCOPE}:
        raise LookupError(f"there is no agent {agent} {scope}")
    bridge = Bridge(agent, scope)
    try:
        with ThreadPoolExecutor(MAX_CONCURRENT) as pool:
            for line in sys.stdin.buffer:
                if line.strip():
                    pool.submit(bridge.handle_line, line)
    except KeyboardInterrupt:
        pass  # Ctrl-C in the terminal is meant for the client
    return 0
