"""What the proxy asks the control plane. Whatever goes wrong before a tool is a denial."""

from __future__ import annotations

import contextlib
import os

from controlplane.client.call_context import (
    VERSION,
    compute_hashes,
    hash_file,
    resolve_links,
)
from controlplane.client.commands.wait import await_decision
from controlplane.client.connection import ControlPlaneError, find_connection
from controlplane.client.http_request import ResponseStatusError, request_json
from controlplane.client.repository import read_revision

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

GATE_FAILED = "The gate was not asked ({}), so the tool must not run. Next: tell the user."


class Verdict:
    """The gate's answer to one call. `approval` is the id that an `ask` waits for."""

    def __init__(self, decision: str, text: str = "", approval: str = "", targets: Any = ()) -> None:
        self.decision, self.text, self.approval, self.targets = decision, text, approval, list(targets)


class GateClient:
    """One session of an agent, as the control plane knows it. Raise NotConnectedError where it does not."""

    def __init__(self, session_id: str, directory: str, agent: str, version: str) -> None:
        self.session_id = session_id
        self.connection = find_connection({"cwd": directory})
        self.root, self.directory = str(self.connection["root"]), directory
        self.agent = {"name": agent, "version": version, "hook": VERSION}

    def check(self, tool: str, tool_input: dict[str, Any], call_id: str) -> Verdict:
        """Ask the gate. Every failure is a denial."""
        payload = {"tool_input": tool_input, "cwd": self.directory}
        body = {
            "session_id": self.session_id,
            "tool": tool,
            "input": tool_input,
            "tool_use_id": call_id,
            "agent": self.agent,
            "root": self.root,
            "repository": self.connection["repository"],
            "cwd": self.directory,
            "revision_id": read_revision(self.root),
            "current_content_hashes": compute_hashes(payload, self.root),
            "links": resolve_links(payload, self.root),
        }
        try:
            answer = request_json(self.connection, "POST", "gate", body)
        except (ControlPlaneError, OSError, ValueError, TypeError) as problem:
            return Verdict("deny", GATE_FAILED.format(problem))
        decision, approval = answer.get("decision"), answer.get("approval") or {}
        if decision not in {"allow", "deny", "ask"}:
            return Verdict("deny", GATE_FAILED.format("its answer is none"))
        text = str(answer.get("error") or "")
        if approval and decision == "ask":
            text += f" A person must approve it: {approval['url']}"
        return Verdict(str(decision), text, str(approval.get("id", "")), answer.get("targets") or ())

    def open(self) -> None:
        """Open the session, so that its MCP server and its prompt find it."""
        opening = {"session_id": self.session_id, "agent": self.agent, "root": self.root}
        request_json(self.connection, "POST", "sessions", opening)

    def read_prompt(self) -> str:
        """Return the mandate, or the work of the intent that is selected; "" where it cannot be had."""
        try:
            opening = {"session_id": self.session_id, "agent": self.agent, "root": self.root}
            return str(request_json(self.connection, "POST", "sessions", opening)["prompt"])
        except (ControlPlaneError, KeyError):
            return ""

    def await_decision(self, approval_id: str) -> dict[str, Any]:
        return await_decision(self.connection, approval_id)

    def decide(self, approval_id: str, action: str, token: str) -> str:
        """Decide with a reviewer's own token. Return why that was not possible, "" if it was."""
        grant = {"grant": "once"} if action == "approve" else {}
        body = {"action": action, "comment": "Decided in the editor.", **grant}
        try:
            request_json({**self.connection, "token": token}, "POST", f"approvals/{approval_id}/decide", body)
        except ResponseStatusError as problem:
            return "" if problem.status == 409 else str(problem)  # 409: somebody was first
        except ControlPlaneError as problem:
            return str(problem)
        return ""

    def record(self, path: str, call_id: str) -> None:
        """Report a file that a call has changed; a failure changes nothing for the agent."""
        full = os.path.realpath(os.path.join(self.root, path))
        top = os.path.realpath(self.root)
        if not full.startswith(top + os.sep) or os.path.isdir(full):
            return
        digest = hash_file(full)
        if digest == "":
            return
        body = {
            "path": os.path.relpath(full, top),
            "content_hash": digest or "DELETED",
            "tool_use_id": call_id,
        }
        with contextlib.suppress(ControlPlaneError):  # the change is made; reconciliation finds it
            request_json(self.connection, "POST", f"sessions/{quote_id(self.session_id)}/traces", body)

    def end(self) -> None:
        with contextlib.suppress(ControlPlaneError):  # the control plane ends a silent session itself
            request_json(self.connection, "POST", f"sessions/{quote_id(self.session_id)}/end", {})


def quote_id(session_id: str) -> str:
    from urllib.parse import quote

    return quote(session_id, safe="")
