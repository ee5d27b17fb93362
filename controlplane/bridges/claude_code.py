"""Asks the control plane before every tool of Claude Code (a PreToolUse hook of type command).

ICP_URL and ICP_TOKEN say where and as whom. Whatever goes wrong here, the tool does not run: the denial is
printed as JSON, the reason goes to stderr, and the exit status is 2.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.request
from typing import Any

WAIT_SECONDS = 50  # the gate holds a call that long for a human; the hook's own timeout is longer


def ask(event: dict[str, Any]) -> dict[str, Any]:
    call = {
        "session_id": event["session_id"],
        "tool": event["tool_name"],
        "input": event["tool_input"],
        "tool_use_id": event.get("tool_use_id"),
        "cwd": event.get("cwd"),
        "root": os.environ.get("CLAUDE_PROJECT_DIR"),
        "agent": {"name": "claude-code"},
        "wait_seconds": WAIT_SECONDS,
    }
    request = urllib.request.Request(  # noqa: S310  the address is yours
        os.environ["ICP_URL"].rstrip("/") + "/api/v1/gate",
        data=json.dumps(call).encode(),
        headers={"Authorization": "Bearer " + os.environ["ICP_TOKEN"], "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=WAIT_SECONDS + 10) as response:  # noqa: S310  as above
        answer: dict[str, Any] = json.load(response)
    return answer


def main() -> int:
    try:
        answer = ask(json.load(sys.stdin))
        if answer["decision"] == "allow":
            sys.stdout.write("{}\n")  # no objection; Claude Code's own permissions still count
            return 0
        reason = answer.get("error") or "The gate did not allow this."
        if answer.get("approval"):
            reason += " A human was asked: " + answer["approval"]["url"] + " Send the same call again later."
    except Exception as error:  # noqa: BLE001  whatever it is, the tool must not run
        reason = f"The gate could not be asked ({error}), so the tool must not run."
    decision = {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": reason,
    }
    sys.stdout.write(json.dumps({"hookSpecificOutput": decision}) + "\n")
    sys.stderr.write(reason + "\n")
    return 2


if __name__ == "__main__":
    sys.exit(main())
