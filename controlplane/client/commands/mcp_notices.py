"""Tell an MCP client of decisions as they are made, for clients that show or take such notices.

Nothing is polled on the server: the hook leaves a mark when the gate asks a person, and only then is there an
approval to wait for.
"""

from __future__ import annotations

import os
import time

from controlplane.client.commands.wait import await_decision, describe_decision
from controlplane.client.connection import ASK_MARK, ControlPlaneError, find_connection
from controlplane.client.http_request import request_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

LOOK_SECONDS = 2.0  # between two looks at the hook's mark
CHANNEL = "claude/channel"  # by which Claude Code takes messages into a conversation, where it was started so


class DecisionNotices:
    """Waits for the approvals of this agent, and sends a notice for each. `send` writes a notification."""

    def __init__(self, send: Callable[[str, dict[str, Any]], None]) -> None:
        self.send, self.agent, self.is_running = send, "", False
        self.known: set[str] = set()

    def declare(self, capabilities: dict[str, Any], agent: str) -> dict[str, Any]:
        """Return the server's capabilities with those for notices, and begin to look for approvals."""
        import threading

        self.agent = agent
        if not self.is_running:
            self.is_running = True
            self.known.update(approval["id"] for approval in self.list_own())
            threading.Thread(target=self.look, args=(read_mark(),), daemon=True).start()
        channel: dict[str, Any] = {"experimental": {CHANNEL: {}}} if agent == "claude-code" else {}
        return {**capabilities, "logging": {}, **channel}

    def look(self, seen: float) -> None:
        while True:
            time.sleep(LOOK_SECONDS)
            mark = read_mark()
            if mark != seen:
                seen = mark
                self.wait_for_new()

    def list_own(self) -> list[dict[str, Any]]:
        """Return the newest approvals of this agent; none where they cannot be read."""
        try:
            listed = request_json(find_connection({}), "GET", "approvals")["results"]
        except (ControlPlaneError, KeyError, OSError):
            return []  # the next mark leads here again
        return [approval for approval in listed if approval.get("agent") == self.agent]

    def wait_for_new(self) -> None:
        """Wait for each approval that was not there before."""
        import threading

        for approval in self.list_own():
            if approval["id"] not in self.known:
                self.known.add(approval["id"])
                threading.Thread(target=self.tell, args=(approval["id"],), daemon=True).start()

    def tell(self, approval_id: str) -> None:
        try:
            approval = await_decision(find_connection({}), approval_id, "&notice=true")
        except (ControlPlaneError, OSError):
            return  # the next hook tells it
        about = f"Approval {approval_id} of session {approval.get('session_id')}"
        text = f"{about} ({approval.get('tool') or 'request'}): {describe_decision(approval)}"
        self.send("notifications/message", {"level": "notice", "logger": "icp", "data": text})
        if self.agent == "claude-code":
            meta = {"approval": approval_id}
            self.send(f"notifications/{CHANNEL}", {"content": text, "meta": meta})


def read_mark() -> float:
    """Return when the gate last asked a person on behalf of this user's agents; 0 for never."""
    try:
        return os.stat(ASK_MARK).st_mtime
    except OSError:
        return 0.0
